import FlowBase
import FlowEvents
import Testing

private func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

@Suite struct PaceTests {
  @Test func `A run's progress is told once a second, and every ten seconds even when nothing moves`() {
    var pace = RunProgressPace(start: at(0))
    #expect(!pace.isDue(1, 10, 1, at: at(999)))
    #expect(pace.isDue(1, 10, 1, at: at(1000)))
    _ = pace.take(1, 10, 1, at: at(1000))
    #expect(!pace.isDue(2, 20, 1, at: at(1999)))
    #expect(pace.isDue(2, 10, 1, at: at(2000)))
    #expect(!pace.isDue(1, 10, 1, at: at(10_999)))
    #expect(pace.isDue(1, 10, 1, at: at(11_000)))
  }

  @Test func `Rates are those of late`() {
    var pace = RunProgressPace(start: at(0))
    #expect(pace.take(10, 1000, 1, at: at(1000)) == (10, 1000))
    for second in 2...20 { _ = pace.take(10 + second, 1000, 1, at: at(second * 1000)) }
    #expect(pace.take(31, 1000, 1, at: at(21_000)) == (1, 0))
  }

  @Test func `An item's progress is told at most twice a second, whatever try it is in`() {
    var pace = ItemProgressPace()
    #expect(pace.pass("a", attempt: 1, ratio: 0.1, items: 1, at: at(0)) == (true, 0.1))
    #expect(pace.pass("a", attempt: 1, ratio: 0.2, items: 1, at: at(499)) == (false, nil))
    #expect(pace.pass("b", attempt: 1, ratio: 0.2, items: 1, at: at(499)) == (true, 0.2))
    #expect(pace.pass("a", attempt: 2, ratio: 0.0, items: 1, at: at(499)) == (false, nil))
    #expect(pace.pass("a", attempt: 2, ratio: 0.0, items: 1, at: at(500)) == (true, 0.0))
  }

  @Test func `A ratio never falls within a try, and starts anew with the next`() {
    var pace = ItemProgressPace()
    #expect(pace.pass("a", attempt: 1, ratio: 0.8, items: 1, at: at(0)).ratio == 0.8)
    #expect(pace.pass("a", attempt: 1, ratio: 0.3, items: 1, at: at(500)).ratio == 0.8)
    #expect(pace.pass("a", attempt: 1, ratio: 1.7, items: 1, at: at(1000)).ratio == 1)
    #expect(pace.pass("a", attempt: 2, ratio: 0.3, items: 1, at: at(1500)).ratio == 0.3)
    #expect(pace.pass("a", attempt: 2, ratio: nil, items: 1, at: at(2000)) == (true, nil))
  }

  @Test func `Past a thousand items single items tell no progress`() {
    var pace = ItemProgressPace()
    #expect(pace.pass("a", attempt: 1, ratio: 0.1, items: 1000, at: at(0)).tell)
    #expect(!pace.pass("b", attempt: 1, ratio: 0.1, items: 1001, at: at(0)).tell)
  }

  @Test func `Where several exit codes hold, the strongest is the one`() {
    let order = [70, 2, 3, 6, 130, 143, 129, 124, 4, 1, 5, 0]
    #expect(ExitCode.precedence.map(\.rawValue).filter { $0 != 75 } == order)
    for (place, strong) in order.enumerated() {
      for weak in order[place...] {
        let codes = [weak, strong].compactMap { ExitCode(rawValue: $0) }
        #expect(ExitCode.strongest(codes).rawValue == strong)
      }
    }
    #expect(ExitCode.strongest([]) == .done)
    #expect([1, 2, 15, 9].map { ExitCode(signal: $0)?.rawValue } == [129, 130, 143, nil])
    #expect(Set(ExitCode.precedence) == Set(ExitCode.allCases))
  }
}
