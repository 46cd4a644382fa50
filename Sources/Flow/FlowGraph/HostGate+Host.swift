internal import FlowBase

extension HostGate {
  /// How many requests a host is asked at first, whatever it may be asked later.
  static let firstHeight = 6
  /// After how many answers without a refusal the height doubles.
  static let answersToGrow = 100
  /// How long a host rests that named no time.
  static let restWithoutWord = 1_000_000_000
  /// The shortest and the longest rest, whatever a host names.
  static let rests = 1_000_000...600_000_000_000
  /// After how many clean periods the budget grows by a tenth, at first; twice as many once growth was refused.
  static let periodsToGrow = 6
  /// How long an operation that was let in may take until it asks again.
  static let grantTime = 200_000_000
  /// How far starts within a budget may lag behind their pace and be made up for, in nanoseconds.
  static let paceCredit = 10_000_000

  /// What is known of one host.
  struct Host: Sendable {
    /// Where the one request stands that is to find out whether a refusal is over.
    enum Probe: Sendable { case none, due, underWay }

    private(set) var limits: Limits
    /// Whether nobody may ask it for now.
    var isHeld = false
    /// Whether one connection carries several requests at once.
    var carriesStreams = false
    var inFlight = 0
    /// Operations that wait for the host.
    var waiting = 0
    /// Operations that have waited, were let in and have not asked yet.
    var granted = 0
    var grantsEnd = Int.min
    var isInLine = false
    /// The time of the earliest alarm that is set.
    var wake = Int.max

    /// How many may be in flight by now, as far as the host is concerned.
    private(set) var height = HostGate.firstHeight
    private var answersAtHeight = 0
    private var nextStart = Int.min
    private(set) var restsUntil = Int.min
    private var probe = Probe.none

    /// The most starts in a period; `.max` before the first refusal.
    private(set) var budget = Int.max
    /// The length of a period; before the first refusal one is counted in so that a budget can be taken from it.
    private var period = HostGate.restWithoutWord
    private var periodStart = Int.min
    private var startsInPeriod = 0
    private var answersInPeriod = 0
    private var cleanPeriods = 0
    private var periodsToGrow = HostGate.periodsToGrow
    private var hasGrown = false
    /// Whether the host rests for the first time, so that late answers still count into the budget.
    private var isFirstRest = false
    /// Whether the last refusal took from the budget alone.
    private var isHeightSpared = false

    init(_ limits: Limits) { self.limits = limits }

    /// What the user allows, in requests.
    private var ceiling: Int { carriesStreams ? limits.connections * limits.streams : limits.connections }
    private var mostInFlight: Int { min(height, ceiling) }

    /// The time between two starts within the budget.
    private var pace: Int { budget == .max ? 0 : period / budget }

    /// Nil where the host may be asked; else when it may, `.max` where that depends on other requests.
    mutating func obstacle(_ now: Int) -> Int? {
      if isHeld { return .max }
      rollPeriod(now)
      if restsUntil > now { return restsUntil }
      let busy = inFlight + granted
      if probe != .none { return busy > 0 ? .max : nil }
      if busy >= mostInFlight { return .max }
      if budget != .max, startsInPeriod + granted >= budget { return periodStart.addingSaturating(period) }
      if nextStart > now { return nextStart }
      return limits.spacing > 0 && granted > 0 ? .max : nil
    }

    /// How many may be let in at once, where no obstacle stands.
    func allowance(_ now: Int) -> Int {
      if probe != .none || limits.spacing > 0 { return 1 }
      let byHeight = mostInFlight - inFlight - granted
      guard budget != .max else { return max(1, byHeight) }
      let byPace = pace > 0 && nextStart > .min ? (now - nextStart) / pace + 1 : byHeight
      return max(1, min(byHeight, budget - startsInPeriod - granted, byPace))
    }

    /// Takes new limits; a wait that the old distance between starts has set ends as the new one would have it.
    mutating func set(_ new: Limits) {
      if nextStart > .min, limits.spacing > 0 { nextStart += new.spacing - limits.spacing }
      limits = new
    }

    /// The next one keeps its distance from this one as it was, not from when it was let in.
    mutating func hasStarted(_ now: Int) {
      if limits.spacing > 0 { nextStart = max(nextStart, now.addingSaturating(limits.spacing)) }
    }

    mutating func start(_ now: Int) {
      inFlight += 1
      startsInPeriod += 1
      if probe == .due { probe = .underWay }
      isFirstRest = false
      if limits.spacing > 0 {
        nextStart = now.addingSaturating(limits.spacing)
      } else if budget != .max {
        nextStart = max(nextStart, now - HostGate.paceCredit).addingSaturating(pace)
      }
    }

    mutating func end(_ ending: Ending, _ now: Int) {
      inFlight -= 1
      switch ending {
      case .answered: answered(now)
      case .refused(let retryAfter): refused(retryAfter?.nanoseconds ?? HostGate.restWithoutWord, now)
      case .other: if probe == .underWay { probe = .due }
      }
    }

    private mutating func answered(_ now: Int) {
      rollPeriod(now)
      // Only a request that was made after the rest can say that the refusal is over.
      if probe == .underWay { probe = .none }
      answersInPeriod += 1
      guard restsUntil <= now else {
        // It was asked before the refusal, and only its answer is late.
        if isFirstRest { budget += 1 }
        return
      }
      answersAtHeight += 1
      guard answersAtHeight >= HostGate.answersToGrow else { return }
      answersAtHeight = 0
      // Above what the user allows there is nothing to grow to.
      height = min(max(height, ceiling), height * 2)
    }

    private mutating func refused(_ asked: Int, _ now: Int) {
      rollPeriod(now)
      let rest = min(max(asked, HostGate.rests.lowerBound), HostGate.rests.upperBound)
      // What was under way together is refused together, and is one refusal.
      let isFirst = restsUntil <= now && probe != .due
      restsUntil = max(restsUntil, now.addingSaturating(rest))
      probe = .due
      answersAtHeight = 0
      guard isFirst else { return }
      takeHeight()
      takeBudget()
      if hasGrown { periodsToGrow *= 2 }
      hasGrown = false
      cleanPeriods = 0
      // A little longer than the host counts, because requests take unequal times to reach it.
      period = rest + rest / 20
      periodStart = now.addingSaturating(rest)
      startsInPeriod = 0
      answersInPeriod = 0
    }

    /// Halves the height, unless it is the budget that was a little too large: just after it has grown, or once.
    private mutating func takeHeight() {
      if budget != .max, hasGrown || !isHeightSpared {
        isHeightSpared = true
      } else {
        height = max(1, mostInFlight / 2)
        isHeightSpared = false
      }
    }

    private mutating func takeBudget() {
      if budget == .max {
        budget = max(1, answersInPeriod)
        isFirstRest = true
      } else {
        budget = max(1, min(budget, max(answersInPeriod, budget * 19 / 20)))
      }
    }

    /// Begins the budget's next period where the last has gone by.
    private mutating func rollPeriod(_ now: Int) {
      if periodStart == .min { periodStart = now }
      guard now - periodStart >= period else { return }
      periodStart += (now - periodStart) / period * period
      if budget < .max, startsInPeriod >= budget {
        cleanPeriods += 1
        isHeightSpared = false
        if cleanPeriods >= periodsToGrow {
          cleanPeriods = 0
          budget += max(1, budget / 10)
          hasGrown = true
        }
      }
      startsInPeriod = 0
      answersInPeriod = 0
    }
  }
}
