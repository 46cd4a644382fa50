public import FlowBase
internal import FlowParts

/// What a single run is asked for beside its manifest.
public struct RunOptions: Sendable {
  /// Everything is done again, whatever earlier runs have done.
  public var fresh = false
  /// Only these sources take part; empty is all.
  public var only: [String] = []
  /// The most items that take part.
  public var take: Int?
  /// Only what failed last time, as far as it matches.
  public var failedOnly: FailureFilter?
  /// Whether outputs of earlier runs that no item makes any more are removed at the end.
  public var prunes = false
  /// When the whole run is cut off.
  public var deadline: Interval?
  /// How long a drain after a signal may take.
  public var grace = Interval.seconds(10)
  /// Whether what is there is compared by its bytes rather than by what the file system says.
  public var checksDigests = false
  /// Whether a state directory that another run holds is waited for.
  public var waitsForLock = false
  /// What the items have to be; nil where nothing is locked.
  public var lock: LockFile?
  /// Whether what is fetched comes out of the content store, and nobody is asked.
  public var isFrozen = false
  /// Who let the run begin, where it waited for that.
  public var startedBy: String?
  /// Whether all items are to take part.
  var isWhole: Bool { only.isEmpty && take == nil && failedOnly == nil && admits == nil }
  /// Which items take part; nil is all.
  var admits: (@Sendable (Item) -> Bool)?
  /// The most items under way at once.
  public var window = 1024
  /// The program's version, for `stream.start`.
  public var tool = "0.1.0"
  /// Connections that are used where the manifest names no limit.
  public static let automaticConnections = 32
  /// To how many they grow while more of them bring more.
  public static let mostAutomaticConnections = 512
  /// Connections to a host where the manifest names no limit for it.
  public var hostConnections = 6

  /// What most runs are asked for.
  public init() {}
}

/// Which failures of the last run are tried again.
public struct FailureFilter: Sendable, Hashable {
  /// Only faults of these classes.
  public var kinds: Set<FaultClass>
  /// Only faults of these codes.
  public var codes: Set<String>
  /// Only faults of these hosts.
  public var hosts: Set<String>

  /// A filter; an empty set lets everything pass.
  public init(kinds: Set<FaultClass> = [], codes: Set<String> = [], hosts: Set<String> = []) {
    self.kinds = kinds
    self.codes = codes
    self.hosts = hosts
  }

  /// Whether a failure is one of those meant.
  func matches(_ fault: Fault) -> Bool {
    (kinds.isEmpty || kinds.contains(fault.kind)) && (codes.isEmpty || codes.contains(fault.code))
      && (hosts.isEmpty || fault.host.map(hosts.contains) ?? false)
  }
}
