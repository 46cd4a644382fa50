public import FlowBase

/// What a run would do, and why, as far as that can be known beforehand.
public struct Forecast: Sendable {
  /// What is to be done about one item.
  public struct ItemOutlook: Sendable, Hashable {
    /// Its name.
    public var name: String
    /// Its address.
    public var url: String?
    /// Why there is work; nil where an earlier run has done everything.
    public var reason: String?
    /// Whether its bytes have to be fetched again, in words; only where that was asked for.
    public var bytes: String?
  }

  /// What is to be done at one stage.
  public struct StageOutlook: Sendable, Hashable {
    /// Its id.
    public var id: String
    /// The op's name.
    public var op: String
    /// How many operations there are in all, as far as no filter takes items away; nil where nobody can know.
    public var operations: Int?
    /// How many of them would run; nil where nobody can know.
    public var toRun: Int?
    /// How many are done.
    public var done: Int?
    /// Whether a stage before it decides which items come so far, so that the numbers are upper bounds.
    public var isUpperBound: Bool
  }

  /// A source and the number of its items.
  public struct SourceOutlook: Sendable, Hashable {
    /// Its id.
    public var id: String
    /// How many items it gives.
    public var items: Int
    /// How many entries are no good.
    public var broken: Int
    /// Whether it lies on another host, which is only asked when the manifest is run.
    public var isElsewhere = false
  }

  /// A host that would be asked.
  public struct HostOutlook: Sendable, Hashable {
    /// Its name and port.
    public var host: String
    /// How many requests it would get.
    public var requests: Int
    /// The most connections to it.
    public var connections: Int
    /// The least time that its limits leave; nil where only its speed counts.
    public var leastTime: Interval?
  }

  /// Files that are there and would be written anew, as far as names are known beforehand.
  public struct OverwriteOutlook: Sendable, Hashable {
    /// How many of them earlier runs have made.
    public var ours = 0
    /// How many of them no run has made.
    public var foreign = 0
    /// The first of those that no run has made.
    public var some: [String] = []

    /// Files that would be written anew.
    public init(ours: Int = 0, foreign: Int = 0, some: [String] = []) {
      self.ours = ours
      self.foreign = foreign
      self.some = some
    }
  }

  /// What came of asking the hosts.
  public struct OnlineOutlook: Sendable, Hashable {
    /// How many items were asked for.
    public var asked = 0
    /// How many of them are there.
    public var found = 0
    /// Why the others are not, by code.
    public var failures: [String: Int] = [:]

    /// What came of it.
    public init(asked: Int = 0, found: Int = 0, failures: [String: Int] = [:]) {
      self.asked = asked
      self.found = found
      self.failures = failures
    }
  }

  /// The sources.
  public var sources: [SourceOutlook] = []
  /// The stages, in the order of the plan.
  public var stages: [StageOutlook] = []
  /// How many items would be worked on, by reason.
  public var reasons: [(reason: String, count: Int)] = []
  /// The hosts that would be asked, the busiest first.
  public var hosts: [HostOutlook] = []
  /// How many items there are.
  public var items = 0
  /// How many of them need no work.
  public var done = 0
  /// The bytes of the items to work on, as far as the sources name sizes.
  public private(set) var knownBytes = 0
  /// How many of the items to work on have no known size.
  public var unknownSizes = 0
  /// Files that would be written anew.
  public var overwrites = OverwriteOutlook()
  /// What the hosts said, where they were asked.
  public var online: OnlineOutlook?
  /// Files of earlier runs that no item makes any more.
  public var orphans: [String] = []
  /// How many such files there are.
  public var orphanCount = 0

  /// Counts bytes of an item; what hosts say of them may be any number.
  mutating func add(bytes: Int) {
    knownBytes = knownBytes.addingSaturating(max(0, bytes))
  }

  /// Whether there is nothing to do.
  public var isIdle: Bool { items == done }
}
