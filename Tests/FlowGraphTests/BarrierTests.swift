import FlowGraph
import Testing

/// Stages that run once for many items.
struct BarrierTests {
  /// One stage, a barrier behind it, one behind that, and one that always runs.
  func bench() -> Bench {
    Bench(
      [
        .init(), .init(isBarrier: true, needs: [0]), .init(isBarrier: true, needs: [1]),
        .init(isBarrier: true, needs: [2], runsAlways: true),
      ], [.init(stage: 0)])
  }

  @Test func `Barriers run one after the other when all items are done`() {
    let bench = bench()
    bench.admit(2)
    bench.tell(.sourcesEnded)
    bench.finish(0, 0)
    #expect(!bench.take().contains(.startBarrier(stage: 1)))
    bench.finish(1, 0)
    #expect(bench.take().suffix(3) == [.stageEnded(0), .stageStarted(1), .startBarrier(stage: 1)])
    bench.tell(.barrierFinished(stage: 1, ok: true))
    #expect(bench.take() == [.stageEnded(1), .stageStarted(2), .startBarrier(stage: 2)])
    bench.tell(.barrierFinished(stage: 2, ok: true))
    bench.tell(.barrierFinished(stage: 3, ok: true))
    #expect(bench.take().last == .finished)
  }

  @Test func `What needs a failed barrier is skipped, but for what always runs`() {
    let bench = bench()
    bench.tell(.sourcesEnded)
    bench.tell(.barrierFinished(stage: 1, ok: false))
    #expect(
      bench.take().suffix(5) == [
        .stageEnded(1), .skipBarrier(stage: 2), .stageEnded(2), .stageStarted(3), .startBarrier(stage: 3),
      ])
    bench.tell(.barrierFinished(stage: 3, ok: true))
    #expect(bench.take() == [.stageEnded(3), .finished])
  }

  @Test func `Barriers have their turn when no item came and when all failed`() {
    let empty = bench()
    empty.tell(.sourcesEnded)
    #expect(empty.take().last == .startBarrier(stage: 1))
    let failing = bench()
    failing.admit()
    failing.tell(.sourcesEnded)
    failing.finish(0, 0, .failed)
    #expect(failing.take().last == .startBarrier(stage: 1))
  }

  @Test(arguments: [
    (GraphMachine.Event.drain, [GraphMachine.Action.skipBarrier(stage: 1), .skipBarrier(stage: 2)], true),
    (.cancel, [.skipBarrier(stage: 1), .skipBarrier(stage: 2)], true),
    (.abort, [.skipBarrier(stage: 1), .skipBarrier(stage: 2), .skipBarrier(stage: 3)], false),
  ])
  func `A stopped run skips barriers, and only an aborted one those that always run`(
    _ stop: GraphMachine.Event, _ skips: [GraphMachine.Action], _ lastRuns: Bool
  ) {
    let bench = bench()
    bench.tell(stop)
    let said = bench.take()
    #expect(said.filter { if case .skipBarrier = $0 { true } else { false } } == skips)
    #expect(said.contains(.startBarrier(stage: 3)) == lastRuns)
    #expect(said.contains(.finished) != lastRuns)
  }

  @Test func `A barrier that runs is interrupted by a cancel, one that always runs by an abort`() {
    let bench = bench()
    bench.tell(.sourcesEnded)
    bench.tell(.cancel)
    #expect(bench.take().last == .interruptBarrier(stage: 1))
    bench.tell(.barrierFinished(stage: 1, ok: false))
    #expect(bench.take().last == .startBarrier(stage: 3))
    bench.tell(.abort)
    #expect(bench.take() == [.interruptBarrier(stage: 3)])
    bench.tell(.barrierFinished(stage: 3, ok: false))
    #expect(bench.take() == [.stageEnded(3), .finished])
  }

  @Test func `A paused run starts no barrier`() {
    let bench = bench()
    bench.tell(.pause)
    bench.tell(.sourcesEnded)
    #expect(!bench.take().contains(.startBarrier(stage: 1)))
    bench.tell(.resume)
    #expect(bench.take().last == .startBarrier(stage: 1))
  }

  @Test func `An end that nobody expected changes nothing`() {
    let bench = bench()
    bench.tell(.barrierFinished(stage: 1, ok: true))
    bench.tell(.barrierFinished(stage: 0, ok: true))
    bench.tell(.barrierFinished(stage: 99, ok: true))
    bench.tell(.sourcesEnded)
    #expect(bench.take().last == .startBarrier(stage: 1))
  }
}
