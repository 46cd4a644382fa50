import FlowBase
import FlowGraph
import Testing

struct RetryPolicyTests {
  let policy = RetryPolicy(
    attempts: 5, shortest: .milliseconds(500), longest: .seconds(60), classes: [.transient, .quota])

  @Test(arguments: [
    (1, 500), (2, 1_000), (3, 2_000), (4, 4_000),
  ])
  func `The wait lies between nothing and a ceiling that doubles`(_ attempt: Int, _ ceiling: Int) {
    let fault = Fault("net.reset", .transient, "")
    #expect(policy.delay(after: fault, attempt: attempt, chance: 0) == .zero)
    #expect(policy.delay(after: fault, attempt: attempt, chance: 0.5) == .milliseconds(ceiling / 2))
    #expect(policy.delay(after: fault, attempt: attempt, chance: 1) == .milliseconds(ceiling))
  }

  @Test func `The ceiling is the longest wait, however many tries there were`() {
    let patient = RetryPolicy(
      attempts: .max, shortest: .milliseconds(500), longest: .seconds(60), classes: [.transient])
    let fault = Fault("net.reset", .transient, "")
    for attempt in [8, 9, 60, 100_000, Int.max - 1] {
      #expect(patient.delay(after: fault, attempt: attempt, chance: 1) == .seconds(60))
    }
  }

  @Test func `The last try is not followed by another`() {
    let fault = Fault("net.reset", .transient, "")
    #expect(policy.delay(after: fault, attempt: 4, chance: 0.5) != nil)
    #expect(policy.delay(after: fault, attempt: 5, chance: 0.5) == nil)
    #expect(policy.delay(after: fault, attempt: 6, chance: 0.5) == nil)
  }

  @Test(arguments: FaultClass.allCases)
  func `Only the classes that are named are tried again`(_ kind: FaultClass) {
    let delay = policy.delay(after: Fault("any", kind, ""), attempt: 1, chance: 0.5)
    #expect((delay != nil) == (kind == .transient || kind == .quota))
  }

  @Test(arguments: [
    (Interval.seconds(7), Interval.seconds(7)), (.seconds(600), .seconds(600)), (.seconds(601), .seconds(600)),
    (Interval(nanoseconds: .max), .seconds(600)),
    // No shorter than by ourselves: all tries would be over in a moment.
    (.milliseconds(151), .milliseconds(151)), (.zero, .milliseconds(150)),
    (Interval(nanoseconds: -1), .milliseconds(150)),
  ])
  func `A host's own word is followed, up to ten minutes`(_ asked: Interval, _ expected: Interval) {
    let fault = Fault("http.429", .quota, "", retryAfter: asked)
    #expect(policy.delay(after: fault, attempt: 1, chance: 0.3) == expected)
  }

  @Test func `A chance outside of 0 to 1 is taken as the nearer bound`() {
    let fault = Fault("net.reset", .transient, "")
    #expect(policy.delay(after: fault, attempt: 1, chance: -3) == .zero)
    #expect(policy.delay(after: fault, attempt: 1, chance: 7) == .milliseconds(500))
  }
}
