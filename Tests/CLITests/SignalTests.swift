import FlowBase
import FlowTesting
import Glibc
import Testing

@Suite(.serialized) struct SignalTests {
  private func slow() throws -> Workplace {
    try Workplace(["/slow": [.generated(100_000).dripping(10, every: .milliseconds(20))]])
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)])
  func `a signal drains for the grace, and gives its own exit code`(signal: Int32, code: Int) async throws {
    let work = try slow()
    try work.manifest(["/small/a", "/slow"])
    let run = try work.tool.start(["run", "m.yaml", "--grace", "200ms"])
    _ = await run.output.line { $0.contains("\"item.end\"") }
    _ = await run.output.line { $0.contains("\"item.start\"") && $0.contains("slow") }
    run.signal(signal)
    let end = await run.end()
    expectEnd(end, code)
    #expect(end.stream.result == "cancelled")
    #expect(end.stream.all("run.state").map { $0["to"]?.asString } == ["active", "draining", "done"])
    #expect(work.files() == ["small-a.bin"])
    #expect(work.files(".imgflow/m/tmp") == [])
  }

  @Test func `what has begun is finished within the grace, and the next run does the rest`() async throws {
    let gate = Gate()
    let work = try Workplace { request in
      if request.path == "/small/1" { gate.open() }
      return .ok(Workplace.body(request.path)).delayed(by: .milliseconds(200))
    }
    try work.manifest((0..<20).map { "/small/\($0)" }, "limits: { connections: 2 }")
    let run = try work.tool.start(["run", "m.yaml"])
    await gate.passed()
    run.signal(SIGINT)
    let end = await run.end()
    expectEnd(end, 130)
    let done = end.stream.items("ok").count
    #expect((1..<20).contains(done))
    #expect(done + end.stream.items("cancelled").count == end.stream.all("item.end").count)
    #expect(work.files().count == done)
    let next = try await work.tool.run("run", "m.yaml")
    expectEnd(next, 0)
    #expect(next.stream.count("cached") == done)
    #expect(work.files().count == 20)
  }

  @Test func `a second signal ends at once`() async throws {
    let work = try slow()
    try work.manifest(["/slow"])
    let run = try work.tool.start(["run", "m.yaml", "--grace", "1m"])
    _ = await run.output.line { $0.contains("\"item.start\"") }
    run.signal(SIGTERM)
    _ = await run.output.line { $0.contains("draining") }
    run.signal(SIGTERM)
    expectEnd(await run.end(within: .seconds(5)), 143)
    #expect(work.files() == [])
  }

  @Test func `a run that is stopped and continued goes on as if nothing had been`() async throws {
    let work = try Workplace(["/slow": [.generated(3000).dripping(100, every: .milliseconds(10))]])
    try work.manifest(["/slow", "/small/a"])
    let run = try work.tool.start(["run", "m.yaml"])
    _ = await run.output.line { $0.contains("\"item.start\"") && $0.contains("slow") }
    run.signal(SIGSTOP)
    run.signal(SIGCONT)
    expectEnd(await run.end(), 0)
    #expect(work.files() == ["slow.bin", "small-a.bin"])
  }

  @Test func `a drain that a signal began weighs more than failed items`() async throws {
    let work = try slow()
    try work.manifest(["/none", "/slow"])
    let run = try work.tool.start(["run", "m.yaml", "--grace", "100ms"])
    _ = await run.output.line { $0.contains("\"item.end\"") }
    run.signal(SIGINT)
    expectEnd(await run.end(), 130)
  }
}

/// Something that a test waits for and that another thread says.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Guarded(State())

  func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  func passed() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiters.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}
