internal import FlowBase

/// What a check remembers of the run that it is in.
struct RunSoFar {
  var id: String
  var seq = -1
  private var milliseconds = 0.0
  private var counts: [String: Int] = [:]
  private var openItems: Set<String> = []
  /// Items that have ended, as far as memory allows; an item ends once.
  private var endedItems: Set<Int> = []
  private var openStages: Set<String> = []
  private var openBarriers: Set<String> = []
  private var hasGaps = false
  /// What the stream was to hold; nil where that has to be guessed from what is there.
  private let expected: EventFilter?
  private var state: String?

  init(id: String, expected: EventFilter?) {
    self.id = id
    self.expected = expected
  }

  /// Takes an event and says what is wrong with it.
  mutating func take(_ type: String, _ seq: Int, _ fields: Fields, _ data: Fields) -> [String] {
    var wrong: [String] = []
    if seq <= self.seq {
      wrong.append("seq \(seq) follows \(self.seq); it rises by 1")
    } else if seq != self.seq + 1 {
      hasGaps = true
    }
    self.seq = max(self.seq, seq)
    let milliseconds = fields["ms"]?.asDouble ?? 0
    if milliseconds < self.milliseconds { wrong.append("ms goes back from \(self.milliseconds) to \(milliseconds)") }
    self.milliseconds = max(self.milliseconds, milliseconds)
    counts[type, default: 0] += 1
    wrong += pairs(type, fields, data)
    if type == EventType.runEnd.rawValue { wrong += atEnd(data) }
    return wrong
  }

  private mutating func pairs(_ type: String, _ fields: Fields, _ data: Fields) -> [String] {
    let item = fields["item"]?.asString ?? ""
    switch EventType(rawValue: type) {
    case .itemStart:
      if !openItems.insert(item).inserted { return ["\(item) starts twice"] }
    case .itemEnd:
      var wrong: [String] = []
      if !endedItems.insert(item.hashValue).inserted { wrong.append("\(item) ends twice") }
      if openItems.remove(item) == nil, sees(.itemStart) { wrong.append("\(item) ends and has not started") }
      return wrong
    case .itemProgress, .itemRetry, .itemError:
      if sees(.itemStart), !openItems.contains(item) { return ["\(type) of \(item), which is not under way"] }
    case .stageStart: openStages.insert(data["stage"]?.text ?? "")
    case .stageEnd:
      let stage = data["stage"]?.text ?? ""
      if openStages.remove(stage) == nil, sees(.stageStart) { return ["stage \(stage) ends and has not started"] }
    case .barrierStart: openBarriers.insert(barrier(data))
    case .barrierEnd:
      if openBarriers.remove(barrier(data)) == nil, sees(.barrierStart) {
        return ["barrier \(barrier(data)) ends and has not started"]
      }
    case .runState:
      let from = data["from"]?.text
      defer { state = data["to"]?.text }
      if let state, !hasGaps, from != state { return ["run.state goes from \(from ?? "?") and the run was \(state)"] }
    case nil: break
    default: break
    }
    return []
  }

  private func barrier(_ data: Fields) -> String { "\(data["stage"]?.text ?? "") \(data["group"]?.text ?? "")" }

  /// Whether the stream has events of a type, so that their absence says something.
  private func sees(_ type: EventType) -> Bool {
    expected?.passes(type) ?? (!hasGaps || counts[type.rawValue] != nil)
  }

  /// Holds what was seen to what the run's end says.
  private func atEnd(_ data: Fields) -> [String] {
    var wrong: [String] = []
    for field in ["result", "exit", "items", "errors", "events", "dropped"] where data[field] == nil {
      wrong.append("run.end has no `\(field)`")
    }
    let emitted = data["events"]?.asMap ?? [:]
    let dropped = data["dropped"]?.asMap ?? [:]
    for (type, count) in emitted {
      let seen = counts[type] ?? 0
      // A type of which nothing is here was not asked for.
      if seen == 0, dropped[type] == nil, !(EventType(rawValue: type).map(sees) ?? !hasGaps) { continue }
      let skipped = dropped[type]?.asInt ?? 0
      if seen + skipped != count.asInt {
        wrong.append("\(count.text) \(type) were told, \(seen) are here and \(skipped) were dropped")
      }
    }
    for (type, seen) in counts where emitted[type] == nil {
      wrong.append("\(seen) \(type) that run.end does not count")
    }
    if counts[EventType.itemEnd.rawValue] != nil, let open = openItems.min() {
      wrong.append("\(openItems.count) items have no item.end, such as \(open)")
    }
    if counts[EventType.stageEnd.rawValue] != nil, let open = openStages.min() {
      wrong.append("stage \(open) has no end")
    }
    if counts[EventType.barrierEnd.rawValue] != nil, let open = openBarriers.min() {
      wrong.append("barrier \(open) has no end")
    }
    return wrong
  }
}
