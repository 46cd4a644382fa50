extension EventType {
  /// The keys of this type's `data`, in the order in which they are written.
  public var fields: [DataField] {
    switch self {
    case .streamStart:
      [
        .init("schema", .string, "The version of the events, major and minor."),
        .init("tool", .string, "The version of imgflow."),
        .init("manifest", .string, nullable: true, "The manifest as the user named it."),
        .init("manifest_sha256", .string, nullable: true, "The SHA-256 of the manifest in hex."),
        .init("resumed_from", .string, nullable: true, "The run that this one goes on from."),
      ]
    case .runStart:
      [
        .init("sources", .list(.string), "The ids of the sources."),
        .init("stages", .list(.string), "The ids of the stages."),
        .init("sinks", .list(.string), "The ids of the sinks."),
        .init("output", .string, nullable: true, "The folder of the results."),
      ]
    case .runState:
      [
        .init("from", .word(RunState.allCases.map(\.rawValue)), "The state before."),
        .init("to", .word(RunState.allCases.map(\.rawValue)), "The state now."),
        .init("by", .string, "Who asked."),
      ]
    case .runProgress:
      [
        .init("items", .object(DataField.items), "The items so far."),
        .init("bytes_in", .integer, "Bytes received."),
        .init("items_per_s", .number, "Items a second, of late."),
        .init("bytes_per_s", .number, "Bytes a second, of late."),
        .init("ratio", .ratio, nullable: true, "The part of the run that is done; null while the total is unknown."),
        .init("eta_s", .number, nullable: true, "Seconds left; null where nothing can be said."),
        .init("in_flight", .integer, "Items at work."),
        .init("stages", .free, "Operations at work, by stage; stages without any are left out."),
      ]
    case .runEnd:
      [
        .init("result", .word(RunResult.allCases.map(\.rawValue)), "What came of the run."),
        .init("exit", .integer, "The exit code."),
        .init("items", .object(DataField.items), "What came of its items."),
        .init("bytes_in", .integer, "Bytes received."),
        .init(
          "errors",
          .list(.object([.init("code", .string, "The code."), .init("n", .integer, "How often it occurred.")])),
          "What failed, most frequent first."),
        .init("events", .counts, "How many events of each type were emitted, this one included."),
        .init("dropped", .counts, "How many of each type this stream has skipped."),
      ]
    case .sourceEnd:
      [
        .init("source", .string, "The source's id."),
        .init("items", .integer, "How many items it gave."),
        .init("duplicates", .integer, "How many it gave twice."),
        .init("empty", .boolean, "Whether it gave none."),
      ]
    case .stageStart:
      [.init("stage", .string, "The stage's id."), .init("op", .string, "The op's name.")]
    case .stageEnd:
      [
        .init("stage", .string, "The stage's id."),
        .init("ok", .integer, "Operations that succeeded."),
        .init("failed", .integer, "Operations that failed."),
        .init("filtered", .integer, "Items that it sorted out."),
        .init("ms", .number, "Milliseconds from its first operation's start to its last one's end."),
      ]
    case .barrierStart: DataField.barrier
    case .barrierEnd:
      DataField.barrier + [
        .init("status", .word(ItemStatus.allCases.map(\.rawValue)), "What came of it."),
        .init("outputs", .list(.object(DataField.output)), "The files that it made."),
        .init("error", .object(DataField.error), nullable: true, "Why it failed."),
      ]
    case .itemStart, .itemProgress, .itemRetry, .itemError, .itemEnd, .output: itemFields
    case .pluginStart, .pluginCrash, .pluginNoise: pluginFields
    case .sinkError, .sinkDropped: sinkFields
    case .control:
      [
        .init("verb", .string, "What was asked: pause, resume, drain, cancel, set."),
        .init("scope", .string, "What it was asked for: the run, an item, a stage, a setting."),
        .init("by", .string, "Who asked."),
        .init("accepted", .boolean, "Whether it is done."),
        .init("message", .string, "The answer."),
      ]
    case .log:
      [
        .init("level", .word(Payload.LogLine.Level.allCases.map(\.rawValue)), "How loud it is."),
        .init("message", .string, "What it says."),
      ]
    case .diagnostic: DataField.diagnostic
    }
  }

  /// Whether events of this type are about an item, and so carry its name, place and address.
  public var isAboutItem: Bool {
    switch self {
    case .itemStart, .itemProgress, .itemRetry, .itemError, .itemEnd: true
    default: false
    }
  }

  private var itemFields: [DataField] {
    switch self {
    case .itemStart:
      [
        .init("key", .string, "The item's key."),
        .init("ratio", .ratio, nullable: true, "The part that is done already."),
        .init(
          "why", .string, nullable: true,
          "Why there is work for it: new, input changed, failed last time; null without."),
      ]
    case .itemProgress:
      [
        .init("bytes", .integer, "Bytes that are there."),
        .init("size", .integer, nullable: true, "Bytes that there will be; null where that is unknown."),
        .init("ratio", .ratio, nullable: true, "The part that is there; it never falls within an attempt."),
      ]
    case .itemRetry:
      [
        .init("attempt", .integer, "The try that failed, from 1."),
        .init("delay_ms", .number, "Milliseconds until the next."),
        .init("error", .object(DataField.error), "Why it failed."),
      ]
    case .itemError: [.init("error", .object(DataField.error), "Why it failed.")]
    case .itemEnd:
      [
        .init("status", .word(ItemStatus.allCases.map(\.rawValue)), "What came of it."),
        .init("cached", .boolean, "Whether an earlier run had done all of it."),
        .init("shared", .boolean, "Whether its bytes came with those of another item."),
        .init("attempts", .integer, "How many tries it took."),
        .init("ratio", .ratio, nullable: true, "The part that is done."),
        .init("outputs", .list(.object(DataField.output)), "The files that it became."),
        .init("error", .object(DataField.error), nullable: true, "Why it failed."),
        .init("reason", .string, nullable: true, "Why it was filtered or cancelled."),
        .init("final_url", .string, nullable: true, "Where redirects led to; null where none was followed."),
        .init(
          "stages",
          .list(
            .object([
              .init("stage", .string, "The stage's id."),
              .init("ms", .number, "Milliseconds that it took."),
              .init("cached", .boolean, "Whether an earlier run had done it."),
            ])), "What its stages took."),
      ]
    default: DataField.output
    }
  }

  private var pluginFields: [DataField] {
    let plugin = DataField("plugin", .string, "The plugin's name.")
    switch self {
    case .pluginStart:
      return [plugin, .init("version", .string, "Its version."), .init("pid", .integer, "The process's id.")]
    case .pluginCrash:
      return [
        plugin,
        .init("code", .integer, nullable: true, "The exit code, if it ended by itself."),
        .init("signal", .integer, nullable: true, "The signal, if one ended it."),
        .init("stderr", .string, "The last that it wrote to standard error."),
      ]
    default:
      return [
        plugin, .init("line", .string, "The first such line."),
        .init("n", .integer, "How many since the last report."),
      ]
    }
  }

  private var sinkFields: [DataField] {
    let sink = DataField("sink", .string, "The sink's id.")
    guard self == .sinkError else {
      return [
        sink, .init("type", .string, "The type of what it skipped."),
        .init("n", .integer, "How many since the last report."),
      ]
    }
    return [
      sink, .init("error", .object(DataField.error), "Why."),
      .init("missed_from", .integer, nullable: true, "The seq from which on it misses everything."),
    ]
  }
}
