public import FlowBase

/// Says whether a host may be asked, before a slot is taken for it: a pure value.
///
/// A host is one thing, whatever stages ask it: its connections, its rate, and its wish to be left alone hold for all.
/// After a refusal the host rests for as long as it said; one probe goes first; then requests grow back, within a
/// budget: as many in each rest period as it had answered in the period before the refusal.
///
/// Call `mayStart` before a request; where it says no, hold the operation until `opened` names its host. Call `opened`
/// after each batch of ends, and when `nextWake` has come.
public struct HostGate: Sendable {
  /// What the user allows for a host.
  public struct Limits: Sendable, Hashable {
    /// The most requests in flight.
    public var connections: Int
    /// The least time between two starts, in nanoseconds.
    public var spacing: Int
    /// The most requests on one connection, where it carries several.
    public var streams: Int

    /// Limits.
    public init(connections: Int = 6, spacing: Int = 0, streams: Int = 64) {
      self.connections = max(1, connections)
      self.spacing = max(0, spacing)
      self.streams = max(1, streams)
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

  private(set) var hosts: [Host] = []
  private var total: Int
  private var inFlight = 0
  /// Requests that were let in and have not come yet, over all hosts.
  private var granted = 0
  /// Whether requests wait for nothing but the limit over all hosts; new ones then wait behind them.
  private var isFull = false
  /// Hosts that have operations waiting and may be open, in the order in which they are looked at.
  private var line = Ring<Int>()
  private var alarms = Agenda<Int>()
  /// Whether nobody is let in, for reasons that no host has given.
  public var isShut = false

  /// A gate that lets at most so many requests through at once, over all hosts.
  public init(total: Int) { self.total = max(1, total) }

  /// Makes a host known and gives it its number.
  public mutating func add(_ limits: Limits) -> Int {
    hosts.append(Host(limits))
    return hosts.count - 1
  }

  /// Changes what the user allows for a host.
  public mutating func set(_ limits: Limits, of host: Int) {
    hosts[host].set(limits)
    if hosts[host].waiting > 0 { enter(host) }
  }

  /// Takes note that a host's connections carry several requests at once, so that its limit is that of streams.
  public mutating func carriesStreams(_ host: Int) { hosts[host].carriesStreams = true }

  /// Whether requests wait for nothing but the limit over all hosts.
  public var isAtLimit: Bool { isFull }

  /// Holds a host back, or lets it be asked again: what is under way goes on.
  public mutating func setHeld(_ host: Int, _ isHeld: Bool) {
    hosts[host].isHeld = isHeld
    if !isHeld, hosts[host].waiting > 0 { enter(host) }
  }

  /// Changes how many requests may be under way over all hosts.
  public mutating func set(total: Int) { self.total = max(1, total) }

  /// How many requests of a host are under way.
  public func inFlight(host: Int) -> Int { hosts[host].inFlight }

  /// Until when a host rests; nil where it does not.
  public func rest(of host: Int, at now: Instant) -> Interval? {
    hosts[host].restsUntil > now.nanoseconds ? Interval(nanoseconds: hosts[host].restsUntil - now.nanoseconds) : nil
  }

  /// When time alone will open a host.
  public var nextWake: Instant? { alarms.earliest.map { Instant(nanoseconds: $0) } }

  /// Lets a request through, or notes that one waits for this host.
  public mutating func mayStart(_ host: Int, at now: Instant) -> Bool {
    let now = now.nanoseconds
    let wasLetIn = hosts[host].granted > 0
    if wasLetIn { takeBack(1, from: host) }
    let obstacle = hosts[host].obstacle(now)
    let isRoom = !isShut && inFlight + granted < total
    // What has waited goes first, of this host and of those that wait for room.
    if obstacle == nil, isRoom, wasLetIn || (hosts[host].waiting == 0 && !isFull) {
      hosts[host].start(now)
      inFlight += 1
      if hosts[host].waiting > 0 { look(at: host, now) }
      return true
    }
    hosts[host].waiting += 1
    if !isRoom { isFull = true }
    look(at: host, now)
    return false
  }

  /// Hears when a request was really begun that had been let in, for the host's interval.
  public mutating func hasStarted(_ host: Int, at instant: Instant) { hosts[host].hasStarted(instant.nanoseconds) }

  /// Takes note of a request's end.
  public mutating func ended(_ host: Int, _ ending: Ending, at now: Instant) {
    guard hosts[host].inFlight > 0 else { return }
    inFlight -= 1
    hosts[host].end(ending, now.nanoseconds)
    if hosts[host].waiting > 0 { enter(host) }
  }

  /// The hosts that may be asked now, and how often, for those whose operations wait.
  public mutating func opened(at now: Instant) -> [(host: Int, count: Int)] {
    let now = now.nanoseconds
    takeAlarms(now)
    var opened: [(host: Int, count: Int)] = []
    var room = isShut ? 0 : total - inFlight - granted
    while room > 0, !line.isEmpty {
      // Each host gets its share of the room; what is left goes round again.
      let share = max(1, room / line.count)
      for _ in 0..<line.count where room > 0 {
        guard let host = line.popFirst() else { break }
        hosts[host].isInLine = false
        guard hosts[host].waiting > 0 else { continue }
        if hosts[host].obstacle(now) == nil {
          let count = min(share, room, hosts[host].waiting, hosts[host].allowance(now))
          grant(count, to: host, now)
          room -= count
          opened.append((host, count))
        }
        if hosts[host].waiting > 0 { look(at: host, now) }
      }
    }
    isFull = room <= 0 && !line.isEmpty
    return opened
  }

  private mutating func takeAlarms(_ now: Int) {
    while let host = alarms.popDue(by: now) {
      if hosts[host].wake <= now { hosts[host].wake = .max }
      if hosts[host].granted > 0 {
        if hosts[host].grantsEnd <= now {
          takeBack(hosts[host].granted, from: host)
        } else {
          setAlarm(host, hosts[host].grantsEnd)
        }
      }
      if hosts[host].waiting > 0 { enter(host) }
    }
  }

  /// Lets so many in that wait; what does not come in time, because it was cancelled or has no slot, loses its turn.
  private mutating func grant(_ count: Int, to host: Int, _ now: Int) {
    hosts[host].waiting -= count
    hosts[host].granted += count
    hosts[host].grantsEnd = now.addingSaturating(HostGate.grantTime)
    granted += count
    setAlarm(host, hosts[host].grantsEnd)
  }

  private mutating func takeBack(_ count: Int, from host: Int) {
    hosts[host].granted -= count
    granted -= count
  }

  /// Has a host looked at again when what stands in its way is gone.
  private mutating func look(at host: Int, _ now: Int) {
    switch hosts[host].obstacle(now) {
    case nil: enter(host)
    case Int.max?: break  // The end of one of its own requests, or of its grants, opens it.
    case let wake?: setAlarm(host, wake)
    }
  }

  private mutating func enter(_ host: Int) {
    guard !hosts[host].isInLine else { return }
    hosts[host].isInLine = true
    line.append(host)
  }

  private mutating func setAlarm(_ host: Int, _ wake: Int) {
    guard wake < hosts[host].wake else { return }
    hosts[host].wake = wake
    alarms.add(host, due: wake)
  }
}
