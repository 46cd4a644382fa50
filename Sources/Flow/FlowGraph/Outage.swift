public import FlowBase

/// Tells a network that is gone from hosts that do not answer: a pure value.
///
/// After a failure that a lost network may have caused, somebody looks whether the host can be reached at all, and says
/// here what was found. Where nothing can be reached, the run is to wait, and to look again from time to time.
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
  /// The host that is tried while the network is gone.
  public private(set) var host = ""
  /// Hosts that took no connection, since one did.
  private var closed: Set<String> = []
  private var wait = Outage.waits.first

  /// The wait before the first look, and the longest between two.
  static let waits = (first: Interval.milliseconds(500), longest: Interval.seconds(10))

  /// Nothing is known yet.
  public init() {}

  /// A host has answered.
  public mutating func answered() { closed.removeAll() }

  /// Takes note of what was found after a failure; whether the network is gone.
  ///
  /// One host that takes no connections is that host's failure; only where several do, and none does otherwise, is it
  /// the network's.
  public mutating func found(_ finding: Finding, at host: String) -> Bool {
    switch finding {
    case .open:
      closed.removeAll()
      return false
    case .gone: closed.removeAll()
    case .refused, .silent:
      closed.insert(host)
      guard closed.count > 1 else { return false }
    }
    if !isOffline {
      isOffline = true
      wait = Outage.waits.first
      self.host = host
    }
    return true
  }

  /// How long to wait until the next look.
  public mutating func nextWait() -> Interval {
    defer { wait = min(Outage.waits.longest, Interval(nanoseconds: wait.nanoseconds * 2)) }
    return wait
  }

  /// Takes note of a look while the network is gone; whether it is back.
  public mutating func looked(_ finding: Finding) -> Bool {
    guard isOffline, finding == .open || finding == .refused && closed.isEmpty else { return false }
    isOffline = false
    closed.removeAll()
    return true
  }

  /// Somebody else has decided to go on.
  public mutating func end() {
    isOffline = false
    closed.removeAll()
  }
}
