public import FlowBase

/// Says whether a host may be asked, before a slot is taken for it: a pure value.
///
/// A host is one thing, whatever stages ask it: its connections, its rate, and its wish to be left alone hold for all.
/// After a refusal the host rests for as long as it said; one probe goes first; then requests grow back, within a
/// budget: as many in each rest period as it had answered in the period before the refusal.
public struct HostGate: Sendable {
  /// What the user allows for a host.
  public struct Limits: Sendable, Hashable {
    /// The most requests in flight.
    public var connections: Int
    /// The least time between two starts, in nanoseconds.
    public var spacing: Int

    /// Limits.
    public init(connections: Int = 6, spacing: Int = 0) {
      self.connections = max(1, connections)
      self.spacing = max(0, spacing)
    }
  }

  /// How a request to a host ended, as far as courtesy cares.
  public enum Ending: Sendable, Hashable {
    /// It answered.
    case answered
    /// It asked to be left alone, for so long if it said so.
    case refused(retryAfter: Interval?)
    /// Something else: no answer, or an interruption.
    case other
  }

  /// What is known of one host.
  struct Host: Sendable {
    var limits: Limits
    var inFlight = 0
    var waiting = 0
    /// How many may be in flight by now; between 1 and the limit.
    var height: Int
    /// Answers since the height last changed.
    var answersAtHeight = 0
    var nextStart = Int.min
    var restsUntil = Int.min
    var isProbing = false
    /// The length of the budget's period; 0 before the first refusal.
    var period = 0
    var periodStart = Int.min
    var startsInPeriod = 0
    var answersInPeriod = 0
    var budget = Int.max
    var cleanPeriods = 0
    var wake = Int.max
  }

  /// How many requests a host is asked at first, whatever it may be asked later.
  static let firstHeight = 6
  /// After how many answers without a refusal the height doubles.
  static let answersToGrow = 100
  /// How long a host rests that named no time.
  static let restWithoutWord = 1_000_000_000
  /// After how many clean periods the budget grows by a tenth.
  static let cleanPeriodsToGrow = 3

  private(set) var hosts: [Host] = []
  private var total: Int
  private var inFlight = 0
  /// Hosts that have operations waiting, in the order in which they are looked at.
  private var line = Ring<Int>()
  private var isInLine: [Bool] = []
  private var alarms = Agenda<Int>()

  /// A gate that lets at most so many requests through at once, over all hosts.
  public init(total: Int) { self.total = max(1, total) }

  /// Makes a host known and gives it its number.
  public mutating func add(_ limits: Limits) -> Int {
    hosts.append(Host(limits: limits, height: min(limits.connections, HostGate.firstHeight)))
    isInLine.append(false)
    return hosts.count - 1
  }

  /// Changes what the user allows for a host.
  public mutating func set(_ limits: Limits, of host: Int) {
    hosts[host].limits = limits
    hosts[host].height = max(1, min(limits.connections, max(hosts[host].height, HostGate.firstHeight)))
  }

  /// Changes how many requests may be under way over all hosts.
  public mutating func set(total: Int) { self.total = max(1, total) }

  /// How many requests of a host are under way.
  public func inFlight(host: Int) -> Int { hosts[host].inFlight }

  /// Lets a request through, or notes that one waits for this host.
  public mutating func mayStart(_ host: Int, at now: Instant) -> Bool {
    if inFlight < total, let wake = obstacle(host, now.nanoseconds) {
      hosts[host].waiting += 1
      enter(host)
      setAlarm(host, wake)
      return false
    }
    guard inFlight < total else {
      hosts[host].waiting += 1
      enter(host)
      return false
    }
    start(host, now.nanoseconds)
    return true
  }

  /// Takes note of a request's end.
  public mutating func ended(_ host: Int, _ ending: Ending, at now: Instant) {
    hosts[host].inFlight -= 1
    inFlight -= 1
    switch ending {
    case .answered: answered(host, now.nanoseconds)
    case .refused(let retryAfter): refused(host, retryAfter, now.nanoseconds)
    case .other: break
    }
  }

  /// The hosts that may be asked now, and how often, for those whose operations wait.
  public mutating func opened(at now: Instant) -> [(host: Int, count: Int)] {
    while let host = alarms.popDue(by: now.nanoseconds) {
      hosts[host].wake = .max
      enter(host)
    }
    var opened: [(host: Int, count: Int)] = []
    var room = total - inFlight
    for _ in 0..<line.count where room > 0 {
      guard let host = line.popFirst() else { break }
      isInLine[host] = false
      guard hosts[host].waiting > 0 else { continue }
      if let wake = obstacle(host, now.nanoseconds) {
        // Without an alarm, it is the end of one of its own requests that lets it go on.
        if wake < .max { setAlarm(host, wake) } else { enter(host) }
        continue
      }
      let count = min(room, hosts[host].waiting, allowance(host))
      hosts[host].waiting -= count
      room -= count
      opened.append((host, count))
      if hosts[host].waiting > 0 { enter(host) }
    }
    return opened
  }

  /// When time alone will open a host.
  public var nextWake: Instant? { alarms.earliest.map { Instant(nanoseconds: $0) } }

  /// Until when a host rests; nil where it does not.
  public func rest(of host: Int, at now: Instant) -> Interval? {
    hosts[host].restsUntil > now.nanoseconds ? Interval(nanoseconds: hosts[host].restsUntil - now.nanoseconds) : nil
  }

  /// Nil where the host may be asked; else when it may, `.max` where that depends on other requests.
  private mutating func obstacle(_ host: Int, _ now: Int) -> Int? {
    rollPeriod(host, now)
    let state = hosts[host]
    if state.restsUntil > now { return state.restsUntil }
    if state.isProbing { return state.inFlight > 0 ? .max : nil }
    if state.inFlight >= min(state.height, state.limits.connections) { return .max }
    if state.startsInPeriod >= state.budget { return state.periodStart + state.period }
    if state.nextStart > now { return state.nextStart }
    return nil
  }

  /// How many may start at once, where no obstacle stands.
  private func allowance(_ host: Int) -> Int {
    let state = hosts[host]
    if state.isProbing || state.limits.spacing > 0 { return 1 }
    let byHeight = min(state.height, state.limits.connections) - state.inFlight
    return max(1, min(byHeight, state.budget == .max ? .max : state.budget - state.startsInPeriod))
  }

  private mutating func start(_ host: Int, _ now: Int) {
    hosts[host].inFlight += 1
    inFlight += 1
    hosts[host].startsInPeriod += 1
    if hosts[host].limits.spacing > 0 { hosts[host].nextStart = now + hosts[host].limits.spacing }
  }

  private mutating func answered(_ host: Int, _ now: Int) {
    hosts[host].isProbing = false
    hosts[host].answersInPeriod += 1
    hosts[host].answersAtHeight += 1
    if hosts[host].answersAtHeight >= HostGate.answersToGrow {
      hosts[host].answersAtHeight = 0
      hosts[host].height = min(hosts[host].limits.connections, hosts[host].height * 2)
    }
  }

  private mutating func refused(_ host: Int, _ retryAfter: Interval?, _ now: Int) {
    let rest = min(max(retryAfter?.nanoseconds ?? HostGate.restWithoutWord, 1_000_000), 600_000_000_000)
    let isFirstOfItsKind = hosts[host].restsUntil <= now
    hosts[host].restsUntil = max(hosts[host].restsUntil, now + rest)
    hosts[host].isProbing = true
    hosts[host].answersAtHeight = 0
    guard isFirstOfItsKind else { return }
    hosts[host].height = max(1, hosts[host].height / 2)
    let answers = hosts[host].answersInPeriod
    hosts[host].budget =
      hosts[host].period == 0
      ? max(1, answers) : max(1, min(hosts[host].budget, max(answers, hosts[host].budget * 9 / 10)))
    hosts[host].period = rest
    hosts[host].cleanPeriods = 0
    hosts[host].periodStart = now + rest
    hosts[host].startsInPeriod = 0
    hosts[host].answersInPeriod = 0
  }

  /// Begins the budget's next period where the last has gone by.
  private mutating func rollPeriod(_ host: Int, _ now: Int) {
    // Before the first refusal the period is a second, so that a budget can be taken from it.
    let length = hosts[host].period == 0 ? HostGate.restWithoutWord : hosts[host].period
    if hosts[host].periodStart == .min { hosts[host].periodStart = now }
    guard now - hosts[host].periodStart >= length else { return }
    hosts[host].periodStart += (now - hosts[host].periodStart) / length * length
    if hosts[host].budget < .max, hosts[host].startsInPeriod >= hosts[host].budget {
      hosts[host].cleanPeriods += 1
      if hosts[host].cleanPeriods >= HostGate.cleanPeriodsToGrow {
        hosts[host].cleanPeriods = 0
        hosts[host].budget += max(1, hosts[host].budget / 10)
      }
    }
    hosts[host].startsInPeriod = 0
    hosts[host].answersInPeriod = 0
  }

  private mutating func enter(_ host: Int) {
    guard !isInLine[host] else { return }
    isInLine[host] = true
    line.append(host)
  }

  private mutating func setAlarm(_ host: Int, _ wake: Int) {
    guard wake < hosts[host].wake else { return }
    hosts[host].wake = wake
    alarms.add(host, due: wake)
  }
}
