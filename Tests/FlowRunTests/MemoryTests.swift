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

  @Test func `the usual room is a part of the machine's and no more than a gigabyte`() {
    #expect(MemoryBudget.usual > 1 << 20 && MemoryBudget.usual <= 1_000_000_000)
  }
}
