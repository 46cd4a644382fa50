import FlowBase
import FlowGraph
import Testing

/// Stages that items pass one by one in the order of their admission.
@Suite struct OrderTests {
  private func bench(window: Int = 8) -> Bench {
    Bench.chain(GraphShape.Stage(), GraphShape.Stage(isOrdered: true), window: window)
  }

  @Test func `who is ready first waits for who came first`() {
    let bench = bench()
    bench.admit(3)
    _ = bench.take()
    bench.finish(2, 0)
    bench.finish(1, 0)
    #expect(bench.starts() == [])
    bench.finish(0, 0)
    #expect(bench.starts() == [[0, 1]])
    bench.finish(0, 1)
    #expect(bench.starts() == [[1, 1]])
    bench.finish(1, 1, .filtered)
    #expect(bench.starts() == [[2, 1]])
  }

  @Test(arguments: [Outcome.failed, .filtered, .cancelled])
  func `who ends on the way is waited for no longer`(outcome: Outcome) {
    let bench = bench()
    bench.admit(2)
    _ = bench.take()
    bench.finish(1, 0)
    #expect(bench.starts() == [])
    bench.finish(0, 0, outcome)
    #expect(bench.starts() == [[1, 1]])
  }

  @Test func `a try that is put off keeps its place`() {
    let bench = bench()
    bench.admit(2)
    _ = bench.take()
    bench.tell(.retry(Operation(slot: 0, node: 0), at: bench.now + .seconds(5)))
    bench.finish(1, 0)
    #expect(bench.starts() == [])
    bench.now = bench.now + .seconds(6)
    bench.tell(.tick)
    bench.finish(0, 0)
    #expect(bench.starts() == [[0, 0], [0, 1]])
  }

  @Test func `a slot that is used again has the new item's place`() {
    let bench = bench(window: 2)
    bench.admit(2)
    _ = bench.take()
    bench.finish(0, 0)
    bench.finish(0, 1)
    // The third item takes the first slot, and still comes behind the second.
    #expect(bench.admit() == 0)
    bench.finish(0, 0)
    _ = bench.take()
    #expect(bench.state(0, 1) == .ready)
    bench.finish(1, 0)
    #expect(bench.starts() == [[1, 1]])
    bench.finish(1, 1)
    #expect(bench.starts() == [[0, 1]])
  }

  @Test func `a cancelled run waits for nobody`() {
    let bench = bench()
    bench.admit(2)
    bench.finish(1, 0)
    bench.tell(.cancel)
    bench.finish(0, 0, .cancelled)
    bench.tell(.sourcesEnded)
    #expect(bench.take().contains(.finished))
  }
}
