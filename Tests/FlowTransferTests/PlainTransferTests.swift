import FlowBase
import FlowTesting
import FlowTransfer
import Testing

struct `Plain transfers` {
  @Test func `the bytes, the status and the headers arrive`() async throws {
    let server = try LoopbackServer { _ in
      .ok("hello", type: "text/plain").header("ETag", "\"v1\"").header("LAST-MODIFIED", "Sat, 21 Nov 2026 00:00:00 GMT")
    }
    let outcome = await perform(server.url + "/a?b=c")
    let result = try #require(outcome.result)
    #expect(outcome.bytes == Array("hello".utf8))
    #expect(result.status == 200)
    #expect(result.bytes == 5 && result.wireBytes == 5 && result.contentLength == 5)
    #expect(result.etag == "\"v1\"" && result.lastModified == "Sat, 21 Nov 2026 00:00:00 GMT")
    #expect(result.contentType == "text/plain")
    #expect(result.finalURL == server.url + "/a?b=c")
    #expect(result.remoteAddress == "127.0.0.1" && result.version == "1.1")
    let seen = try #require(server.requests.first)
    #expect(seen.target == "/a?b=c" && seen.method == "GET")
    #expect(seen.header("Accept-Encoding") == "identity")
    #expect(seen.header("User-Agent") == TransferEngine.userAgent)
  }

  @Test func `a large body arrives whole, in chunks, by length and by the end of the connection`() async throws {
    let server = try LoopbackServer(script: [
      "/length": [.generated(3_000_000)], "/chunked": [.generated(3_000_000).chunked(of: 5000)],
      "/close": [.generated(3_000_000).untilClose()],
    ])
    let expected = LoopbackServer.pattern(3_000_000)
    for path in ["/length", "/chunked", "/close"] {
      let outcome = await perform(server.url + path)
      #expect(outcome.bytes == expected, "\(path): \(outcome.fault?.message ?? "")")
    }
  }

  @Test func `an empty body and a 204 are no failure`() async throws {
    let server = try LoopbackServer(script: ["/empty": [.ok([])], "/204": [.status(204)]])
    #expect(await perform(server.url + "/empty").result?.bytes == 0)
    #expect(await perform(server.url + "/204").result?.status == 204)
  }

  @Test func `HEAD brings no body and POST sends one`() async throws {
    let server = try LoopbackServer { request in .ok(request.body) }
    let head = await perform(server.url) { $0.method = .head }
    #expect(head.result?.status == 200 && head.bytes.isEmpty)
    let post = await perform(server.url) {
      $0.method = .post
      $0.body = Array("payload".utf8)
      $0.headers = [TransferHeader("Content-Type", "application/json")]
    }
    #expect(post.bytes == Array("payload".utf8))
    #expect(server.requests.map(\.method) == ["HEAD", "POST"])
    #expect(server.requests.last?.header("Content-Type") == "application/json")
  }

  @Test func `requests one after another use one connection`() async throws {
    let server = try LoopbackServer { _ in .ok("x") }
    let engine = TransferEngine(loops: 1, environment: { _ in nil })
    for turn in 0..<20 {
      let result = try await engine.perform(request(server.url), into: MemorySink())
      #expect(result.reusedConnection == (turn > 0))
    }
    #expect(server.connectionCount == 1)
  }

  @Test func `two hundred requests at once all arrive`() async throws {
    let server = try LoopbackServer { request in .ok(request.path) }
    let right = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<200 {
        group.addTask { await perform("\(server.url)/\(number)").bytes == Array("/\(number)".utf8) }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(right == 200)
    #expect(server.requests.count == 200)
  }

  @Test func `a body that comes as fast as it is read lets others have their turn`() async throws {
    let long = [UInt8](repeating: 7, count: 24 << 20)
    let server = try LoopbackServer { $0.path == "/long" ? .ok(long) : .ok("short") }
    let engine = TransferEngine(loops: 1, environment: { _ in nil })
    // To hash it takes longer than to send it, so that there is always more.
    let sink = HashingSink()
    async let first = engine.perform(request(server.url + "/long"), into: sink)
    while sink.count == 0 { await Task.yield() }
    _ = try await engine.perform(request(server.url + "/short"), into: MemorySink())
    let before = sink.count
    _ = try await first
    #expect(sink.count == long.count && sink.digest == Digest.sha256(of: long))
    #expect(before < long.count / 2)
  }

  @Test func `a validator that still holds is answered with 304`() async throws {
    let server = try LoopbackServer { request in
      request.header("If-None-Match") == "\"v1\"" ? .status(304).header("ETag", "\"v1\"") : .ok("new")
    }
    let outcome = await perform(server.url) { $0.condition = .init(etag: "\"v1\"") }
    #expect(outcome.result?.status == 304 && outcome.bytes.isEmpty)
    #expect(await perform(server.url).result?.status == 200)
    // Nobody was asked: the validator is of another address.
    let silly = try LoopbackServer { _ in .status(304) }
    let unasked = await perform(silly.url) { $0.condition = .init(etag: "\"v1\"", of: silly.url + "/other") }
    #expect(unasked.code == "http.304")
  }

  @Test func `a sink that fails ends the transfer with its fault`() async throws {
    let server = try LoopbackServer { _ in .generated(1_000_000) }
    let outcome = await perform(request(server.url), sink: MemorySink(failingAfter: 1000))
    #expect(outcome.code == "disk.full")
  }

  @Test func `progress tells bytes that never fall, and the size`() async throws {
    let server = try LoopbackServer { _ in .generated(400).dripping(100, every: .milliseconds(60)) }
    let told = Guarded<[(Int, Int?)]>([])
    _ = try await engine.perform(request(server.url), into: MemorySink()) { bytes, size in
      told.withLock { $0.append((bytes, size)) }
    }
    let seen = told.withLock { $0 }
    #expect(!seen.isEmpty && seen.count <= 4)
    #expect(seen.map(\.0) == seen.map(\.0).sorted() && seen.allSatisfy { $0.1 == 400 })
  }
}
