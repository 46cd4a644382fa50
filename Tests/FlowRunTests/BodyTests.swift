import FlowBase
import FlowBuiltins
import FlowEvents
import FlowParts
import FlowRun
import FlowTesting
import Testing

/// Works on bytes: tells where it found them and what they are, and fails those that begin with an x.
private struct Peek: Stage {
  static let part = StagePart(
    PartSpec(name: "peek", role: .stage, summary: "Looks.", fields: [], input: .bytes, example: "")
  ) { Peek() }

  func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    guard case .file(let file)? = leg.content else { throw Fault("content.missing", .permanent, "no file") }
    let place = file.memory == nil ? "file" : "memory"
    let bytes = try file.memory ?? SmallFiles.read(file.path)
    guard bytes.first != UInt8(ascii: "x") else { throw Fault("peek.wrong", .permanent, "an x") }
    guard Digest.sha256(of: bytes) == file.sha256, bytes.count == file.bytes else {
      throw Fault("peek.digest", .permanent, "other bytes than the digest says")
    }
    return StageResult(content: .bytes(Array("\(place) \(bytes.count)".utf8)), fields: ["media": "text/plain"])
  }
}

/// Works on a file.
private struct Reopen: Stage {
  static let part = StagePart(
    PartSpec(name: "reopen", role: .stage, summary: "Reads.", fields: [], example: "")
  ) { Reopen() }

  func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    guard case .file(let file)? = leg.content else { throw Fault("content.missing", .permanent, "no file") }
    return StageResult(content: .bytes(try SmallFiles.read(try file.path)), fields: ["media": "text/plain"])
  }
}

/// Bodies that go from the network to the stage that works on their bytes.
@Suite struct BodyTests {
  private static func scene(_ answer: @escaping LoopbackServer.Handler) throws -> Scene {
    var catalog = Catalog.builtins
    catalog.add(Peek.part)
    catalog.add(Reopen.part)
    return try Scene(catalog: catalog, answer)
  }

  /// Whether no temporary file is left: a thread that had one in its hands may let go of it a moment after the run.
  private static func comesToHoldNone(_ scene: Scene) async -> Bool {
    let clock = SystemTime()
    let end = clock.now() + .seconds(30)
    while !scene.temporaryNames.isEmpty {
      if clock.now() > end { return false }
      await Task.yield()
    }
    return true
  }

  @Test func `A body that only a stage for bytes wants is in no file, and its fields are those of any other`()
    async throws
  {
    let scene = try BodyTests.scene { .ok("text \($0.path)") }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(20)) }]
      stages:
        - fetch: { accept: text/plain, min_bytes: 3 }
        - filter: item.bytes > 5 and item.media == 'text/plain'
        - verify: { size: 7, media: text/plain }
          if: item.key == 'k7'
        - peek
        - store: "${item.key}-${item.sha256}"
      """)
    #expect(trial.exit == .done, "\(trial.log) \(trial.outcome.end.errors)")
    let digest = Digest.sha256(of: Array("text /7".utf8)).hex
    #expect(scene.output("k7-\(digest)") == "memory 7")
    #expect(scene.outputs.count == 20)
    #expect(await BodyTests.comesToHoldNone(scene))
  }

  @Test(arguments: [
    "{ id: raw, store: \"raw-${item.key}\", needs: fetch }", "{ reopen: {}, needs: fetch }",
    "{ id: s, set: { where: \"${item.path}\" }, needs: fetch }", "{ report: all.csv, needs: fetch }",
    "{ id: late, store: \"late-${item.key}\", needs: peek, after: peek }",
  ])
  func `Where anything else may want a file, there is one`(beside: String) async throws {
    let scene = try BodyTests.scene { .ok("text \($0.path)") }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(3)) }]
      stages: [fetch, peek, { store: "${item.key}" }, \(beside)]
      """)
    #expect(trial.exit == .done, "\(trial.outcome.end.errors)")
    #expect(scene.output("k2") == "file 7")
  }

  @Test func `A stage that may be passed by hands the body on, so that there is a file`() async throws {
    let scene = try BodyTests.scene { .ok("text \($0.path)") }
    try await scene.run(
      """
      sources: [{ urls: \(String.addresses(2)) }]
      stages: [fetch, { peek: {}, if: item.key == 'k1' }, { store: "${item.key}" }]
      """)
    #expect(scene.output("k1") == "file 7" && scene.output("k2") == "text /2")
  }

  @Test func `A body that is larger than its room goes on in a file, and is the same`() async throws {
    let scene = try BodyTests.scene { .ok(LoopbackServer.pattern($0.path == "/1" ? 30_000 : 300_000)) }
    let manifest = """
      sources: [{ urls: \(String.addresses(2)) }]
      stages: [fetch, peek, { store: "${item.key}" }]
      """
    try await scene.run("limits: { memory: 1MB }\n" + manifest)
    #expect(scene.output("k1") == "memory 30000" && scene.output("k2") == "file 300000")
    try await scene.run("limits: { memory: 1kB }\n" + manifest, options: { $0.fresh = true })
    #expect(scene.output("k1") == "file 30000" && scene.output("k2") == "file 300000")
    #expect(await BodyTests.comesToHoldNone(scene))
  }

  @Test func `Many bodies at once share the room, and none is lost`() async throws {
    let scene = try BodyTests.scene { .ok(LoopbackServer.pattern(40_000 + ($0.path.utf8.count))) }
    let trial = try await scene.run(
      """
      limits: { memory: 400kB, connections: 16 }
      hosts: { "127.0.0.1": { connections: 16 } }
      sources: [{ urls: \(String.addresses(120)) }]
      stages: [fetch, { peek: {}, concurrency: 1 }, { store: "${item.key}" }]
      """)
    #expect(trial.exit == .done && trial.items.ok == 120)
    #expect(scene.outputs.count == 120)
    #expect(await BodyTests.comesToHoldNone(scene))
  }

  @Test func `A try that broke off is gone on with, out of memory`() async throws {
    let bytes = LoopbackServer.pattern(60_000)
    let scene = try BodyTests.scene { request in
      let whole = LoopbackServer.Response.ok(bytes).header("ETag", "\"1\"")
      if request.attempt == 1 { return whole.ending(.close, after: 40_000) }
      guard let range = request.header("Range"), let start = Int(range.dropFirst(6).dropLast()) else { return whole }
      return LoopbackServer.Response(status: 206, body: .bytes(Array(bytes[start...]))).header("ETag", "\"1\"")
        .header("Content-Range", "bytes \(start)-\(bytes.count - 1)/\(bytes.count)")
    }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(1)) }]
      stages: [{ fetch: {}, retry: { backoff: 1ms..2ms } }, peek, { store: "${item.key}" }]
      """)
    #expect(trial.exit == .done)
    #expect(scene.output("k1") == "memory 60000")
    #expect(scene.server.requests.last?.header("Range") != nil)
  }

  @Test func `What a later run can go on with is left to it`() async throws {
    let bytes = LoopbackServer.pattern(3_000_000)
    let scene = try BodyTests.scene { request in
      let whole = LoopbackServer.Response.ok(bytes).header("ETag", "\"1\"")
      if request.attempt == 1 { return whole.ending(.close, after: 2_000_000) }
      guard let range = request.header("Range"), let start = Int(range.dropFirst(6).dropLast()) else { return whole }
      return LoopbackServer.Response(status: 206, body: .bytes(Array(bytes[start...]))).header("ETag", "\"1\"")
        .header("Content-Range", "bytes \(start)-\(bytes.count - 1)/\(bytes.count)")
    }
    let manifest = """
      limits: { memory: 64MB }
      sources: [{ urls: \(String.addresses(1)) }]
      stages: [{ fetch: {}, retry: { attempts: 1 } }, peek, { store: "${item.key}" }]
      """
    #expect(try await scene.run(manifest).exit == .tryAgain)
    #expect(scene.temporaryNames.count == 2)
    let second = try await scene.run(manifest)
    #expect(second.exit == .done && second.outcome.end.bytesIn < 3_000_000)
    #expect(scene.output("k1")?.hasSuffix(" 3000000") == true)
    #expect(await BodyTests.comesToHoldNone(scene))
  }

  @Test func `An item that fails behind its transfer is not fetched again by the next run`() async throws {
    let scene = try BodyTests.scene { .ok($0.path == "/2" ? "x marks it" : "text \($0.path)") }
    let manifest = """
      sources: [{ urls: \(String.addresses(3)) }]
      stages: [fetch, peek, { store: "${item.key}" }]
      """
    let first = try await scene.run(manifest)
    #expect(first.items.failed == 1 && first.end("k2")?.error?.fault.code == "peek.wrong")
    let second = try await scene.run(manifest)
    #expect(second.items.failed == 1 && second.items.cached == 2)
    #expect(scene.asked == ["/1", "/2", "/3"])
    // Whoever wants the place of what was kept in memory first gets the one where it lies now.
    let third = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(3)) }]
      stages: [fetch, { set: { place: "${item.path}" } }, reopen, { store: "${item.key}" }]
      """)
    #expect(third.exit == .done && scene.output("k2") == "x marks it")
  }

  @Test func `Equal requests share a body in memory, and whoever needs a file has one`() async throws {
    let scene = try BodyTests.scene { _ in .ok("the same") }
    let trial = try await scene.run(
      """
      sources: [{ urls: [{ url: "$URL/a", key: k1 }, { url: "$URL/a", key: k2 }] }]
      stages:
        - fetch
        - peek
        - store: "${item.key}"
        - { id: again, fetch: {}, needs: store }
        - reopen
        - { id: second, store: "again-${item.key}" }
      """)
    #expect(trial.exit == .done, "\(trial.outcome.end.errors)")
    #expect(scene.output("k1") == "memory 8" && scene.output("again-k2") == "the same")
  }
}
