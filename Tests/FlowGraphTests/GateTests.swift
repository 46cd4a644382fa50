import FlowGraph
import Testing

/// Stages that wait until another is wholly finished.
struct GateTests {
  @Test func `Nothing goes through a gate before the last item has passed the stage`() {
    let bench = Bench.chain(.init(), .init(gates: [0]))
    bench.admit(2)
    bench.finish(0, 0)
    #expect(bench.state(0, 1) == .gated)
    bench.tell(.sourcesEnded)
    #expect(bench.state(0, 1) == .gated)
    _ = bench.take()
    bench.finish(1, 0, .failed)
    #expect(
      bench.take() == [.endItem(slot: 1, .failed), .stageEnded(0), .stageStarted(1), .start(.init(slot: 0, node: 1))])
  }

  @Test func `A gate opens for an item that is busy elsewhere`() {
    let bench = Bench(
      [.init(), .init(needs: [0]), .init(needs: [0], gates: [0])],
      [.init(stage: 0), .init(stage: 1, inputs: [0]), .init(stage: 2, inputs: [0])])
    bench.admit()
    bench.finish(0, 0)
    #expect(bench.state(0, 1) == .running)
    #expect(bench.state(0, 2) == .gated)
    bench.tell(.sourcesEnded)
    #expect(bench.state(0, 2) == .running)
    bench.finish(0, 1)
    bench.finish(0, 2)
    #expect(bench.take().last == .finished)
  }

  @Test(arguments: [1, 2, 3, 5, 8, 64])
  func `Gates behind gates let all items through whatever the window`(_ window: Int) {
    let shape = GraphShape(
      stages: [.init(), .init(gates: [0]), .init(gates: [1]), .init(gates: [0, 2])],
      nodes: [
        .init(stage: 0), .init(stage: 1, inputs: [0]), .init(stage: 2, inputs: [1]), .init(stage: 3, inputs: [2]),
      ], window: window)
    for seed in 0..<10 {
      var run = Simulation(shape, items: 40, seed: seed)
      run.isSmooth = true
      run.run()
      #expect(run.violations == [])
      #expect(run.stageEnds == [0, 1, 2, 3])
      #expect((run.parkings > 0) == (window < 40))
    }
  }

  @Test func `A gate behind a barrier opens when the barrier has ended, also when it failed`() {
    for ok in [true, false] {
      let bench = Bench(
        [.init(), .init(isBarrier: true, needs: [0]), .init(needs: [0], gates: [1])],
        [.init(stage: 0), .init(stage: 1, inputs: [0]), .init(stage: 2, inputs: [0])])
      bench.admit()
      bench.finish(0, 0)
      bench.tell(.sourcesEnded)
      #expect(bench.take().last == .startBarrier(stage: 1))
      #expect(bench.state(0, 2) == .gated)
      bench.tell(.barrierFinished(stage: 1, ok: ok))
      #expect(bench.state(0, 2) == .running)
    }
  }

  @Test func `Items behind a gate give their slots to others and come back in their order`() {
    let bench = Bench.chain(.init(), .init(gates: [0]), window: 2)
    bench.admit(2)
    _ = bench.take()
    bench.finish(0, 0)
    bench.finish(1, 0)
    let parkings = bench.take()
    #expect(parkings == [.park(slot: 0), .demand(1)])
    bench.admit()
    bench.tell(.sourcesEnded)
    _ = bench.take()
    // The gate opens, and there is no room yet for the one that was put aside.
    bench.finish(0, 0)
    #expect(bench.take().contains(.stageEnded(0)))
    bench.finish(1, 1)
    #expect(bench.take() == [.endItem(slot: 1, .ok), .demandParked(1)])
    let slot = bench.takeBack([.ok, .gated])
    #expect(bench.take() == [.start(.init(slot: slot, node: 1))])
    bench.finish(slot, 1)
    bench.finish(0, 1)
    #expect(bench.take().suffix(2) == [.stageEnded(1), .finished])
  }

  @Test func `Parked items that cannot be read back hold nothing up`() {
    let bench = Bench.chain(.init(), .init(gates: [0]), window: 1)
    bench.admit()
    bench.finish(0, 0)
    #expect(bench.machine.parked == 1)
    bench.tell(.sourcesEnded)
    #expect(bench.take().last == .demandParked(1))
    bench.tell(.parkedEnded)
    #expect(bench.take() == [.stageEnded(1), .finished])
  }
}
