import FlowBase
import FlowBuiltins
import FlowEvents
import FlowParts
import FlowPlan
import FlowRun
import FlowTesting
import Testing

/// A sink that cannot deliver, or that takes nothing until it is allowed to.
private struct PoorSink: Sink {
  enum Weakness: Sendable { case opening, delivering, hanging(Latch) }
  let weakness: Weakness

  func render(_ event: Event, into buffer: inout [UInt8]) { NDJSON.append(event, to: &buffer) }
  func open() async throws {
    if case .opening = weakness { throw Fault("sink.closed", .permanent, "cannot be opened") }
  }
  func deliver(_ bytes: [UInt8]) async throws {
    switch weakness {
    case .opening: break
    case .delivering: throw Fault("sink.full", .permanent, "takes nothing")
    case .hanging(let latch): latch.wait()
    }
  }
  func close() async throws {}
  var patience: Interval? { .milliseconds(50) }
}

/// Sinks that fail or hang, what is refused before a run begins, and what must never be told.
@Suite struct SinkTests {
  private func scene(_ weakness: PoorSink.Weakness) throws -> Scene {
    var catalog = Catalog.builtins
    let spec = PartSpec(name: "poor", role: .sink, summary: "Fails.", fields: [], example: "")
    catalog.add(SinkPart(spec) { _, _ throws(Fault) in PoorSink(weakness: weakness) })
    return try Scene(catalog: catalog)
  }

  private func manifest(required: Bool) -> String {
    """
    sources: [{ urls: \(String.addresses(3)) }]
    stages: [fetch, { store: "${item.key}" }]
    sinks: [{ poor: {}, required: \(required) }]
    """
  }

  @Test(arguments: [true, false]) func `A sink that fails harms the run only where it is required`(
    isRequired: Bool
  ) async throws {
    for weakness in [PoorSink.Weakness.opening, .delivering] {
      let scene = try scene(weakness)
      let trial = try await scene.run(manifest(required: isRequired))
      #expect(trial.exit == (isRequired ? .sinkFailed : .done))
      #expect(trial.items.ok == 3)
      #expect(scene.outputs.count == 3)
      #expect(trial.count(.sinkError) <= 1)
    }
  }

  @Test func `A sink that hangs holds nothing up`() async throws {
    let latch = Latch()
    let scene = try scene(.hanging(latch))
    let trial = try await scene.run(manifest(required: false))
    latch.open()
    #expect(trial.exit == .done)
    #expect(trial.items.ok == 3)
    #expect(trial.outcome.elapsed < .seconds(25))
  }

  @Test func `A state that another run holds refuses the second at once`() async throws {
    let release = Latch()
    let scene = try Scene { _ in
      release.wait()
      return .ok("x")
    }
    let text = "sources: [{ urls: \(String.addresses(1)) }]\nstages: [fetch]"
    let plan = try scene.plan(text)
    let first = try await scene.run(
      plan,
      follow: { _, event in
        guard event.type == .itemStart else { return }
        let second = await Runner(plan).run()
        #expect(second.exit == .held)
        #expect(second.fault?.code == "state.locked")
        release.open()
      })
    #expect(first.exit == .done)
  }

  @Test func `An output folder that cannot be written to is told before the first request`() async throws {
    let scene = try Scene()
    // A file stands where the folder should be, which stops root as well.
    try SmallFiles.create(scene.place.file("out"), [])
    let trial = try await scene.run("sources: [{ urls: \(String.addresses(2)) }]\nstages: [fetch, store]")
    #expect(trial.exit == .disk)
    #expect(trial.outcome.end.result == .error)
    #expect(scene.server.requests.isEmpty)
  }

  @Test func `A refused manifest ends its stream as every stream ends`() async throws {
    let lines = Guarded<[UInt8]>([])
    let listener = Listener(
      name: "lines", render: { NDJSON.append($0, to: &$1) }, deliver: { bytes in lines.withLock { $0 += bytes } })
    await RunRefusal.tell(
      [Diagnostic("E0103", "unknown key", at: nil), Diagnostic("E0103", "another", at: nil)], manifest: "a.yaml",
      tool: "1", to: [listener])
    let types = String(decoding: lines.withLock { $0 }, as: UTF8.self).split(separator: "\n").map { line in
      (try? JSONReader.read(Array(line.utf8)))?.asMap?["type"]?.asString ?? ""
    }
    #expect(types == ["stream.start", "diagnostic", "diagnostic", "run.end"])
  }

  @Test func `Secrets are told nowhere`() async throws {
    let scene = try Scene { request in
      request.header("authorization") == "Bearer c4n4ry-t0ken" ? .ok("x") : .status(401)
    }
    let trial = try await scene.run(
      """
      secrets: { TOKEN: {} }
      hosts: { "127.0.0.1": { auth: { bearer: "${secret.TOKEN}" } } }
      sources: [{ urls: [{ url: "$URL/a?token=c4n4ry-query", key: a }] }]
      stages: [fetch, { store: "${item.key}" }]
      """, inputs: { $0.environment = ["TOKEN": "c4n4ry-t0ken"] })
    #expect(trial.exit == .done)
    let told = trial.events.map { NDJSON.line($0) }.joined()
    #expect(!told.contains("c4n4ry"))
    for name in try SmallFiles.names(in: scene.place.file(".imgflow/scene")) where name.hasPrefix("journal") {
      let journal = try SmallFiles.read(scene.place.file(".imgflow/scene/\(name)"))
      #expect(String(decoding: journal, as: UTF8.self).firstRange(of: "c4n4ry-t0ken") == nil, "\(name)")
    }
  }

  @Test func `A reader of events that is slow gets all that matters`() async throws {
    let scene = try Scene()
    let runner = Runner(try scene.plan("sources: [{ urls: \(String.addresses(200)) }]\nstages: [fetch]"))
    let feed = runner.events()
    // Nothing is read before the run is over.
    let outcome = await runner.run()
    var events: [Event] = []
    for await event in feed { events.append(event) }
    #expect(outcome.exit == .done)
    #expect(StreamCheck.faults(of: events) == [])
    #expect(events.count { $0.type == .itemEnd } == 200)
  }
}
