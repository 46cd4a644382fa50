public import FlowBase
public import FlowExpressions
public import FlowParts

/// What exactly can happen in a run: finite, checked, printable; a run only follows it.
public struct Plan: Sendable {
  /// The manifest's path as the user wrote it, and its SHA-256.
  public var manifest: String
  /// The SHA-256 of the manifest's bytes in hex; empty for a plan made in code.
  public var manifestDigest: String
  /// What holds for the run as a whole.
  public var settings: RunSettings
  /// Where the journal and temporary files go.
  public var state: StateSettings
  /// The sources, in the manifest's order.
  public var sources: [PlannedSource]
  /// The stages, each after all that it needs or follows.
  public var stages: [PlannedStage]
  /// The nodes of the graph: one a stage and leg, each after its inputs; those of stages that gather come last.
  public var nodes: [PlannedNode]
  /// The sinks, in the manifest's order.
  public var sinks: [PlannedSink]
  /// Judged once, at the end.
  public var failIf: Expression?
  /// Judged as results come in.
  public var stopIf: Expression?
  /// Whether the run pauses itself when the network is gone.
  public var pausesOffline = false
  /// `sample` of the manifest as a whole.
  public var sample: Sample?
  /// `take` of the manifest as a whole.
  public var take: Int?
  /// The texts that must never be written anywhere.
  public var secrets: [String] = []
  /// The names of the secrets that the manifest lists.
  public var secretNames: [String] = []
  /// The names of environment variables that the manifest reads.
  public var environment: [String] = []
  /// What is odd, but no mistake.
  public var warnings: [Diagnostic] = []

  /// A plan.
  public init(
    manifest: String, manifestDigest: String, settings: RunSettings, state: StateSettings, sources: [PlannedSource],
    stages: [PlannedStage], nodes: [PlannedNode], sinks: [PlannedSink] = []
  ) {
    self.manifest = manifest
    self.manifestDigest = manifestDigest
    self.settings = settings
    self.state = state
    self.sources = sources
    self.stages = stages
    self.nodes = Plan.itemNodesFirst(nodes, stages)
    self.sinks = sinks
  }
}

extension Plan {
  /// How many of the nodes work on single items; the rest belong to stages that gather.
  public var itemNodeCount: Int { nodes.count { !stages[$0.stage].scope.isBarrier } }

  /// The nodes that work on single items before those that gather, with their inputs' places put right.
  private static func itemNodesFirst(_ nodes: [PlannedNode], _ stages: [PlannedStage]) -> [PlannedNode] {
    let order =
      nodes.indices.filter { !stages[nodes[$0].stage].scope.isBarrier }
      + nodes.indices.filter { stages[nodes[$0].stage].scope.isBarrier }
    var places = [Int](repeating: 0, count: nodes.count)
    for (place, old) in order.enumerated() { places[old] = place }
    return order.map { old in
      var node = nodes[old]
      node.inputs = node.inputs.map { places[$0] }
      return node
    }
  }
}

/// The `state` of a manifest.
public struct StateSettings: Sendable, Hashable {
  /// How safe a file is before its item is announced.
  public enum Durability: String, Sendable, Hashable, CaseIterable { case full, batch, process }
  /// Whether results of earlier runs are asked for again.
  public enum Refresh: String, Sendable, Hashable, CaseIterable { case never, changed, always }
  /// What makes a result of an earlier run stale.
  public enum RerunOn: String, Sendable, Hashable, CaseIterable {
    case input, config, plugin
    case outputMissing = "output_missing"
  }

  /// The absolute path of the state directory, `.imgflow` unless named otherwise.
  public var folder: String
  /// The folder below it that belongs to this manifest: its file name's stem.
  public var stem: String
  /// The durability; nil is `full` for a run's first 10,000 items, then `batch`.
  public var durability: Durability?
  /// Whether results of earlier runs are asked for again.
  public var refresh: Refresh = .never
  /// The absolute path of the content store; nil where nothing is kept for later.
  public var cache: String?
  /// What makes a result stale.
  public var rerunOn: Set<RerunOn> = Set(RerunOn.allCases)

  /// Settings.
  public init(folder: String, stem: String) {
    self.folder = folder
    self.stem = stem
  }
}

/// How many items of a source take part.
public enum Sample: Sendable, Hashable {
  /// The N items with the smallest key hashes.
  case count(Int)
  /// Those whose key hash lies below this share, 0 to 1.
  case share(Double)

  /// The sample as a text that tells it from others.
  public var words: String {
    switch self {
    case .count(let count): "count \(count)"
    case .share(let share): "share \(share)"
    }
  }
}

/// A source of the plan.
public struct PlannedSource: Sendable {
  /// Its id.
  public var id: String
  /// The op's name.
  public var op: String
  /// The part that makes it.
  public var part: SourcePart
  /// Its configuration; templates of the row's phase are left.
  public var config: Config
  /// Keeps the items for which it is true.
  public var condition: Expression?
  /// A sample of its items.
  public var sample: Sample?
  /// Its first items.
  public var take: Int?
  /// Where it stands.
  public var place: Place?

  /// A source.
  public init(id: String, op: String, part: SourcePart, config: Config) {
    self.id = id
    self.op = op
    self.part = part
    self.config = config
  }
}

/// A stage of the plan.
public struct PlannedStage: Sendable {
  /// When a stage runs.
  public enum Condition: Sendable, Hashable {
    /// When what it needs went well.
    case success
    /// In any case.
    case always
    /// When what it needs went well and this is true.
    case expression(Expression)
  }
  /// What it works on.
  public enum Scope: Sendable, Hashable {
    case leg
    case item
    case group(Expression)
    case run

    /// Whether it runs once for many items.
    public var isBarrier: Bool {
      switch self {
      case .leg, .item: false
      case .group, .run: true
      }
    }
  }
  /// What happens when it fails for good.
  public enum OnError: String, Sendable, Hashable, CaseIterable {
    case fail, drop, stop
    case useInput = "use_input"
  }

  /// Its id.
  public var id: String
  /// The op's name.
  public var op: String
  /// The part that makes it.
  public var part: StagePart
  /// What it works on.
  public var scope: Scope = .leg
  /// The stages whose results it takes, as places in the plan's list.
  public var needs: [Int] = []
  /// The stages that must be wholly finished before it starts.
  public var after: [Int] = []
  /// When it runs.
  public var condition: Condition = .success
  /// What happens when it fails.
  public var onError: OnError = .fail
  /// The most operations at once; nil is bounded by hosts and cores alone.
  public var concurrency: Int?
  /// The time between two starts.
  public var interval: Interval?
  /// How often it is tried.
  public var retry = RetrySettings()
  /// The time for one try.
  public var timeout: Interval?
  /// The time for all tries and waits.
  public var deadline: Interval?
  /// The pool that each operation takes a token of.
  public var pool: String?
  /// The names of its matrix axes and, a leg, their values; one leg without values where it has no matrix.
  public var legs: [Fields] = [[:]]
  /// Where it stands.
  public var place: Place?
  /// Whether items pass it one by one, in the order of the sources and their items.
  public var isOrdered = false
  /// Whether only stages of its own kind take its results, and do its work together with theirs.
  public var isFused = false

  /// A stage.
  public init(id: String, op: String, part: StagePart) {
    self.id = id
    self.op = op
    self.part = part
  }
}

/// How often and when something is tried again.
public struct RetrySettings: Sendable, Hashable {
  /// All tries, the first included.
  public var attempts = 5
  /// The shortest wait, doubled from try to try.
  public var shortest = Interval.milliseconds(500)
  /// The longest wait.
  public var longest = Interval.seconds(60)
  /// The classes of faults that are tried again.
  public var classes: Set<FaultClass> = [.transient, .quota]

  /// The default: five tries, 500 ms to 60 s, for transient faults and quotas.
  public init() {}
}

/// A node of the graph: one stage on one leg.
public struct PlannedNode: Sendable {
  /// The stage, as a place in the plan's list.
  public var stage: Int
  /// Where it is on its stage's axes, inherited ones included.
  public var axes: Fields
  /// The stage's configuration on this leg; templates of later phases are left.
  public var config: Config
  /// The nodes whose results it takes; for `per: item` all legs of the needed stages.
  public var inputs: [Int]

  /// A node.
  public init(stage: Int, axes: Fields = [:], config: Config, inputs: [Int] = []) {
    self.stage = stage
    self.axes = axes
    self.config = config
    self.inputs = inputs
  }
}

/// A sink of the plan.
public struct PlannedSink: Sendable {
  /// Its id.
  public var id: String
  /// The op's name.
  public var op: String
  /// The part that makes it.
  public var part: SinkPart
  /// Its configuration.
  public var config: Config
  /// Globs over event types; empty is all.
  public var events: [String] = []
  /// Whether the run fails when it cannot deliver.
  public var isRequired = false
  /// Where it stands.
  public var place: Place?

  /// A sink.
  public init(id: String, op: String, part: SinkPart, config: Config) {
    self.id = id
    self.op = op
    self.part = part
    self.config = config
  }
}
