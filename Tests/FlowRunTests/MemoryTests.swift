import FlowBase
import FlowParts
import FlowTesting
import Testing

@testable import FlowRun

@Suite struct MemoryTests {
  @Test func `room in memory is given back with its last holder`() {
    let budget = MemoryBudget(limit: 100)
    var first = budget.take(60)
    let second = first
    #expect(budget.take(41) == nil)
    #expect(budget.held == 60)
    first = nil
    #expect(budget.held == 60 && second != nil)
    withExtendedLifetime(second) {}
    #expect(budget.take(40) != nil)
  }

  @Test func `nothing is held when everything has gone`() {
    let budget = MemoryBudget(limit: 10)
    do {
      let share = budget.take(10)
      #expect(share != nil && budget.held == 10)
    }
    #expect(budget.held == 0)
    #expect(budget.take(11) == nil)
  }

  @Test func `bodies take a part of the room, none too much of it, and all of it comes back`() {
    let whole = MemoryBudget(limit: 1000)
    let bodies = MemoryBudget.forBodies(within: whole, chosen: 1000)
    do {
      let first = bodies.open()
      #expect(first.grow(by: 100) && first.grow(by: 150) && !first.grow(by: 1))
      let others = (0..<2).compactMap { _ in bodies.take(125) }
      #expect(others.count == 2 && bodies.take(1) == nil && whole.held == 500)
      #expect(whole.take(501) == nil)
      let rest = whole.take(500)
      withExtendedLifetime((first, others, rest)) {}
    }
    #expect(bodies.held == 0 && whole.held == 0)
    // What the run holds otherwise leaves bodies less.
    let rest = whole.take(950)
    #expect(bodies.take(51) == nil && bodies.held == 0 && bodies.take(50) != nil)
    withExtendedLifetime(rest) {}
  }

  @Test func `the usual room is a part of the machine's and no more than a gigabyte`() {
    #expect(MemoryBudget.usual > 1 << 20 && MemoryBudget.usual <= 1_000_000_000)
  }
}
