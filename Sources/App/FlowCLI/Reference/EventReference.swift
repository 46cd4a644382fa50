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
    type.fields.flatMap { field in
      let words = field.summary + (field.isNullable && !field.summary.contains("null") ? " Or null." : "")
      return [(field.name, words)] + inner(field.kind).map { ("\(field.name).\($0.name)", $0.summary) }
    }
  }

  private static func inner(_ kind: DataField.Kind) -> [DataField] {
    switch kind {
    case .object(let fields): fields
    case .list(let element): inner(element)
    default: []
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
