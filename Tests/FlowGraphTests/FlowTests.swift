import FlowBase
import FlowGraph
import Testing

/// Starts, waits and ends of operations, items and the run.
struct FlowTests {
  @Test func `An empty run is finished at once, and once`() {
    let bench = Bench.chain(.init(), .init())
    bench.tell(.sourcesEnded)
    #expect(bench.take() == [.demand(16), .stageEnded(0), .stageEnded(1), .finished])
    bench.tell(.tick)
    bench.tell(.sourcesEnded)
    bench.tell(.abort)
    #expect(bench.take().isEmpty)
    #expect(bench.admit() == -1)
  }

  @Test func `No more items are asked for than the window takes`() {
    let bench = Bench.chain(.init(), window: 8)
    #expect(bench.take() == [.demand(8)])
    bench.admit(8)
    #expect(bench.machine.inFlight == 8)
    bench.finish(0, 0)
    #expect(!bench.take().contains(.demand(1)))
    bench.finish(1, 0)
    #expect(bench.take() == [.endItem(slot: 1, .ok), .demand(2)])
    bench.tell(.consumed(2))
    #expect(bench.take() == [.demand(2)])
  }

  @Test func `Concurrency bounds a stage, and what is nearly done goes first`() {
    let bench = Bench.chain(.init(concurrency: 2), .init(concurrency: 1))
    bench.admit(4)
    #expect(bench.starts() == [[0, 0], [1, 0]])
    bench.finish(1, 0)
    #expect(bench.starts() == [[1, 1], [2, 0]])
    bench.finish(0, 0)
    #expect(bench.starts() == [[3, 0]])
    bench.finish(1, 1)
    #expect(bench.starts() == [[0, 1]])
  }

  @Test func `Stages share a pool's tokens`() {
    let bench = Bench.chain(.init(pool: 0), .init(pool: 0), pools: [1])
    bench.admit(2)
    #expect(bench.starts() == [[0, 0]])
    bench.finish(0, 0)
    #expect(bench.starts() == [[0, 1]])
    bench.tell(.retry(.init(slot: 0, node: 1), at: .at(5)))
    #expect(bench.starts() == [[1, 0]])
  }

  @Test func `An interval spaces the starts of a stage`() {
    let bench = Bench.chain(.init(interval: 2_000_000))
    bench.admit(3)
    #expect(bench.starts() == [[0, 0]])
    #expect(bench.machine.nextWake(after: bench.now) == .at(2))
    bench.now = .at(1)
    bench.tell(.tick)
    #expect(bench.starts() == [])
    bench.now = .at(2)
    bench.tell(.tick)
    #expect(bench.starts() == [[1, 0]])
    #expect(bench.machine.nextWake(after: bench.now) == .at(4))
  }

  @Test func `A start that was made late pushes the next one back`() {
    let bench = Bench.chain(.init(interval: 2_000_000))
    bench.admit(3)
    bench.hasStarted(stage: 0, at: .at(1))
    #expect(bench.machine.nextWake(after: bench.now) == .at(3))
    bench.now = .at(2)
    bench.tell(.tick)
    #expect(bench.starts() == [[0, 0]])
    bench.now = .at(3)
    bench.tell(.tick)
    #expect(bench.starts() == [[1, 0]])
  }

  @Test func `The longest interval overflows nothing`() {
    let bench = Bench.chain(.init(interval: .max))
    bench.now = .at(1)
    bench.admit(2)
    #expect(bench.starts() == [[0, 0]])
  }

  @Test func `A try waits outside of its slot until its time has come`() {
    let bench = Bench.chain(.init(concurrency: 1))
    bench.admit(2)
    bench.tell(.retry(.init(slot: 0, node: 0), at: .at(5)))
    #expect(bench.starts() == [[0, 0], [1, 0]])
    bench.finish(1, 0)
    #expect(bench.machine.nextWake(after: bench.now) == .at(5))
    bench.now = .at(4)
    bench.tell(.tick)
    #expect(bench.starts() == [])
    bench.now = .at(5)
    bench.tell(.tick)
    #expect(bench.starts() == [[0, 0]])
  }

  @Test func `A slot's next item is not woken by the wait of the last`() {
    let bench = Bench.chain(.init(), window: 1)
    bench.admit()
    bench.tell(.retry(.init(slot: 0, node: 0), at: .at(5)))
    bench.tell(.cancelItem(slot: 0))
    bench.admit()
    bench.tell(.retry(.init(slot: 0, node: 0), at: .at(50)))
    _ = bench.take()
    bench.now = .at(5)
    bench.tell(.tick)
    #expect(bench.starts() == [])
    bench.now = .at(50)
    bench.tell(.tick)
    #expect(bench.starts() == [[0, 0]])
  }

  @Test func `A host's operations go on in the order in which they were held, and before new ones`() {
    let bench = Bench.chain(.init(concurrency: 1))
    bench.admit(5)
    for slot in 0..<3 { bench.tell(.held(.init(slot: slot, node: 0), host: 7)) }
    #expect(bench.starts() == [[0, 0], [1, 0], [2, 0], [3, 0]])
    bench.tell(.hostOpened(7, count: 2))
    bench.tell(.hostOpened(8, count: 2))
    bench.finish(3, 0)
    bench.finish(0, 0)
    bench.finish(1, 0)
    #expect(bench.starts() == [[0, 0], [1, 0], [4, 0]])
    bench.tell(.hostOpened(7, count: 2))
    bench.finish(4, 0)
    #expect(bench.starts() == [[2, 0]])
  }

  @Test func `A pause starts nothing, and a resume goes on`() {
    let bench = Bench.chain(.init(), .init())
    bench.tell(.pause)
    bench.admit()
    #expect(bench.starts() == [])
    bench.tell(.resume)
    #expect(bench.starts() == [[0, 0]])
    bench.tell(.pause)
    bench.finish(0, 0)
    #expect(bench.starts() == [])
    bench.tell(.resume)
    #expect(bench.starts() == [[0, 1]])
  }

  @Test func `A drain finishes what has begun and cancels what has not, waits included`() {
    let bench = Bench.chain(.init(), .init(concurrency: 1))
    bench.admit(5)
    bench.finish(0, 0)
    bench.finish(1, 0)
    bench.tell(.retry(.init(slot: 2, node: 0), at: .at(9)))
    bench.tell(.held(.init(slot: 3, node: 0), host: 0))
    _ = bench.take()
    bench.tell(.drain)
    #expect(bench.take() == [.endItem(slot: 2, .cancelled), .endItem(slot: 3, .cancelled)])
    bench.finish(4, 0, .failed)
    #expect(bench.take().first == .endItem(slot: 4, .failed))
    bench.finish(0, 1)
    #expect(bench.take().contains(.start(.init(slot: 1, node: 1))))
    bench.tell(.retry(.init(slot: 1, node: 1), at: .at(9)))
    #expect(bench.take() == [.endItem(slot: 1, .cancelled), .stageEnded(1), .finished])
  }

  @Test func `A cancel interrupts what runs and takes its last word`() {
    let bench = Bench.chain(.init(), .init())
    bench.admit(2)
    bench.finish(0, 0)
    _ = bench.take()
    bench.tell(.cancel)
    #expect(bench.take() == [.interrupt(.init(slot: 0, node: 1)), .interrupt(.init(slot: 1, node: 0))])
    // It was done before the interruption reached it.
    bench.finish(0, 1)
    #expect(bench.take().first == .endItem(slot: 0, .ok))
    bench.tell(.retry(.init(slot: 1, node: 0), at: .at(9)))
    #expect(bench.take().first == .endItem(slot: 1, .cancelled))
  }

  @Test func `One item is cancelled and the others go on`() {
    let bench = Bench.chain(.init(), .init())
    bench.admit(2)
    _ = bench.take()
    bench.tell(.cancelItem(slot: 0))
    #expect(bench.take() == [.interrupt(.init(slot: 0, node: 0))])
    // Its fault could be tried again, but nobody wants it any more.
    bench.tell(.retry(.init(slot: 0, node: 0), at: .at(9)))
    #expect(bench.take().first == .endItem(slot: 0, .cancelled))
    bench.finish(1, 0)
    #expect(bench.starts() == [[1, 1]])
    for slot in [-1, 0, 99] { bench.tell(.cancelItem(slot: slot)) }
    #expect(bench.take().isEmpty)
  }

  @Test func `A gentler stop does not follow a harsher one`() {
    let bench = Bench.chain(.init())
    bench.admit()
    bench.tell(.cancel)
    for event in [GraphMachine.Event.drain, .pause, .resume] { bench.tell(event) }
    #expect(bench.machine.mode == .cancelling)
    bench.tell(.abort)
    #expect(bench.machine.mode == .aborting)
  }

  @Test func `Words about operations that do not run change nothing`() {
    let bench = Bench.chain(.init(), .init())
    bench.admit()
    _ = bench.take()
    for (slot, node) in [(0, 1), (1, 0), (-1, 0), (0, 9), (99, 0)] {
      let operation = Operation(slot: slot, node: node)
      bench.tell(.finished(operation, .ok))
      bench.tell(.retry(operation, at: .at(1)))
      bench.tell(.held(operation, host: 0))
    }
    #expect(bench.take().isEmpty)
    bench.finish(0, 0)
    bench.finish(0, 0)
    #expect(bench.starts() == [[0, 1]])
  }

  @Test func `Limits of nothing are limits of one`() {
    let bench = Bench.chain(.init(concurrency: 0, pool: 0), window: 0, pools: [0])
    bench.admit()
    #expect(bench.starts() == [[0, 0]])
  }
}
