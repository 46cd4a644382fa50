public import FlowBase

/// What does something with each leg of each item, or once with all results of a group or of the run.
///
/// A stage keeps no state between calls unless it locks it; calls run side by side up to the stage's concurrency.
public protocol Stage: Sendable {
  /// The host (`name:port`) that an operation will ask; operations of one host wait for that host, not for a slot.
  func host(of leg: Leg, config: Config) -> String?

  /// Works on one leg. Throw a `Fault` where it fails; what else is thrown counts as a bug.
  func run(_ leg: Leg, in context: StageContext) async throws -> StageResult

  /// Asks, without fetching anything, what `run` would bring; nil where there is nothing to ask.
  func look(at leg: Leg, in context: StageContext) async throws -> Sighting?

  /// Works on the results of a group or of the run.
  func gather(_ gathering: Gathering, in context: StageContext) async throws -> StageResult

  /// Gives back what the stage holds, such as programs that it has started; the run is over.
  func close() async

  // What else the stage is. A type that is declared to be of such a kind says so by itself; where a subclass is, or an
  // extension elsewhere makes it one, it gives itself here. No cast is tried: the first of a type looks through all that
  // every type conforms to.

  /// The stage, where it is one that asks hosts.
  var asNetworkStage: (any NetworkStage)? { get }
  /// The stage, where it is one that decides at once.
  var asImmediateStage: (any ImmediateStage)? { get }
  /// The stage, where it is one that begins without a task.
  var asPromptStage: (any PromptStage)? { get }
}

extension Stage {
  /// It asks no host.
  public var asNetworkStage: (any NetworkStage)? { nil }
  /// It does not decide at once.
  public var asImmediateStage: (any ImmediateStage)? { nil }
  /// It has no beginning without a task.
  public var asPromptStage: (any PromptStage)? { nil }

  /// Nothing is held.
  public func close() async {}

  /// No host.
  public func host(of leg: Leg, config: Config) -> String? { nil }

  /// Nothing to ask.
  public func look(at leg: Leg, in context: StageContext) async throws -> Sighting? { nil }

  /// Refuses: this stage works on single legs only.
  public func gather(_ gathering: Gathering, in context: StageContext) async throws -> StageResult {
    throw Fault.internal("stage", "\(context.stage) cannot run per group or per run")
  }

  /// Refuses: this stage works on whole groups or runs only.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    throw Fault.internal("stage", "\(context.stage) cannot run per leg or per item")
  }
}

/// A stage that asks hosts over a network.
public protocol NetworkStage: Stage {
  /// Whether a host can be reached; asks it for nothing.
  func reach(_ host: String, in services: any RunServices) async -> Reach
}

extension NetworkStage {
  /// It asks hosts.
  public var asNetworkStage: (any NetworkStage)? { self }
}

/// What comes of trying to reach a host.
public enum Reach: String, Sendable, Hashable, CaseIterable {
  /// It takes connections.
  case open
  /// It is there and takes none.
  case refused
  /// Nothing comes back.
  case silent
  /// There is no way there, or nobody who resolves its name.
  case gone
}

/// A stage that decides at once, without waiting; it runs inside the scheduler's loop and costs no task.
public protocol ImmediateStage: Stage {
  /// Works on one leg.
  func decide(_ leg: Leg, config: Config) throws(Fault) -> StageResult
}

extension ImmediateStage {
  /// It decides at once.
  public var asImmediateStage: (any ImmediateStage)? { self }

  /// Decides.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    try decide(leg, config: context.config)
  }
}

/// What a stage has made of a leg.
public struct StageResult: Sendable {
  /// How the leg goes on.
  public enum Verdict: Sendable {
    /// It goes on.
    case pass
    /// It is filtered, and why.
    case drop(reason: String)
    /// What an earlier run has made of it still holds, and so does all that was made of that.
    case unchanged
    /// It ends here, and these items go on in its place.
    case many([MadeItem])
  }

  /// How the leg goes on.
  public var verdict: Verdict
  /// The new bytes; nil where the leg's bytes stay as they are.
  public var content: Content?
  /// What says, as long as it is held, that the content takes room in memory; the run's own.
  public var room: (any AnyObject & Sendable)?
  /// The item fields that it sets.
  public var fields: Fields
  /// The files that it has published.
  public var outputs: [OutputFact]
  /// Whether another item's equal request has done the work.
  public var isShared: Bool
  /// Whether what an earlier run has kept did the work, and nobody was asked.
  public var isKept = false
  /// The item in whose favour the leg was dropped, if it was for another: it stays so as long as that one stands.
  public var standIn: StandIn?
  /// Bytes that came over the network for it.
  public var bytesIn: Int
  /// Whether the host's connection carries several requests at once.
  public var isMultiplexed = false

  /// A result; without arguments: the leg goes on as it is.
  public init(
    _ verdict: Verdict = .pass, content: Content? = nil, fields: Fields = [:], outputs: [OutputFact] = [],
    isShared: Bool = false, bytesIn: Int = 0
  ) {
    self.verdict = verdict
    self.content = content
    self.fields = fields
    self.outputs = outputs
    self.isShared = isShared
    self.bytesIn = bytesIn
  }
}

/// An item that stands for another, which was dropped since it has the same.
public struct StandIn: Sendable, Hashable {
  /// The source of the item that stays.
  public var source: String
  /// Its key there.
  public var key: String
  /// The field that says what both have.
  public var field: String
  /// What the field said of the one that stays.
  public var value: String

  /// An item, and what a field said of it.
  public init(source: String, key: String, field: String, value: String) {
    self.source = source
    self.key = key
    self.field = field
    self.value = value
  }
}

/// An item that a stage has made.
public struct MadeItem: Sendable {
  /// Its key behind `parent/`.
  public var key: String
  /// Its address, where it has one of its own; it then begins without bytes.
  public var url: String?
  /// Its bytes; nil where it has its parent's.
  public var content: Content?
  /// The fields that are set on it; a `name` among them is its name.
  public var fields: Fields
  /// The cells of its row; nil where it has its parent's.
  public var row: Fields?

  /// An item.
  public init(key: String, url: String? = nil, content: Content? = nil, fields: Fields = [:], row: Fields? = nil) {
    self.key = key
    self.url = url
    self.content = content
    self.fields = fields
    self.row = row
  }
}

/// The results that a stage `per: group` or `per: run` works on, streamed and not held in memory.
public struct Gathering: Sendable {
  /// One result: a leg as it came out of a needed stage, or an item that did not make it.
  public struct Member: Sendable {
    /// The leg, with its fields and its content where that is still there.
    public var leg: Leg
    /// The id of the stage that it came out of.
    public var stage: String
    /// `ok`, `failed`, `filtered` or `cancelled`.
    public var status: String
    /// What the stage published of this leg.
    public var outputs: [OutputFact]
    /// Why it failed.
    public var fault: Fault?

    /// A result.
    public init(leg: Leg, stage: String, status: String = "ok", outputs: [OutputFact] = [], fault: Fault? = nil) {
      self.leg = leg
      self.stage = stage
      self.status = status
      self.outputs = outputs
      self.fault = fault
    }
  }

  /// The group's value; nil for the whole run.
  public var group: Value?
  /// How many members there are that went well.
  public var count: Int
  /// Opens the stream of members that went well, in the order source, index, leg.
  public var members: @Sendable () -> any GatheringReader
  /// Opens the stream of all members, failed, filtered and cancelled items included, in the same order.
  public var everything: @Sendable () -> any GatheringReader

  /// A gathering.
  public init(
    group: Value?, count: Int, members: @escaping @Sendable () -> any GatheringReader,
    everything: @escaping @Sendable () -> any GatheringReader
  ) {
    self.group = group
    self.count = count
    self.members = members
    self.everything = everything
  }
}

/// A stream without members.
public struct NothingGathered: GatheringReader {
  /// Its reader.
  public init() {}

  /// None.
  public mutating func next(upTo count: Int) async throws -> [Gathering.Member] { [] }
}

/// Hands out the members of a gathering page by page.
public protocol GatheringReader {
  /// The next members, at most so many; none at the end.
  mutating func next(upTo count: Int) async throws -> [Gathering.Member]
}
