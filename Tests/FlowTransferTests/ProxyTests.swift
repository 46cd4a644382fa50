import FlowBase
import FlowTesting
import FlowTransfer
import Testing

struct `Proxies` {
  private func outcome(_ url: String, through proxy: String, _ policy: AddressPolicy = AddressPolicy()) async -> Outcome
  {
    var way = HostWay()
    way.proxy = proxy
    return await perform(TransferRequest(url: url, addresses: policy) { [way] _, _ in way })
  }

  @Test func `are asked for the whole address, and may stand inside`() async throws {
    let proxy = try LoopbackServer { _ in .ok("through") }
    let outcome = await outcome("http://far.invalid/x", through: proxy.url)
    #expect(outcome.bytes == Array("through".utf8))
    #expect(proxy.requests.first?.target == "http://far.invalid/x")
  }

  @Test func `do not open a way to addresses that are refused`() async throws {
    let proxy = try LoopbackServer { _ in .ok("through") }
    for url in [
      "http://127.0.0.1:1/", "http://localhost/", "http://10.0.0.1/", "http://169.254.169.254/", "http://[::1]/",
    ] {
      #expect(await outcome(url, through: proxy.url).code == "url.blocked")
    }
    #expect(proxy.requests.isEmpty)
    let allowed = AddressPolicy(literals: ["127.0.0.1:1"])
    #expect(await outcome("http://127.0.0.1:1/", through: proxy.url, allowed).fault == nil)
  }

  @Test func `that refuse a tunnel say so by their status`() async throws {
    let proxy = try LoopbackServer { _ in .status(407) }
    let outcome = await outcome("https://far.invalid/", through: proxy.url)
    #expect(outcome.code == "http.407" && outcome.fault?.kind == .auth)
  }
}

struct `Cookies` {
  @Test func `live in their jar, go to their host alone, and meet no other request`() async throws {
    let place = try TempPlace()
    let server = try LoopbackServer { request in
      request.path == "/set" ? .ok("set").header("Set-Cookie", "a=b; Max-Age=1000") : .ok("x")
    }
    func ask(_ path: String, jar: String?) async -> Outcome {
      await perform(server.url + path) { $0.credentials.cookies = jar }
    }
    let jar = place.file("jar")
    #expect(await ask("/set", jar: jar).fault == nil)
    #expect(await ask("/get", jar: jar).fault == nil)
    #expect(await ask("/none", jar: nil).fault == nil)
    #expect(server.requests(for: "/get").first?.header("Cookie") == "a=b")
    #expect(server.requests(for: "/none").first?.header("Cookie") == nil)
  }
}
