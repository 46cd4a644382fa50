/// The kinds of events, by the names that they have in the stream.
public enum EventType: String, Sendable, Hashable, CaseIterable {
  case streamStart = "stream.start"
  case runStart = "run.start"
  case runState = "run.state"
  case runProgress = "run.progress"
  case runEnd = "run.end"
  case sourceEnd = "source.end"
  case stageStart = "stage.start"
  case stageEnd = "stage.end"
  case barrierStart = "barrier.start"
  case barrierEnd = "barrier.end"
  case itemStart = "item.start"
  case itemProgress = "item.progress"
  case itemRetry = "item.retry"
  case itemError = "item.error"
  case itemEnd = "item.end"
  case pluginStart = "plugin.start"
  case pluginCrash = "plugin.crash"
  case pluginNoise = "plugin.noise"
  case output
  case sinkError = "sink.error"
  case sinkDropped = "sink.dropped"
  case control
  case log
  case diagnostic

  /// What becomes of an event whose reader is behind.
  public enum Delivery: String, Sendable, Hashable {
    /// Never lost: it waits, in memory and then on disk.
    case kept = "A"
    /// Only the newest for each type, item and stage.
    case newest = "B"
    /// May be dropped.
    case droppable = "C"
  }

  /// What becomes of events of this type whose reader is behind; lines of the log are droppable at debug only.
  public var delivery: Delivery {
    switch self {
    case .runProgress, .itemProgress: .newest
    default: .kept
    }
  }

  /// When such an event is sent, in one sentence.
  public var summary: String {
    switch self {
    case .streamStart: "The stream begins; always the first line."
    case .runStart: "The plan is ready and work begins."
    case .runState: "The run moved from one state to another."
    case .runProgress: "How far the run is; once a second, and at least every 10 s."
    case .runEnd: "The run is over; always the last line, with all counts."
    case .sourceEnd: "A source has given its last item."
    case .stageStart: "A stage starts on its first operation."
    case .stageEnd: "A stage has done its last operation."
    case .barrierStart: "A stage that waits for a group or for the run starts; once for each group."
    case .barrierEnd: "A stage that waits for a group or for the run is done; once for each group."
    case .itemStart: "Work on an item begins."
    case .itemProgress: "How far an item's bytes have come; at most twice a second an item."
    case .itemRetry: "A try failed, and another will be made after a delay."
    case .itemError: "A leg of an item failed for good."
    case .itemEnd: "An item is done; exactly once for each item."
    case .pluginStart: "A plugin's process has started."
    case .pluginCrash: "A plugin's process ended when it should not."
    case .pluginNoise: "A plugin wrote something that is no message."
    case .output: "A file is safe at the chosen durability."
    case .sinkError: "A sink could not deliver and is given up."
    case .sinkDropped: "A sink that is behind has skipped events that may be skipped."
    case .control: "Somebody asked the run for something, and was answered."
    case .log: "A line for people."
    case .diagnostic: "Something is wrong in what the user wrote."
    }
  }
}

/// How many events of each type.
public struct EventCounts: Sendable, Hashable {
  /// By the types' places; a dictionary would hash a type's name for each event.
  private var counts = [Int](repeating: 0, count: EventType.allCases.count)

  /// No events.
  public init() {}

  /// Counts by type.
  public init(_ counts: [EventType: Int]) {
    for (type, count) in counts { self[type] = count }
  }

  /// The number of events of a type.
  public subscript(type: EventType) -> Int {
    get { counts[type.place] }
    set { counts[type.place] = newValue }
  }

  /// The number of events of all types.
  public var total: Int { counts.reduce(0, +) }

  /// The types that occur, in the order of their declaration, with their numbers.
  public var entries: [(type: EventType, count: Int)] {
    EventType.allCases.compactMap { self[$0] == 0 ? nil : ($0, self[$0]) }
  }
}

extension EventType {
  /// Its place in the order of the declaration.
  var place: Int {
    switch self {
    case .streamStart: 0
    case .runStart: 1
    case .runState: 2
    case .runProgress: 3
    case .runEnd: 4
    case .sourceEnd: 5
    case .stageStart: 6
    case .stageEnd: 7
    case .barrierStart: 8
    case .barrierEnd: 9
    case .itemStart: 10
    case .itemProgress: 11
    case .itemRetry: 12
    case .itemError: 13
    case .itemEnd: 14
    case .pluginStart: 15
    case .pluginCrash: 16
    case .pluginNoise: 17
    case .output: 18
    case .sinkError: 19
    case .sinkDropped: 20
    case .control: 21
    case .log: 22
    case .diagnostic: 23
    }
  }
}
