import FlowBase
import FlowGraph
import Testing

/// Parts of a run that are held back, and limits that change while it goes.
struct SteeringTests {
  @Test func `A stage that is held back starts nothing, and the others go on`() {
    let bench = Bench.chain(.init(), .init())
    bench.steer { $0.setHeld(stage: 1, true, at: $1, into: &$2) }
    bench.admit(2)
    #expect(bench.starts() == [[0, 0], [1, 0]])
    bench.finish(0, 0)
    bench.finish(1, 0)
    #expect(bench.starts() == [])
    bench.steer { $0.setHeld(stage: 1, false, at: $1, into: &$2) }
    #expect(bench.starts() == [[0, 1], [1, 1]])
  }

  @Test func `A barrier that is held back starts when it may`() {
    let bench = Bench(
      [.init(), .init(isBarrier: true, needs: [0])], [.init(stage: 0), .init(stage: 1, inputs: [0])])
    bench.steer { $0.setHeld(stage: 1, true, at: $1, into: &$2) }
    bench.admit()
    bench.finish(0, 0)
    bench.tell(.sourcesEnded)
    #expect(!bench.take().contains(.startBarrier(stage: 1)))
    bench.steer { $0.setHeld(stage: 1, false, at: $1, into: &$2) }
    #expect(bench.take().contains(.startBarrier(stage: 1)))
  }

  @Test func `An item that is held back lets the others pass it, and comes back first`() {
    let bench = Bench.chain(.init(), .init(concurrency: 1))
    bench.admit(3)
    bench.steer { $0.setHeld(slot: 0, true, at: $1, into: &$2) }
    _ = bench.take()
    for slot in 0..<3 { bench.finish(slot, 0) }
    #expect(bench.starts() == [[1, 1]])
    #expect(bench.machine.isHeld(slot: 0))
    bench.steer { $0.setHeld(slot: 0, false, at: $1, into: &$2) }
    bench.finish(1, 1)
    #expect(bench.starts() == [[0, 1]])
    bench.finish(0, 1)
    #expect(bench.starts() == [[2, 1]])
  }

  @Test func `An item that is held back can be cancelled, and its slot is free for another`() {
    let bench = Bench.chain(.init(), .init(), window: 1)
    bench.admit()
    bench.steer { $0.setHeld(slot: 0, true, at: $1, into: &$2) }
    bench.finish(0, 0)
    bench.tell(.cancelItem(slot: 0))
    #expect(bench.take().contains(.endItem(slot: 0, .cancelled)))
    bench.admit()
    #expect(bench.starts() == [[0, 0]])
    #expect(!bench.machine.isHeld(slot: 0))
  }

  @Test func `An operation that was interrupted to go on later starts again before the others`() {
    let bench = Bench.chain(.init(concurrency: 1))
    bench.admit(2)
    #expect(bench.starts() == [[0, 0]])
    bench.tell(.pause)
    bench.tell(.suspended(Operation(slot: 0, node: 0)))
    #expect(bench.state(0, 0) == .ready)
    #expect(bench.starts() == [])
    bench.tell(.resume)
    #expect(bench.starts() == [[0, 0]])
    // In a run that stops it ends there.
    bench.tell(.cancel)
    bench.tell(.suspended(Operation(slot: 0, node: 0)))
    #expect(bench.state(0, 0) == .cancelled)
  }

  @Test(arguments: [(1, 3, 3), (3, 1, 0), (2, 4, 3)])
  func `A stage's concurrency changes at once, and what runs beyond it is left alone`(
    before: Int, after: Int, more: Int
  ) {
    let bench = Bench.chain(.init(concurrency: before))
    bench.admit(6)
    #expect(bench.starts().count == before)
    bench.steer { $0.set(concurrency: after, of: 0, at: $1, into: &$2) }
    #expect(bench.starts().count == max(0, after - before))
    #expect(bench.machine.running(stage: 0) == max(before, after))
    for slot in 0..<max(before, after) { bench.finish(slot, 0) }
    #expect(bench.machine.running(stage: 0) <= max(after, more))
  }

  @Test func `A shorter interval counts from the last start`() {
    let bench = Bench.chain(.init(interval: 10_000))
    bench.now = Instant(nanoseconds: 1000)
    bench.admit(2)
    #expect(bench.starts() == [[0, 0]])
    bench.steer { $0.set(interval: 500, of: 0, at: $1, into: &$2) }
    #expect(bench.starts() == [])
    #expect(bench.machine.nextWake(after: bench.now) == Instant(nanoseconds: 1500))
    bench.now = Instant(nanoseconds: 1500)
    bench.tell(.tick)
    #expect(bench.starts() == [[1, 0]])
  }

  @Test func `A drained item ends what it has begun`() {
    let bench = Bench.chain(.init(), .init())
    bench.admit(2)
    bench.finish(0, 0)
    bench.steer { $0.drainItem(slot: 0, at: $1, into: &$2) }
    #expect(bench.state(0, 1) == .running)
    bench.finish(0, 1)
    #expect(bench.take().contains(.endItem(slot: 0, .ok)))
  }

  @Test func `A host that is held back is asked nothing until it may be, and others are`() {
    let gate = Gatekeeper(total: 10)
    let held = gate.add(HostGate.Limits())
    let other = gate.add(HostGate.Limits())
    let now = Instant(nanoseconds: 0)
    gate.setHeld(held, true)
    #expect(!gate.mayStart(held, at: now))
    #expect(gate.mayStart(other, at: now))
    #expect(gate.opened(at: now).isEmpty)
    gate.setHeld(held, false)
    #expect(gate.opened(at: now).map(\.host) == [held])
    #expect(gate.mayStart(held, at: now))
  }

  @Test func `A host's limits change at once`() {
    let gate = Gatekeeper(total: 10)
    let host = gate.add(HostGate.Limits(connections: 1, spacing: 60_000_000_000))
    #expect(gate.mayStart(host, at: Instant(nanoseconds: 0)))
    #expect(!gate.mayStart(host, at: Instant(nanoseconds: 1)))
    gate.set(HostGate.Limits(connections: 4), of: host)
    #expect(gate.opened(at: Instant(nanoseconds: 2)).map(\.count) == [1])
    #expect(gate.mayStart(host, at: Instant(nanoseconds: 2)))
  }
}
