import FlowBase
import FlowTesting
import FlowTransfer
import Testing

struct `Cookies in a jar` {
  private func ask(_ url: String, jar: String?) async -> Outcome {
    await perform(url) { $0.credentials.cookies = jar }
  }

  @Test func `go to the paths they are for, expire, and survive in the file`() async throws {
    let place = try TempPlace()
    let jar = place.file("jar")
    let server = try LoopbackServer { request in
      guard request.path == "/a/set" else { return .ok("x") }
      return .ok("set").header("Set-Cookie", "deep=1; Max-Age=1000").header(
        "Set-Cookie", "wide=2; Path=/; Max-Age=1000"
      )
      .header("Set-Cookie", "gone=3; Path=/; Max-Age=0").header("Set-Cookie", "safe=4; Path=/; Secure")
      .header("Set-Cookie", "foreign=5; Path=/; Domain=other.test")
      .header("Set-Cookie", "past=6; Path=/; Expires=Sat, 21 Nov 2020 00:00:00 GMT")
    }
    for path in ["/a/set", "/a/get", "/b/get"] { #expect(await ask(server.url + path, jar: jar).fault == nil) }
    #expect(server.requests(for: "/a/get").first?.header("Cookie") == "deep=1; wide=2")
    #expect(server.requests(for: "/b/get").first?.header("Cookie") == "wide=2")
    let text = String(decoding: try SmallFiles.read(jar), as: UTF8.self)
    #expect(text.contains("127.0.0.1\tFALSE\t/a\tFALSE\t") && text.contains("wide\t2"))
    for absent in ["gone", "safe", "foreign", "past"] { #expect(!text.contains(absent)) }
    #expect(place.names == ["jar"])
    // Another engine, as another run would be, reads what is written there.
    let other = TransferEngine(loops: 1, environment: { _ in nil })
    _ = try await other.perform(request(server.url + "/b/again") { $0.credentials.cookies = jar }, into: MemorySink())
    #expect(server.requests(for: "/b/again").first?.header("Cookie") == "wide=2")
  }

  @Test func `that a redirect sets go with the next request`() async throws {
    let place = try TempPlace()
    let server = try LoopbackServer { request in
      request.header("Cookie") == nil
        ? .redirect(to: request.target).header("Set-Cookie", "seen=1; Path=/") : .ok("welcome")
    }
    #expect(await ask(server.url + "/door", jar: place.file("jar")).bytes == Array("welcome".utf8))
    #expect(server.requests.count == 2)
  }

  @Test func `of many transfers at once are all kept`() async throws {
    let place = try TempPlace()
    let server = try LoopbackServer { request in
      .ok("x").header("Set-Cookie", "c\(request.path.dropFirst())=1; Path=/; Max-Age=1000")
    }
    let jar = place.file("jar")
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<40 { group.addTask { _ = await ask("\(server.url)/\(number)", jar: jar) } }
    }
    let lines = String(decoding: try SmallFiles.read(jar), as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 41)
  }
}

struct `Logins of a netrc file` {
  private func engine(_ text: String, _ place: TempPlace) throws -> TransferEngine {
    try SmallFiles.create(place.file("netrc"), Array(text.utf8), mode: 0o600)
    return TransferEngine(loops: 1, environment: { _ in nil }, netrc: place.file("netrc")) { _ in
      .addresses([NetworkAddress(parsing: "127.0.0.1")].compactMap { $0 })
    }
  }

  @Test func `go to their machine, unless something else says who asks`() async throws {
    let place = try TempPlace()
    let server = try LoopbackServer { _ in .ok("") }
    let engine = try engine(
      """
      # a remark
      machine one.test login me password "a b\\"c"
      machine two.test
        login you
        password secret
      macdef init
        machine three.test login no password no

      """, place)
    func authorization(_ host: String, _ change: (inout TransferRequest) -> Void = { _ in }) async throws -> String? {
      _ = try await engine.perform(
        request("http://\(host):\(server.port)/") {
          $0.credentials.netrc = true
          change(&$0)
        }, into: MemorySink())
      return server.requests.last?.header("Authorization")
    }
    func basic(_ pair: String) -> String { "Basic " + Base64.encode(Array(pair.utf8)) }
    #expect(try await authorization("one.test") == basic("me:a b\"c"))
    #expect(try await authorization("two.test") == basic("you:secret"))
    #expect(try await authorization("three.test") == nil)
    #expect(try await authorization("two.test") { $0.credentials.netrc = false } == nil)
    #expect(try await authorization("two.test") { $0.credentials.bearer = "t" } == "Bearer t")
    #expect(try await authorization("x:y@two.test") == basic("x:y"))
  }

  @Test func `of the default entry go to all others`() async throws {
    let place = try TempPlace()
    let server = try LoopbackServer { _ in .ok("") }
    let engine = try engine("machine one.test login a password b default login any password one", place)
    _ = try await engine.perform(
      request("http://other.test:\(server.port)/") { $0.credentials.netrc = true }, into: MemorySink())
    #expect(server.requests.last?.header("Authorization") == "Basic " + Base64.encode(Array("any:one".utf8)))
  }
}
