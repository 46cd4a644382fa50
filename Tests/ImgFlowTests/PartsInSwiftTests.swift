import FlowBase
import FlowTesting
import ImgFlow
import Testing

/// Makes capitals of an item's bytes.
private struct Shout: Stage {
  func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    guard case .file(let file)? = leg.content else { throw Fault("shout.empty", .permanent, "there is nothing") }
    let text = String(decoding: try SmallFiles.read(file.path), as: UTF8.self)
    return StageResult(content: .bytes(Array(text.uppercased().utf8)), fields: ["loudness": 11])
  }
}

/// Remembers the names of what ended.
private final class Ends: Sink {
  private let seen = Guarded<[UInt8]>([])
  private let state = Guarded("")

  var text: String { String(decoding: seen.withLock { $0 }, as: UTF8.self) }
  var isClosed: Bool { state.withLock { $0 } == "closed" }

  func render(_ event: Event, into buffer: inout [UInt8]) {
    guard case .itemEnd(let end) = event.payload else { return }
    buffer += "\(event.subject?.item ?? ""): \(end.status)\n".utf8
  }
  func open() async throws { state.withLock { $0 = "open" } }
  func deliver(_ bytes: [UInt8]) async throws { seen.withLock { $0 += bytes } }
  func close() async throws { state.withLock { $0 = "closed" } }
}

/// Items of its own making.
private struct Numbers: Source {
  var address: String
  var count: Int
  func open(in context: SourceContext) async throws -> any SourceReader {
    ListReader((0..<count).map { SourceItem(url: "\(address)/\($0)", key: "n\($0)", row: ["n": .int($0)]) })
  }
}

@Suite struct PartsInSwiftTests {
  @Test func `A source, a stage and a sink in Swift work like those in the box`() async throws {
    let server = try LoopbackServer { .ok("number \($0.path.dropFirst())") }
    let place = try TempPlace()
    let ends = Ends()
    let plan = try PlanBuilder("parts", folder: place.path, allowsPrivate: true)
      .source(Numbers(address: server.url, count: 3), beside: ["where": "row.n != 1"])
      .stage("fetch")
      .stage(Shout(), sets: [ItemField("loudness", .integer)])
      .stage("store", "${item.key}-${item.loudness}.txt")
      .sink(ends)
      .build()
    #expect(plan.sources.map(\.id) == ["numbers"])
    #expect(plan.stages.map(\.id) == ["fetch", "shout", "store"])
    let outcome = await Runner(plan).run()
    #expect(outcome.exit == .done)
    #expect(try SmallFiles.read(place.file("out/n0-11.txt")) == Array("NUMBER 0".utf8))
    #expect(try SmallFiles.names(in: place.file("out")).sorted() == ["n0-11.txt", "n2-11.txt"])
    #expect(ends.text.split(separator: "\n").sorted() == ["numbers/n0: ok", "numbers/n2: ok"])
    #expect(ends.isClosed)
  }

  @Test func `A plan in code throws everything that is wrong with it`() throws {
    let builder = PlanBuilder("wrong").source("urls", ["http://example.com/a"])
      .stage("fetch", ["max_byts": 5]).stage("stoer", "x")
    let problems = #expect(throws: ManifestProblems.self) { try builder.build() }
    #expect(problems?.diagnostics.map(\.code).sorted() == ["E0103", "E0108"])
    #expect(problems?.description.contains("did you mean `max_bytes`?") == true)
    #expect(problems?.description.contains("did you mean `store`?") == true)
  }

  @Test func `A manifest's text becomes a plan, or throws with the line and the column`() throws {
    let text = """
      imgflow: 1
      sources:
        - http://example.com/a.png
      stages:
        - fetch
        - store: "${item.nam}"
      """
    let problems = #expect(throws: ManifestProblems.self) { try Plan(manifest: text) }
    #expect(problems?.diagnostics.first?.place?.mark == Mark(line: 6, column: 15, length: 8))
    let plan = try Plan(manifest: text.replacing("item.nam}", with: "item.name}"), folder: "/somewhere")
    #expect(plan.settings.outputFolder == "/somewhere/out")
  }
}

@Suite struct FollowingTests {
  /// A run of one item whose answer never comes.
  private func endlessRun(_ place: TempPlace, _ server: LoopbackServer) throws -> Runner {
    let plan = try PlanBuilder("endless", folder: place.path, allowsPrivate: true)
      .source("urls", [.string("\(server.url)/never")]).stage("fetch").stage("store").build()
    return Runner(plan)
  }

  @Test func `A run is cancelled when the loop over its events is left`() async throws {
    let server = try LoopbackServer { _ in .silence }
    let place = try TempPlace()
    let runner = try endlessRun(place, server)
    for await event in runner.start() where event.type == .itemStart { break }
    let outcome = try #require(await runner.outcome)
    #expect(outcome.end.result == .cancelled)
    #expect(outcome.end.items.cancelled == 1)
  }

  @Test func `A run is cancelled with the task that follows it`() async throws {
    let server = try LoopbackServer { _ in .silence }
    let place = try TempPlace()
    let runner = try endlessRun(place, server)
    let (started, hasStarted) = AsyncStream<Void>.makeStream()
    let follower = Task {
      for await event in runner.start() where event.type == .itemStart { hasStarted.yield() }
    }
    for await _ in started { break }
    follower.cancel()
    await follower.value
    #expect(await runner.outcome?.end.result == .cancelled)
  }

  @Test func `A run whose events nobody takes is cancelled`() async throws {
    let server = try LoopbackServer { _ in .silence }
    let place = try TempPlace()
    let runner = try endlessRun(place, server)
    _ = runner.start()
    #expect(await runner.outcome?.end.result == .cancelled)
  }

  @Test func `A run that was not started has no outcome`() async throws {
    let plan = try PlanBuilder("idle").source("urls", []).stage("fetch").build()
    #expect(await Runner(plan).outcome == nil)
  }
}
