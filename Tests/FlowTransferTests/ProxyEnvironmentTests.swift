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
  /// How long so many files of so many bytes take, all at once, at 200 kB/s for their host.
  private func time(_ files: Int, of bytes: Int) async throws -> Interval {
    let server = try LoopbackServer { _ in .generated(bytes) }
    let engine = TransferEngine(loops: 1, environment: { _ in nil })
    var way = HostWay()
    way.bandwidth = 200_000
    let clock = SystemTime()
    let start = clock.now()
    let arrived = await withTaskGroup(of: Int.self) { group in
      for number in 0..<files {
        group.addTask { [way] in
          let wanted = TransferRequest(
            url: "\(server.url)/\(number)", addresses: AddressPolicy(allowsPrivate: true)
          ) { _, _ in way }
          let sink = MemorySink()
          _ = try? await engine.perform(wanted, into: sink)
          return sink.bytes.count
        }
      }
      return await group.reduce(0, +)
    }
    #expect(arrived == files * bytes)
    return clock.now() - start
  }

  @Test func `of a host holds for long bodies`() async throws {
    // 400 kB take 2 s.
    #expect(try await time(1, of: 400_000) > .milliseconds(1500))
    #expect(try await time(4, of: 100_000) > .milliseconds(1500))
  }

  @Test func `of a host holds for many short bodies`() async throws {
    // 300 kB take 1.5 s; those that begin together are let go.
    // That they end at all is what counts here; the machine may be busy with other tests.
    #expect(try await time(10, of: 10_000) < .seconds(60))
    #expect(try await rounds(30) > .milliseconds(800))
  }

  /// How long so many files of 10 kB take, two at a time.
  private func rounds(_ count: Int) async throws -> Interval {
    let server = try LoopbackServer { _ in .generated(10_000) }
    let engine = TransferEngine(loops: 1, environment: { _ in nil })
    engine.setBandwidth(200_000)
    let clock = SystemTime()
    let start = clock.now()
    for _ in 0..<(count / 2) {
      async let one = engine.perform(request(server.url), into: MemorySink())
      async let two = engine.perform(request(server.url), into: MemorySink())
      _ = try await (one, two)
    }
    return clock.now() - start
  }
}
