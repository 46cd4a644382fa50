internal import FlowBase

/// What replaces what, where only the newest is kept.
struct NewestKey: Hashable {
  var type: EventType
  var item: String?
  var stage: String?

  init(_ event: Event) {
    type = event.type
    item = event.subject?.item
    stage = event.subject?.stage
  }
}

/// Holds for each key only the newest element, in the order of `seq`.
struct NewestQueue<Element> {
  struct Entry {
    var seq: Int
    var key: NewestKey
    var element: Element
  }

  /// So many different keys are held; one more pushes out the oldest.
  static var capacity: Int { 4096 }

  private var entries = Fifo<Entry>()
  /// The `seq` of the entry that counts for a key; entries with another are leftovers.
  private var current: [NewestKey: Int] = [:]

  /// How many keys have an element.
  var count: Int { current.count }

  /// Adds an element and gives the type of the older one that this pushed out.
  mutating func add(_ entry: Entry) -> EventType? {
    entries.append(entry)
    if current.updateValue(entry.seq, forKey: entry.key) != nil {
      if entries.count > 2 * current.count + 64 { dropLeftovers() }
      return entry.key.type
    }
    guard current.count > Self.capacity else { return nil }
    return popFirst()?.key.type
  }

  /// Forgets what newer elements have replaced: nobody may take anything for hours.
  private mutating func dropLeftovers() {
    var kept = Fifo<Entry>()
    while let entry = entries.popFirst() {
      if current[entry.key] == entry.seq { kept.append(entry) }
    }
    entries = kept
  }

  /// The `seq` of the first element.
  mutating func firstSeq() -> Int? {
    while let entry = entries.first {
      if current[entry.key] == entry.seq { return entry.seq }
      _ = entries.popFirst()
    }
    return nil
  }

  /// The first element, left where it is.
  mutating func firstElement() -> Element? { firstSeq() == nil ? nil : entries.first?.element }

  /// Takes the first element.
  mutating func popFirst() -> Entry? {
    guard firstSeq() != nil, let entry = entries.popFirst() else { return nil }
    current[entry.key] = nil
    return entry
  }
}
