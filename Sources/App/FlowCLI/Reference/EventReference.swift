internal import FlowEvents

/// What the lines of the event stream hold.
enum EventReference {
  /// What every line has.
  static let envelope: [(String, String)] = [
    ("imgflow", "the major version of the stream, 1"),
    ("seq", "the event's place in the run's stream, from 0; it rises by 1, so a filtered stream has gaps"),
    ("type", "the event's type"),
    ("time", "wall time in UTC with microseconds"),
    ("ms", "milliseconds since the run began, by a clock that is never set"),
    ("run", "the run's id"),
    ("item", "in events of items: the item's name, source/key"),
    ("index", "in events of items: its place in its source, from 1"),
    ("total", "in events of items: how many items its source has; null while unknown"),
    ("url", "in events of items: its address, with secrets left out"),
    ("source", "in events of items: its source's id"),
    ("parent", "in events of items that a stage has made: the item that it was made of"),
    ("stage", "in events of stages, and of items in a stage: the stage's id"),
    ("attempt", "in events of one try: which try, from 1"),
    ("data", "what only this type has"),
  ]

  /// What `data` has for a type.
  static func data(_ type: EventType) -> [(String, String)] {
    switch type {
    case .streamStart:
      [
        ("schema", "the version of the stream's schema"), ("tool", "the version of imgflow"),
        ("manifest", "the manifest's path"), ("manifest_sha256", "its digest"),
        ("resumed_from", "the run that this one goes on from, or null"),
      ]
    case .runStart: [("sources", "how many sources"), ("stages", "how many stages"), ("sinks", "how many sinks")]
    case .runState:
      [
        ("from", "idle, active, paused, draining or done"), ("to", "the new state"),
        ("by", "who asked: the user, a signal, the run itself"),
      ]
    case .runProgress:
      [
        ("items", "counts: total, ok, failed, filtered, cached, cancelled"),
        ("bytes_in", "bytes that came over the network"),
        ("items_per_s", "items a second, lately"), ("bytes_per_s", "bytes a second, lately"),
        ("ratio", "how much is done, 0 to 1; null while the total is unknown"),
        ("eta_s", "the seconds that are left, as far as one can tell; or null"), ("in_flight", "items at work"),
      ]
    case .runEnd:
      [
        ("result", "success, failure, error, timeout or cancelled"), ("exit", "the exit code"),
        ("items", "counts: total, ok, cached, filtered, failed, cancelled"),
        ("bytes_in", "bytes that came over the network"), ("errors", "each error code with how often it came"),
        ("events", "how many events of each type the run has told"),
        ("dropped", "how many of each type this stream has skipped"),
      ]
    case .sourceEnd:
      [
        ("source", "its id"), ("items", "how many items it gave"), ("duplicates", "how many equal ones it gave twice"),
        ("empty", "whether it gave none"),
      ]
    case .stageStart: [("stage", "its id"), ("op", "the name of its op")]
    case .stageEnd:
      [
        ("stage", "its id"), ("ok", "how many operations went well"), ("failed", "how many failed"),
        ("filtered", "how many dropped their item"), ("ms", "the time in operations, summed up"),
      ]
    case .barrierStart:
      [
        ("stage", "its id"), ("per", "group or run"), ("group", "the group's value"),
        ("items", "how many results it takes"),
      ]
    case .barrierEnd:
      [
        ("stage", "its id"), ("per", "group or run"), ("group", "the group's value"),
        ("items", "how many results it took"),
        ("status", "ok, failed, skipped"), ("outputs", "the files that it wrote"), ("error", "why it failed, or null"),
      ]
    case .itemStart: [("key", "the item's key in its source"), ("ratio", "0")]
    case .itemProgress:
      [
        ("bytes", "how many bytes have come"), ("size", "how many there will be, or null"),
        ("ratio", "0 to 1; null where the size is unknown"),
      ]
    case .itemRetry:
      [("attempt", "the try that failed"), ("delay_ms", "the wait before the next"), ("error", "why it failed")]
    case .itemError: [("error", "code, class, message, retryable, and where known http_status, host, attempt")]
    case .itemEnd:
      [
        ("status", "ok, filtered, failed or cancelled"), ("cached", "whether an earlier run had done it"),
        ("shared", "whether an equal request had done it"), ("attempts", "how many tries it took"),
        ("ratio", "1 if it is ok"),
        ("outputs", "its files: path, leg, media, bytes, sha256, width, height"), ("error", "why it failed, or null"),
        ("reason", "why it was filtered or cancelled, or null"),
        ("stages", "each stage with its time and whether it was cached"),
      ]
    case .output:
      [
        ("path", "the file, below output.dir"), ("sha256", "its digest"), ("bytes", "its size"),
        ("media", "its media type"),
        ("leg", "the matrix values of its leg"), ("group", "the group that it stands for, or null"),
      ]
    case .pluginStart: [("plugin", "its name"), ("version", "its version"), ("pid", "its process")]
    case .pluginCrash:
      [
        ("plugin", "its name"), ("code", "its exit code"), ("signal", "the signal that ended it"),
        ("stderr", "its last words"),
      ]
    case .pluginNoise: [("plugin", "its name"), ("line", "what it wrote"), ("n", "how often")]
    case .sinkError: [("sink", "its id"), ("error", "what went wrong")]
    case .sinkDropped: [("sink", "its id"), ("type", "the type that was skipped"), ("n", "how many")]
    case .control:
      [
        ("verb", "pause, resume, drain, cancel or set"), ("scope", "the run, or a source, stage, host or item"),
        ("by", "who asked"), ("accepted", "whether it was done"), ("message", "why not"),
      ]
    case .log: [("level", "debug, info, warn or error"), ("message", "the line")]
    case .diagnostic:
      [
        ("severity", "error or warning"), ("code", "the stable code"), ("message", "what is wrong"),
        ("file", "the file"),
        ("line", "the line, from 1"), ("column", "the column, from 1"), ("length", "how many characters it concerns"),
        ("hint", "what to do about it, or null"),
      ]
    }
  }

  /// What becomes of an event of a type whose reader is behind.
  static func words(for delivery: EventType.Delivery) -> String {
    switch delivery {
    case .kept: "never lost: it waits in memory, then on disk"
    case .newest: "only the newest for each item and stage is kept"
    case .droppable: "may be skipped"
    }
  }
}
