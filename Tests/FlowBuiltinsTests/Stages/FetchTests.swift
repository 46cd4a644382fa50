import Dispatch
import FlowBase
import FlowBuiltins
import FlowExpressions
import FlowParts
import FlowTesting
import Testing

/// A run of one stage over one item after another, on a real disk.
struct Bench {
  let services: ScratchServices
  let stage: any Stage

  init(_ part: StagePart, _ change: (inout RunSettings) -> Void = { _ in }) throws {
    services = try ScratchServices(change)
    stage = part.make()
  }

  func run(
    _ item: Item, _ config: [String: Value] = [:], content: Content? = nil,
    progress: @escaping @Sendable (Int, Int?) -> Void = { _, _ in }
  ) async throws -> StageResult {
    let entries = config.map { Config.Entry($0.key, .value($0.value)) }
    let context = StageContext(
      stage: "stage", config: Config(entries), attempt: 1, services: services, progress: progress)
    return try await stage.run(Leg(item: item, content: content), in: context)
  }

  func fault(_ item: Item, _ config: [String: Value] = [:], content: Content? = nil) async -> Fault? {
    do {
      _ = try await run(item, config, content: content)
      return nil
    } catch { return Fault(error) }
  }
}

func item(_ url: String?, _ change: (inout Item) -> Void = { _ in }) -> Item {
  var item = Item(source: "urls", key: "k", index: 1, url: url)
  change(&item)
  return item
}

extension StageResult {
  var heldBytes: [UInt8]? {
    switch content {
    case .file(let file): try? SmallFiles.read(file.path)
    case .bytes(let bytes): bytes
    default: nil
    }
  }
}

private let png: [UInt8] = [0x89] + Array("PNG\r\n\u{1a}\n and so on".utf8)

struct `The stage fetch` {
  @Test func `brings the bytes into a file and tells what they are`() async throws {
    let server = try LoopbackServer { _ in .ok(png, type: "text/plain").header("ETag", "\"1\"") }
    let bench = try Bench(Fetch.part)
    let result = try await bench.run(item(server.url + "/a.png"))
    #expect(result.heldBytes == png)
    #expect(result.fields["media"] == "image/png" && result.fields["status"] == 200)
    #expect(result.fields["bytes"] == .int(png.count) && result.fields["etag"] == "\"1\"")
    #expect(result.fields["sha256"] == .string(Digest.sha256(of: png).hex))
    #expect(result.fields["final_url"] == .string(server.url + "/a.png") && result.fields["last_modified"] == .null)
    #expect(result.bytesIn == png.count && !result.isShared)
  }

  @Test func `asks as its keys, its item and the hosts table say`() async throws {
    let server = try LoopbackServer { _ in .ok("x") }
    let bench = try Bench(Fetch.part) { settings in
      var rule = HostTable.Rule(pattern: "127.0.0.1")
      rule.bearer = "token"
      rule.userAgent = "tester"
      rule.query = [Header("sig", "s&1")]
      settings.hosts = HostTable(rules: [rule])
    }
    _ = try await bench.run(
      item(server.url + "/p?a=1#frag") { $0.headers = [Header("X-One", "item")] },
      [
        "headers": .map(["X-One": "stage", "X-Two": "stage"]), "query": .map(["b": "c d"]), "encoding": "any",
        "referer": "http://r.example/", "accept": ["text/*"],
      ])
    let seen = try #require(server.requests.first)
    #expect(seen.target == "/p?a=1&b=c%20d&sig=s%261")
    #expect(seen.header("X-One") == "item" && seen.header("X-Two") == "stage")
    #expect(seen.header("Authorization") == "Bearer token" && seen.header("User-Agent") == "tester")
    #expect(seen.header("Accept-Encoding") == "gzip, deflate, br, zstd")
    #expect(seen.header("Referer") == "http://r.example/" && seen.header("Accept") == "text/*, */*;q=0.1")
  }

  @Test func `refuses what is not what was asked for, and leaves nothing behind`() async throws {
    let server = try LoopbackServer(script: [
      "/page": [.ok("<!doctype html><p>Not found", type: "image/jpeg")], "/png": [.ok(png)], "/404": [.status(404)],
    ])
    let bench = try Bench(Fetch.part)
    let page = await bench.fault(item(server.url + "/page"), ["accept": ["image/*"]])
    #expect(page?.code == "media.unexpected" && page?.kind == .permanent)
    #expect(await bench.fault(item(server.url + "/png"), ["accept": ["image/jpeg", "image/png"]]) == nil)
    #expect(await bench.fault(item(server.url + "/png"), ["min_bytes": 1000])?.code == "body.too_small")
    #expect(await bench.fault(item(server.url + "/png"), ["max_bytes": 5])?.code == "body.too_large")
    #expect(await bench.fault(item(server.url + "/404"))?.code == "http.404")
    #expect(await bench.fault(item(nil))?.code == "item.no_url")
    #expect(bench.services.temporaryNames.isEmpty)
  }

  @Test func `holds the bytes against what the item expects`() async throws {
    let server = try LoopbackServer { _ in .ok(png) }
    let bench = try Bench(Fetch.part)
    let sha512 = { () -> Digest in
      let stream = DigestStream(.sha512)
      stream.update(png)
      return stream.finish()
    }()
    let other = Digest.sha256(of: "other")
    func code(_ expected: FlowParts.Expectation) async -> String? {
      await bench.fault(item(server.url) { $0.expected = expected })?.code
    }
    #expect(await code(FlowParts.Expectation(sha256: Digest.sha256(of: png), sha512: sha512, size: png.count)) == nil)
    #expect(await code(FlowParts.Expectation(sha256: other)) == "verify.digest")
    #expect(
      await code(FlowParts.Expectation(sha512: Digest(.sha512, bytes: Array(repeating: 0, count: 64))))
        == "verify.digest")
    #expect(await code(FlowParts.Expectation(size: 1)) == "verify.size")
  }

  @Test func `tries mirrors in turn, after a wrong digest too`() async throws {
    let server = try LoopbackServer(script: [
      "/gone": [.status(404)], "/wrong": [.ok("other")], "/right": [.ok(png)], "/busy": [.status(503)],
    ])
    let bench = try Bench(Fetch.part)
    let wanted = item(server.url + "/gone") {
      $0.expected.sha256 = Digest.sha256(of: png)
      $0.mirrors = [server.url + "/wrong"]
    }
    let result = try await bench.run(wanted, ["mirrors": .list([.string(server.url + "/right")])])
    #expect(result.heldBytes == png && result.fields["final_url"] == .string(server.url + "/right"))
    #expect(server.requests.map(\.path) == ["/gone", "/wrong", "/right"])
    // What may pass is what the item fails with, so that it is tried again.
    let fault = await bench.fault(wanted, ["mirrors": .list([.string(server.url + "/busy")])])
    #expect(fault?.code == "http.503")
  }

  @Test func `names the host that it will ask`() {
    let stage = Fetch.part.make()
    func host(_ url: String?) -> String? { stage.host(of: Leg(item: item(url)), config: Config()) }
    #expect(host("https://User:x@Example.COM/a?b") == "example.com:443")
    #expect(host("http://example.com:8080/") == "example.com:8080")
    #expect(host("http://[::1]/") == "[::1]:80")
    #expect(host(nil) == nil && host("nonsense") == nil)
  }
}

struct `Equal requests` {
  @Test func `are one transfer while it is under way`() async throws {
    let gate = Guarded(false)
    let server = try LoopbackServer { request in
      if request.path == "/open" {
        gate.withLock { $0 = true }
        return .ok("")
      }
      return .ok(png).delayed(by: .milliseconds(150))
    }
    let bench = try Bench(Fetch.part)
    let results = try await withThrowingTaskGroup(of: StageResult.self) { group in
      for _ in 0..<20 { group.addTask { try await bench.run(item(server.url + "/same")) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(server.requests.count == 1)
    #expect(results.filter(\.isShared).count == 19)
    #expect(results.allSatisfy { $0.heldBytes == png })
    #expect(results.reduce(0) { $0 + $1.bytesIn } == png.count)
  }

  @Test func `use the file again while somebody holds it, and no longer`() async throws {
    let server = try LoopbackServer { _ in .ok(png) }
    let bench = try Bench(Fetch.part)
    do {
      let first = try await bench.run(item(server.url))
      let second = try await bench.run(item(server.url))
      #expect(!first.isShared && second.isShared && second.fields["path"] == first.fields["path"])
      #expect(try await !bench.run(item(server.url), ["headers": .map(["X-Other": "1"])]).isShared)
    }
    // The last task lets go of the file when it ends, which is a moment after its answer.
    for _ in 0..<10_000 where !bench.services.temporaryNames.isEmpty { await Task.yield() }
    #expect(bench.services.temporaryNames.isEmpty)
    #expect(try await !bench.run(item(server.url)).isShared)
    #expect(server.requests.count == 3)
  }

  @Test func `go on while one waits, and end with the last`() async throws {
    let mayAnswer = DispatchSemaphore(value: 0)
    let server = try LoopbackServer { request in
      guard request.path == "/slow" else { return .silence }
      _ = mayAnswer.wait(timeout: .now() + 60)
      return .ok(png)
    }
    let bench = try Bench(Fetch.part)
    let leader = Task { await bench.fault(item(server.url + "/slow")) }
    while server.requests.isEmpty { await Task.yield() }
    let follower = Task { try await bench.run(item(server.url + "/slow")) }
    // The follower is under way before the leader leaves: its host is asked once all the same.
    for _ in 0..<100 { await Task.yield() }
    leader.cancel()
    #expect(await leader.value?.kind == .cancelled)
    // Twice: a follower that came too late asks for itself.
    mayAnswer.signal()
    mayAnswer.signal()
    #expect(try await follower.value.heldBytes == png)

    let lonely = Task { await bench.fault(item(server.url + "/silent")) }
    while server.requests(for: "/silent").isEmpty { await Task.yield() }
    lonely.cancel()
    #expect(await lonely.value?.kind == .cancelled)
  }

  @Test func `share a failure too`() async throws {
    let server = try LoopbackServer { _ in .status(500).delayed(by: .milliseconds(150)) }
    let bench = try Bench(Fetch.part)
    let codes = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<5 { group.addTask { await bench.fault(item(server.url))?.code } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes == Array(repeating: "http.500", count: 5) && server.requests.count == 1)
    _ = await bench.fault(item(server.url))
    #expect(server.requests.count == 2)
  }
}

struct `The stage verify` {
  @Test func `passes what is right and names what is wrong`() async throws {
    let bench = try Bench(Verify.part)
    let content = Content.bytes(png)
    func code(_ config: [String: Value]) async -> String? {
      await bench.fault(item(nil), config, content: content)?.code
    }
    let digest = Digest.sha256(of: png)
    #expect(await code(["size": .int(png.count), "sha256": .string(digest.hex), "media": ["image/*"]]) == nil)
    #expect(await code(["sha256": .string(digest.integrity)]) == nil)
    #expect(await code(["size": 1]) == "verify.size")
    #expect(await code(["sha256": .string(Digest.sha256(of: "x").hex)]) == "verify.digest")
    #expect(await code(["sha512": "abc"]) == "verify.expectation")
    #expect(await code(["media": ["text/*", "image/jpeg"]]) == "media.unexpected")
    #expect(await bench.fault(item(nil), ["size": 1])?.code == "verify.nothing")
  }

  @Test func `without keys holds the bytes against the item's own expectations`() async throws {
    let bench = try Bench(Verify.part)
    let wanted = item(nil) { $0.expected.size = 3 }
    #expect(await bench.fault(wanted, content: .bytes([1, 2, 3])) == nil)
    #expect(await bench.fault(wanted, content: .bytes([1, 2]))?.code == "verify.size")
    #expect(await bench.fault(item(nil), content: .bytes([1, 2]))?.code == "verify.nothing")
  }

  @Test func `reads files for what is not known of them`() async throws {
    let bench = try Bench(Verify.part)
    let partial = try bench.services.makePartial()
    let place = try TempPlace()
    try SmallFiles.create(place.file("x"), png)
    let file = HeldFile(path: place.file("x"), bytes: png.count, sha256: Digest.sha256(of: png), isTemporary: false) {
      _ in
    }
    partial.abandon()
    let stream = DigestStream(.sha512)
    stream.update(png)
    let sha512 = stream.finish()
    #expect(
      await bench.fault(
        item(nil), ["sha512": .string(sha512.hex), "media": ["image/png"]], content: .file(file)) == nil)
    #expect(
      await bench.fault(item(nil), ["media": ["image/gif"]], content: .file(file))?.code == "media.unexpected")
  }
}
