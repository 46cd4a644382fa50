import FlowBase
import FlowTesting
import FlowTransfer
import Testing

struct `Proxies of the environment` {
  private func engine(_ variables: [String: String]) -> TransferEngine {
    TransferEngine(loops: 1, environment: { variables[$0] }) { _ in
      .addresses([NetworkAddress(parsing: "127.0.0.1")].compactMap { $0 })
    }
  }

  @Test(arguments: [
    ("", true), ("*", false), ("gallery.test", false), (".test", false), ("test", false), ("other.test", true),
    ("allery.test", true), ("a.test, gallery.test", false), ("gallery.test:1", true), ("GALLERY.TEST", false),
    ("127.0.0.0/8", true),
  ])
  func `are used but for the names of NO_PROXY`(exceptions: String, isProxied: Bool) async throws {
    let proxy = try LoopbackServer { _ in .ok("proxy") }
    let server = try LoopbackServer { _ in .ok("server") }
    let engine = engine(["http_proxy": proxy.url, "no_proxy": exceptions])
    let sink = MemorySink()
    _ = try await engine.perform(request("http://gallery.test:\(server.port)/x"), into: sink)
    #expect(String(decoding: sink.bytes, as: UTF8.self) == (isProxied ? "proxy" : "server"))
  }

  @Test func `in capitals do not count for http, and ranges except addresses`() async throws {
    let proxy = try LoopbackServer { _ in .ok("proxy") }
    let server = try LoopbackServer { _ in .ok("server") }
    func answer(_ variables: [String: String]) async throws -> String {
      let sink = MemorySink()
      _ = try await engine(variables).perform(request(server.url), into: sink)
      return String(decoding: sink.bytes, as: UTF8.self)
    }
    #expect(try await answer(["HTTP_PROXY": proxy.url]) == "server")
    #expect(try await answer(["ALL_PROXY": proxy.url]) == "proxy")
    #expect(try await answer(["http_proxy": proxy.url, "NO_PROXY": "127.0.0.0/8"]) == "server")
    #expect(try await answer(["http_proxy": proxy.url, "NO_PROXY": "10.0.0.0/8"]) == "proxy")
  }

  @Test func `get their own name and password, and the server never does`() async throws {
    let proxy = try LoopbackServer { _ in .ok("proxy") }
    let engine = engine(["http_proxy": "http://me:pass@127.0.0.1:\(proxy.port)"])
    _ = try await engine.perform(request("http://gallery.test/x"), into: MemorySink())
    let seen = try #require(proxy.requests.first)
    #expect(seen.target == "http://gallery.test/x")
    #expect(seen.header("Proxy-Authorization") == "Basic " + Base64.encode(Array("me:pass".utf8)))
    #expect(seen.header("Authorization") == nil)
  }
}

struct `Bandwidth` {
  @Test func `of a host and of all holds over its transfers together`() async throws {
    let server = try LoopbackServer { _ in .generated(60_000) }
    let engine = TransferEngine(loops: 1, environment: { _ in nil })
    var way = HostWay()
    way.bandwidth = 200_000
    let clock = SystemTime()
    let start = clock.now()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask { [way] in
          let wanted = TransferRequest(
            url: "\(server.url)/\(number)", addresses: AddressPolicy(allowsPrivate: true)
          ) { _, _ in way }
          _ = try? await engine.perform(wanted, into: MemorySink())
        }
      }
    }
    // 240 kB at 200 kB/s; what libcurl reads at once before it slows down is let go.
    #expect(clock.now() - start > .milliseconds(500))
    #expect(server.requests.count == 4)
  }
}
