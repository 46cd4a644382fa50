public import FlowBase

/// A run, as `imgflow runs` and `imgflow status` show it.
public struct RunRecord: Sendable, Hashable {
  /// Its number in this journal, from 1; given by `Journal.beginRun`.
  public var number: Int
  /// Its id.
  public var id: String
  /// The manifest's path.
  public var manifest: String
  /// The manifest's SHA-256 in hex.
  public var manifestDigest: String
  /// When it started.
  public var started: WallTime
  /// When it ended; nil while it runs, and for a run that was killed.
  public var ended: WallTime?
  /// `success`, `failure`, `error`, `timeout` or `cancelled`; nil before its end.
  public var result: String?
  /// Its exit code.
  public var exit: Int?
  /// Whether every source was read to its end and every item that was to take part ended.
  public var isComplete: Bool
  /// Whether all items were to take part: only such a run that is complete tells which outputs are orphans.
  public var isWhole: Bool
  /// Counts and whatever else is told of it.
  public var facts: Fields

  /// A record.
  public init(
    number: Int = 0, id: String, manifest: String, manifestDigest: String, started: WallTime, ended: WallTime? = nil,
    result: String? = nil, exit: Int? = nil, isComplete: Bool = false, isWhole: Bool = true,
    facts: Fields = [:]
  ) {
    self.number = number
    self.id = id
    self.manifest = manifest
    self.manifestDigest = manifestDigest
    self.started = started
    self.ended = ended
    self.result = result
    self.exit = exit
    self.isComplete = isComplete
    self.isWhole = isWhole
    self.facts = facts
  }
}

/// A stage on one leg, as the plan has it.
public struct NodeName: Sendable, Hashable {
  /// The stage's id.
  public var stage: String
  /// The leg's place on the axes.
  public var leg: Fields

  /// A name.
  public init(stage: String, leg: Fields = [:]) {
    self.stage = stage
    self.leg = leg
  }
}

/// How far a source was read.
public struct SourceRecord: Sendable, Hashable {
  /// Its number, from `Journal.register`.
  public var source: Int
  /// The number of the run that read it.
  public var run: Int
  /// How many items it has, where known.
  public var total: Int?
  /// How many items came out of it so far.
  public var items: Int
  /// How many equal duplicates it held so far.
  public var duplicates: Int
  /// Whether it was read to its end.
  public var isExhausted: Bool

  /// A record.
  public init(source: Int, run: Int, total: Int? = nil, items: Int, duplicates: Int = 0, isExhausted: Bool) {
    self.source = source
    self.run = run
    self.total = total
    self.items = items
    self.duplicates = duplicates
    self.isExhausted = isExhausted
  }
}

/// An item's leg that waits at a gate for all others.
public struct ParkedRecord: Sendable, Hashable {
  /// Its place in the order of arrival; given by the journal.
  public var seq: Int
  /// The gate: the node that waits.
  public var gate: Int
  /// The item.
  public var item: ItemID
  /// The number of the run.
  public var run: Int
  /// What is needed to go on.
  public var state: Fields

  /// A record.
  public init(seq: Int = 0, gate: Int, item: ItemID, run: Int, state: Fields = [:]) {
    self.seq = seq
    self.gate = gate
    self.item = item
    self.run = run
    self.state = state
  }
}

/// That a leg of an item belongs to a group of a stage that gathers.
public struct MembershipRecord: Sendable, Hashable {
  /// The stage that gathers.
  public var barrier: Int
  /// The group's value as JSON.
  public var group: String
  /// The item.
  public var item: ItemID
  /// The item's source.
  public var source: Int
  /// The item's place in its source.
  public var index: Int
  /// The node that the leg came out of.
  public var node: Int
  /// The number of the run.
  public var run: Int

  /// A record.
  public init(barrier: Int, group: String, item: ItemID, source: Int, index: Int, node: Int, run: Int) {
    self.barrier = barrier
    self.group = group
    self.item = item
    self.source = source
    self.index = index
    self.node = node
    self.run = run
  }
}

/// How a stage that gathers ended for a group or for the run.
public struct BarrierRecord: Sendable, Hashable {
  /// The stage.
  public var node: Int
  /// The group's value as JSON; empty for the whole run.
  public var group: String
  /// The digest of the sorted list of (item, digest) that it worked on.
  public var digest: [UInt8]
  /// How it ended.
  public var status: ItemStatus
  /// The number of the run.
  public var run: Int
  /// What is told of it again when nothing changed.
  public var facts: Fields
  /// Why it failed.
  public var fault: Fault?
  /// Which of its outputs count for the run, or nil for all; this is only written.
  public var paths: [String]?

  /// A record.
  public init(
    node: Int, group: String, digest: [UInt8], status: ItemStatus, run: Int, facts: Fields = [:], fault: Fault? = nil,
    paths: [String]? = nil
  ) {
    self.node = node
    self.group = group
    self.digest = digest
    self.status = status
    self.run = run
    self.facts = facts
    self.fault = fault
    self.paths = paths
  }
}
