import FlowBase
import FlowEvents
import FlowParts
import FlowPlan
import FlowRun
import FlowTesting
import Testing

/// Pausing, draining and cancelling a run while it goes.
@Suite struct ControlTests {
  private func manifest(_ count: Int, concurrency: Int = 1) -> String {
    """
    sources: [{ urls: \(String.addresses(count)) }]
    stages:
      - fetch: {}
        concurrency: \(concurrency)
      - store: "${item.key}"
    """
  }

  private func ask(_ verb: ControlRequest.Verb, item: String? = nil, signal: Int? = nil) -> ControlRequest {
    ControlRequest(verb, item: item, by: signal == nil ? "test" : "signal", signal: signal)
  }

  @Test func `A paused run starts nothing more until it is resumed`() async throws {
    let scene = try Scene()
    let plan = try scene.plan(manifest(4))
    let runner = Runner(plan)
    let early = await runner.request(ask(.pause))
    #expect(early.isAccepted)
    var states: [RunState] = []
    for await event in runner.start() {
      guard case .runState(let move) = event.payload else { continue }
      states.append(move.to)
      if move.to == .paused {
        // While it is paused, the same again is refused in words.
        #expect(await !runner.request(ask(.pause)).isAccepted)
        #expect(scene.server.requests.isEmpty)
        #expect(await runner.request(ask(.resume)).state == .active)
      }
    }
    #expect(states == [.active, .paused, .active, .done])
    #expect(await runner.outcome?.exit == .done)
    #expect(scene.outputs.count == 4)
  }

  @Test func `A drained run ends what it has begun and starts nothing more`() async throws {
    let release = Latch()
    let scene = try Scene { request in
      if request.path == "/1" { release.wait() }
      return .ok("x")
    }
    let trial = try await scene.run(
      manifest(30), options: { $0.window = 4 },
      follow: { runner, event in
        guard event.type == .itemStart, event.subject?.index == 1 else { return }
        #expect(await runner.request(ask(.drain)).state == .draining)
        release.open()
      })
    #expect(trial.exit == .interrupted)
    #expect(trial.outcome.end.result == .cancelled)
    #expect(trial.end("k1")?.status == .ok)
    #expect(scene.outputs == ["k1"])
    #expect(scene.server.requests.count == 1)
    #expect(!trial.outcome.isComplete)
  }

  @Test func `A drain that leaves nothing undone is a success`() async throws {
    let release = Latch()
    let scene = try Scene { _ in
      release.wait()
      return .ok("x")
    }
    let trial = try await scene.run(
      manifest(1),
      follow: { runner, event in
        // The source's end is told before the item's.
        guard event.type == .sourceEnd else { return }
        _ = await runner.request(ask(.drain))
        release.open()
      })
    #expect(trial.items.ok == 1)
    #expect(trial.exit == .done)
    #expect(trial.outcome.end.result == .success)
  }

  @Test func `A cancelled run tells the end of every item that had begun`() async throws {
    let scene = try Scene { _ in .silence }
    let trial = try await scene.run(
      manifest(5, concurrency: 2),
      follow: { runner, event in
        if event.type == .itemStart { _ = await runner.request(ask(.cancel)) }
      })
    #expect(trial.exit == .interrupted)
    #expect(trial.ends.values.allSatisfy { $0.status == .cancelled && $0.reason == "cancelled.user" })
    #expect(scene.outputs.isEmpty)
  }

  @Test(arguments: [(2, ExitCode.interrupted), (15, .terminated), (1, .hungUp)])
  func `A run that a signal ends has that signal's exit code`(signal: Int, exit: ExitCode) async throws {
    let scene = try Scene { _ in .silence }
    let trial = try await scene.run(
      manifest(2, concurrency: 2), options: { $0.grace = .milliseconds(50) },
      follow: { runner, event in
        if event.type == .itemStart, event.subject?.index == 1 {
          _ = await runner.request(ask(.drain, signal: signal))
        }
      })
    #expect(trial.exit == exit)
    #expect(trial.ends.values.allSatisfy { $0.reason == "cancelled.signal" })
  }

  @Test func `A second signal ends a drain at once`() async throws {
    let scene = try Scene { _ in .silence }
    let trial = try await scene.run(
      manifest(2, concurrency: 2), options: { $0.grace = .seconds(600) },
      follow: { runner, event in
        guard event.type == .itemStart, event.subject?.index == 1 else { return }
        #expect(await runner.request(ask(.drain, signal: 2)).isAccepted)
        #expect(await runner.request(ask(.abort, signal: 2)).isAccepted)
      })
    #expect(trial.exit == .interrupted)
    #expect(trial.items.cancelled > 0)
  }

  @Test func `One item is cancelled while the others go on`() async throws {
    let release = Latch()
    let scene = try Scene { request in
      // The run is not to end before all has been asked of it.
      if request.path == "/3" { release.wait() }
      return request.path == "/2" ? .silence : .ok("x")
    }
    let trial = try await scene.run(
      manifest(3, concurrency: 3),
      follow: { runner, event in
        guard event.type == .itemStart, event.subject?.item == "urls/k2" else { return }
        defer { release.open() }
        #expect(await runner.request(ask(.cancel, item: "urls/k2")).isAccepted)
        let unknown = await runner.request(ask(.cancel, item: "urls/k9"))
        #expect(!unknown.isAccepted)
        #expect(unknown.message.contains("urls/k9"))
      })
    #expect(trial.ends.mapValues(\.status) == ["urls/k1": .ok, "urls/k2": .cancelled, "urls/k3": .ok])
    #expect(trial.end("k2")?.reason == "cancelled.user")
    #expect(trial.count(.control) == 2)
    #expect(trial.exit == .interrupted)
  }

  @Test func `A run that is over refuses everything`() async throws {
    let scene = try Scene()
    let runner = Runner(try scene.plan(manifest(1)))
    _ = await runner.run()
    let answer = await runner.request(ask(.pause))
    #expect(!answer.isAccepted)
    #expect(answer.state == .done)
  }

  @Test func `What is asked through the socket is done and told`() async throws {
    let scene = try Scene()
    let runner = Runner(try scene.plan(manifest(2)))
    _ = await runner.request(ask(.pause))
    let folder = scene.place.file(".imgflow/scene/runs/\(runner.id)")
    var controls: [Payload.Control] = []
    for await event in runner.start() {
      if case .control(let control) = event.payload { controls.append(control) }
      guard case .runState(let move) = event.payload, move.to == .paused else { continue }
      #expect(ControlWire.isListening(folder: folder))
      let answer = try await offThread { () throws(Fault) in
        try ControlWire.ask(ControlRequest(.resume, by: "ctl"), folder: folder)
      }
      #expect(answer.isAccepted)
    }
    #expect(controls.map(\.by) == ["test", "ctl"])
    #expect(await runner.outcome?.exit == .done)
  }

  /// Does work that waits on a thread of its own.
  private func offThread<Result: Sendable>(_ body: @escaping @Sendable () throws(Fault) -> Result) async throws
    -> Result
  {
    try await withCheckedThrowingContinuation { continuation in
      WorkerThread.start("test") {
        do { continuation.resume(returning: try body()) } catch { continuation.resume(throwing: error) }
      }
    }
  }
}
