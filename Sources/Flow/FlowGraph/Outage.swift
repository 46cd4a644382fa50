public import FlowBase

/// Tells a network that is gone from hosts that do not answer: a pure value.
///
/// After a failure that a lost network may have caused, somebody looks whether the host can be reached at all, and says
/// here what was found. Where nothing can be reached, the run is to wait, and to look again from time to time: at that
/// host and at others, since one may be out of reach while the network is there.
public struct Outage: Sendable {
  /// What was found when somebody tried to reach a host.
  public enum Finding: Sendable, Hashable {
    /// It takes connections.
    case open
    /// It is there and takes none.
    case refused
    /// Nothing came back.
    case silent
    /// There is no way there, or nobody who resolves names.
    case gone
  }

  /// Whether the network is gone, as far as is known.
  public private(set) var isOffline = false
  /// The hosts that are tried in turn while the network is gone.
  private var targets: [String] = []
  /// How many looks have found nothing.
  private var looks = 0
  /// Whether there was no way at all, and not only hosts that took no connections.
  private var hasNoWay = false
  /// The hosts that answered last, the latest first.
  private var answering: [String] = []
  /// Hosts that took no connection, since one did.
  private var closed: Set<String> = []
  /// Hosts for whose sake the network is taken to be gone.
  private var suspects: Set<String> = []
  /// Hosts that were out of reach while others were not, and have not answered since: their failures are their own.
  private var lost: Set<String> = []
  /// Hosts of which that may be so: others were out of reach with them, and came back first.
  private var doubted: Set<String> = []
  private var wait = Outage.waits.first

  /// The wait before the first look, and the longest between two.
  static let waits = (first: Interval.milliseconds(500), longest: Interval.seconds(10))
  /// How many hosts are remembered that have answered, and how many are looked at beside the one that failed.
  private static let most = 3

  /// Nothing is known yet.
  public init() {}

  /// The host that is to be looked at next while the network is gone.
  public var host: String { targets.isEmpty ? "" : targets[looks % targets.count] }

  /// A host has answered.
  public mutating func answered(by host: String) {
    if !closed.isEmpty { closed.removeAll() }
    if !lost.isEmpty { lost.remove(host) }
    if !doubted.isEmpty { doubted.remove(host) }
    guard answering.first != host else { return }
    answering.removeAll { $0 == host }
    answering.insert(host, at: 0)
    if answering.count > Outage.most { answering.removeLast() }
  }

  /// Takes note of what was found after a failure; whether the network is gone.
  ///
  /// One host that takes no connections is that host's failure; only where several do, and none does otherwise, is it
  /// the network's.
  ///
  /// - Parameters:
  ///   - others: further hosts of the run.
  ///   - isAlike: whether a host is as far away as this one, so that it tells of the same network.
  public mutating func found(
    _ finding: Finding, at host: String, others: some Sequence<String> = [], isAlike: (String) -> Bool = { _ in true }
  ) -> Bool {
    if finding == .open {
      closed.removeAll()
      lost.remove(host)
      doubted.remove(host)
      return false
    }
    if lost.contains(host) { return isOffline }
    if finding != .gone {
      closed.insert(host)
      guard closed.count > 1 else { return isOffline }
    }
    suspects.insert(host)
    if isOffline { return true }
    isOffline = true
    wait = Outage.waits.first
    hasNoWay = finding == .gone
    suspects.formUnion(closed)
    // Those that answered last tell most.
    targets = answering.filter { $0 != host && isAlike($0) }
    for other in others where other != host && isAlike(other) && !targets.contains(other) {
      if targets.count == Outage.most { break }
      targets.append(other)
    }
    targets.append(host)
    looks = 0
    return true
  }

  /// How long to wait until the next look.
  public mutating func nextWait() -> Interval {
    defer { wait = min(Outage.waits.longest, Interval(nanoseconds: wait.nanoseconds * 2)) }
    return wait
  }

  /// Takes note of a look at a host while the network is gone; whether it is back.
  public mutating func looked(_ finding: Finding, at host: String) -> Bool {
    guard isOffline else { return false }
    guard finding == .open || finding == .refused && hasNoWay && suspects.contains(host) else {
      looks += 1
      return false
    }
    // At the first look, or again, it may have been there all the time.
    for suspect in suspects where suspect != host && (looks == 0 || !doubted.insert(suspect).inserted) {
      lost.insert(suspect)
    }
    end()
    return true
  }

  /// Somebody else has decided to go on.
  public mutating func end() {
    isOffline = false
    closed.removeAll()
    suspects.removeAll()
  }
}
