public import FlowBase

/// How many items have come to what.
public struct ItemCounts: Sendable, Hashable {
  /// All items; nil while a source has more to give.
  public var total: Int?
  /// Those that succeeded.
  public var ok = 0
  /// Those among the successful that an earlier run had done.
  public var cached = 0
  /// Those that a stage sorted out.
  public var filtered = 0
  /// Those that failed.
  public var failed = 0
  /// Those that were cancelled.
  public var cancelled = 0

  /// Counts.
  public init(
    total: Int? = nil, ok: Int = 0, cached: Int = 0, filtered: Int = 0, failed: Int = 0, cancelled: Int = 0
  ) {
    self.total = total
    self.ok = ok
    self.cached = cached
    self.filtered = filtered
    self.failed = failed
    self.cancelled = cancelled
  }

  /// Those that have ended, whatever came of them.
  public var ended: Int { ok + filtered + failed + cancelled }
}

extension Payload {
  /// The stream begins.
  public struct StreamStart: Sendable, Hashable {
    /// The version of the events' schema, major and minor.
    public static let schema = "1.0"

    /// The version of the program.
    public var tool: String
    /// The manifest as the user named it; nil where there is none.
    public var manifest: String?
    /// The SHA-256 of the manifest's text in hex.
    public var manifestSHA256: String?
    /// The run that this one goes on from.
    public var resumedFrom: String?

    /// A beginning.
    public init(tool: String, manifest: String?, manifestSHA256: String? = nil, resumedFrom: String? = nil) {
      self.tool = tool
      self.manifest = manifest
      self.manifestSHA256 = manifestSHA256
      self.resumedFrom = resumedFrom
    }
  }

  /// Work begins.
  public struct RunStart: Sendable, Hashable {
    /// The ids of the sources.
    public var sources: [String]
    /// The ids of the stages.
    public var stages: [String]
    /// The ids of the sinks.
    public var sinks: [String]
    /// The folder of the results.
    public var output: String?

    /// A start.
    public init(sources: [String], stages: [String], sinks: [String], output: String? = nil) {
      self.sources = sources
      self.stages = stages
      self.sinks = sinks
      self.output = output
    }
  }

  /// A run's move between states.
  public struct RunStateMove: Sendable, Hashable {
    /// The state before.
    public var from: RunState
    /// The state now.
    public var to: RunState
    /// Who asked: `run`, `ctl`, `page`, `signal`, `offline`, `stop_if` or `deadline`.
    public var by: String

    /// A move.
    public init(from: RunState, to: RunState, by: String) {
      self.from = from
      self.to = to
      self.by = by
    }
  }

  /// How far a run is.
  public struct RunProgress: Sendable, Hashable {
    /// The items so far.
    public var items: ItemCounts
    /// Bytes received.
    public var bytesIn: Int
    /// Items a second, of late.
    public var itemsPerSecond: Double
    /// Bytes a second, of late.
    public var bytesPerSecond: Double
    /// The part that is done, from 0 to 1; nil while the total is unknown.
    public var ratio: Double?
    /// The time left; nil where nothing can be said.
    public var eta: Interval?
    /// Items that are being worked on.
    public var inFlight: Int
    /// Operations that are being worked on, by stage; stages without any are left out.
    public var stages: [String: Int]

    /// A reading.
    public init(
      items: ItemCounts, bytesIn: Int, itemsPerSecond: Double, bytesPerSecond: Double, ratio: Double?, eta: Interval?,
      inFlight: Int, stages: [String: Int] = [:]
    ) {
      self.items = items
      self.bytesIn = bytesIn
      self.itemsPerSecond = itemsPerSecond
      self.bytesPerSecond = bytesPerSecond
      self.ratio = ratio
      self.eta = eta
      self.inFlight = inFlight
      self.stages = stages
    }
  }

  /// A run is over.
  public struct RunEnd: Sendable, Hashable {
    /// What came of it.
    public var result: RunResult
    /// The exit code of the program.
    public var exit: Int
    /// What came of its items.
    public var items: ItemCounts
    /// Bytes received.
    public var bytesIn: Int
    /// The codes of what failed, most frequent first.
    public var errors: [CodeCount]
    /// How many events of each type were emitted, this one included; the bus fills it in.
    public var events = EventCounts()
    /// How many of each type this stream has skipped though its filter lets them pass; the bus fills it in.
    public var dropped = EventCounts()

    /// An end.
    public init(result: RunResult, exit: Int, items: ItemCounts, bytesIn: Int, errors: [CodeCount] = []) {
      self.result = result
      self.exit = exit
      self.items = items
      self.bytesIn = bytesIn
      self.errors = errors
    }
  }

  /// A source has given its last item.
  public struct SourceEnd: Sendable, Hashable {
    /// The source's id.
    public var source: String
    /// How many items it gave.
    public var items: Int
    /// How many it gave twice.
    public var duplicates: Int

    /// An end.
    public init(source: String, items: Int, duplicates: Int = 0) {
      self.source = source
      self.items = items
      self.duplicates = duplicates
    }

    /// Whether it gave nothing at all.
    public var isEmpty: Bool { items == 0 }
  }

  /// A stage starts on its first operation.
  public struct StageStart: Sendable, Hashable {
    /// The stage's id.
    public var stage: String
    /// The op's name.
    public var op: String

    /// A start.
    public init(stage: String, op: String) {
      self.stage = stage
      self.op = op
    }
  }

  /// A stage has done its last operation.
  public struct StageEnd: Sendable, Hashable {
    /// The stage's id.
    public var stage: String
    /// Operations that succeeded.
    public var ok: Int
    /// Operations that failed.
    public var failed: Int
    /// Items that it sorted out.
    public var filtered: Int
    /// The time from its first operation's start to its last one's end.
    public var elapsed: Interval

    /// An end.
    public init(stage: String, ok: Int, failed: Int, filtered: Int, elapsed: Interval) {
      self.stage = stage
      self.ok = ok
      self.failed = failed
      self.filtered = filtered
      self.elapsed = elapsed
    }
  }

  /// A stage that waits for a group or for the run starts.
  public struct BarrierStart: Sendable, Hashable {
    /// The stage's id.
    public var stage: String
    /// `group` or `run`.
    public var per: String
    /// The group's value as text; nil for the run.
    public var group: String?
    /// How many items it stands for.
    public var items: Int

    /// A start.
    public init(stage: String, per: String, group: String?, items: Int) {
      self.stage = stage
      self.per = per
      self.group = group
      self.items = items
    }
  }

  /// A stage that waits for a group or for the run is done.
  public struct BarrierEnd: Sendable, Hashable {
    /// What had started.
    public var barrier: BarrierStart
    /// What came of it.
    public var status: ItemStatus
    /// The files that it made.
    public var outputs: [Output]
    /// Why it failed.
    public var error: EventError?

    /// An end.
    public init(_ barrier: BarrierStart, status: ItemStatus, outputs: [Output] = [], error: EventError? = nil) {
      self.barrier = barrier
      self.status = status
      self.outputs = outputs
      self.error = error
    }
  }
}
