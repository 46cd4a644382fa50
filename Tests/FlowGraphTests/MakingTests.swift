import FlowBase
import FlowGraph
import Testing

/// Items that a stage makes of another.
struct MakingTests {
  private func make(_ bench: Bench, _ slot: Int, _ node: Int, _ count: Int) {
    bench.tell(.made(Operation(slot: slot, node: node), count: count))
    bench.finish(slot, node, .split)
  }

  private func admit(_ bench: Bench, _ node: Int) -> Int? { bench.admitMade(behind: node) }

  @Test func `An item that was split ends well, and its parts go on behind the stage`() {
    let bench = Bench.chain(.init(), .init(), .init())
    bench.admit()
    bench.finish(0, 0)
    _ = bench.take()
    make(bench, 0, 1, 2)
    #expect(bench.state(0, 2) == .filtered)
    let said = bench.take()
    #expect(said.contains(.admitMade(2)) && said.contains(.endItem(slot: 0, .ok)))
    let first = admit(bench, 1)
    let second = admit(bench, 1)
    #expect(first != nil && second != nil && first != second)
    #expect(admit(bench, 1) == nil)
    #expect(bench.state(first ?? 0, 0) == .ok)
    #expect(bench.state(first ?? 0, 1) == .ok)
    #expect(bench.state(first ?? 0, 2) == .running)
    bench.finish(first ?? 0, 2)
    bench.finish(second ?? 0, 2, .failed)
    let ends = bench.take().filter { if case .endItem = $0 { true } else { false } }
    #expect(ends == [.endItem(slot: first ?? 0, .ok), .endItem(slot: second ?? 0, .failed)])
  }

  @Test func `A stage is not finished, and the run neither, while made items are still to come`() {
    let bench = Bench.chain(.init(), .init())
    bench.admit()
    bench.tell(.sourcesEnded)
    make(bench, 0, 0, 1)
    let said = bench.take()
    #expect(said.contains(.stageEnded(0)))
    #expect(!said.contains(.stageEnded(1)))
    #expect(!said.contains(.finished))
    bench.tell(.madeConsumed(node: 0))
    #expect(bench.take() == [.stageEnded(1), .finished])
  }

  @Test func `An item of which nothing was made ends well`() {
    let bench = Bench.chain(.init(), .init())
    bench.admit()
    bench.tell(.sourcesEnded)
    make(bench, 0, 0, 0)
    let said = bench.take()
    #expect(said.contains(.endItem(slot: 0, .ok)))
    #expect(said.contains(.finished))
  }

  @Test func `Made items wait for room, and more of them than the window holds all come in`() {
    let bench = Bench.chain(.init(), .init(), window: 4)
    bench.admit(4)
    make(bench, 0, 0, 10)
    var done = 0
    var next: [Int] = []
    for _ in 0..<10 {
      while let slot = admit(bench, 0) { next.append(slot) }
      guard let slot = next.popLast() else { break }
      bench.finish(slot, 1)
      done += 1
    }
    #expect(done == 10)
  }

  @Test func `A place is promised to a made item or to a parked one, and not to both`() {
    let bench = Bench.chain(.init(), .init(gates: [0]), .init(), window: 2)
    bench.admit(2)
    bench.finish(0, 0)
    bench.finish(1, 0)
    bench.admit()
    bench.tell(.sourcesEnded)
    bench.finish(0, 0)
    #expect(bench.machine.parked == 1)
    _ = bench.take()
    // One place, and one of each.
    make(bench, 1, 1, 1)
    let said = bench.take()
    #expect(said.contains(.admitMade(1)) && !said.contains(.demandParked(1)))
    guard let child = admit(bench, 1) else {
      Issue.record("no place for what was made")
      return
    }
    bench.finish(child, 2)
    #expect(bench.take().contains(.demandParked(1)))
    // Two places, one of which is the parked item's.
    make(bench, 0, 1, 2)
    #expect(bench.take().contains(.admitMade(1)))
    #expect(admit(bench, 1) != nil && bench.takeBack([.ok, .gated, .waiting]) >= 0)
    #expect(bench.machine.parked == 0)
  }

  @Test func `Made items take the room of items that were asked for and have not come`() {
    let bench = Bench.chain(.init(), .init(), window: 2)
    bench.admit()
    #expect(bench.machine.wanted == 1)
    make(bench, 0, 0, 2)
    #expect(admit(bench, 0) != nil)
    #expect(admit(bench, 0) != nil)
    #expect(bench.machine.wanted == 0)
    #expect(admit(bench, 0) == nil)
    for slot in 0..<2 where bench.state(slot, 1) == .running { bench.finish(slot, 1) }
    #expect(bench.machine.wanted > 0)
  }

  @Test func `A gate behind which made items wait opens when the last of them is through`() {
    let bench = Bench.chain(.init(), .init(), .init(gates: [1]))
    bench.admit()
    bench.tell(.sourcesEnded)
    make(bench, 0, 0, 2)
    let first = admit(bench, 0) ?? 0
    let second = admit(bench, 0) ?? 0
    bench.finish(first, 1)
    #expect(bench.state(first, 2) == .gated)
    bench.finish(second, 1)
    #expect(bench.state(first, 2) == .running)
    #expect(bench.state(second, 2) == .running)
    bench.finish(first, 2)
    bench.finish(second, 2)
    #expect(bench.take().last == .finished)
  }

  @Test(arguments: [GraphMachine.Event.drain, .cancel, .abort])
  func `A run that is stopped waits for no made item`(stop: GraphMachine.Event) {
    let bench = Bench.chain(.init(), .init())
    bench.admit()
    bench.tell(.made(Operation(slot: 0, node: 0), count: 5))
    bench.tell(stop)
    bench.finish(0, 0, .split)
    #expect(admit(bench, 0) == nil)
    #expect(bench.take().last == .finished)
  }

  @Test func `Legs beside the one that made an item pass it by`() {
    // Two legs of one stage, each with a stage of its own behind it, and one that joins both.
    let bench = Bench(
      [.init(), .init(), .init(joins: true)],
      [
        .init(stage: 0), .init(stage: 0), .init(stage: 1, inputs: [0]), .init(stage: 1, inputs: [1]),
        .init(stage: 2, inputs: [2, 3]),
      ])
    bench.admit()
    make(bench, 0, 0, 1)
    let made = admit(bench, 0) ?? 0
    #expect(bench.state(made, 1) == .filtered)
    #expect(bench.state(made, 3) == .filtered)
    #expect(bench.state(made, 2) == .running)
    bench.finish(made, 2)
    #expect(bench.state(made, 4) == .running)
  }
}
