import FlowBase
import FlowEvents

/// Whether the events of a run are complete and in an order that makes sense.
enum StreamCheck {
  /// Everything that is wrong, in words.
  static func faults(of events: [Event]) -> [String] {
    var check = Check()
    for event in events { check.see(event) }
    return check.ended(events)
  }

  private struct Check {
    var faults: [String] = []
    var next = 0
    var skipped = 0
    var counts: [EventType: Int] = [:]
    var open: Set<String> = []
    var over: [String: ItemStatus] = [:]
    var cached = 0
    var ratios: [String: Double] = [:]
    var stages: [String: Bool] = [:]
    var barriers: [String: Int] = [:]
    var state = RunState.idle

    mutating func see(_ event: Event) {
      skipped += event.seq - next
      next = event.seq + 1
      counts[event.type, default: 0] += 1
      if (event.seq == 0) != (event.type == .streamStart) { faults.append("\(event.seq): begins with \(event.type)") }
      if let subject = event.subject { see(event, about: subject) }
      switch event.payload {
      case .runState(let move):
        if move.from != state { faults.append("\(event.seq): a move from \(move.from) while it is \(state)") }
        state = move.to
      case .stageStart(let start):
        if stages[start.stage] != nil { faults.append("\(event.seq): \(start.stage) starts twice") }
        stages[start.stage] = false
      case .stageEnd(let end):
        if stages[end.stage] != false { faults.append("\(event.seq): \(end.stage) ends and is not open") }
        stages[end.stage] = true
      case .barrierStart(let start): barriers["\(start.stage) \(start.group ?? "")", default: 0] += 1
      case .barrierEnd(let end):
        barriers["\(end.barrier.stage) \(end.barrier.group ?? "")", default: 0] -= 1
      default: break
      }
    }

    private mutating func see(_ event: Event, about subject: ItemSubject) {
      let item = subject.item
      switch event.payload {
      case .itemStart:
        if over[item] != nil || !open.insert(item).inserted { faults.append("\(event.seq): \(item) starts twice") }
      case .itemEnd(let end):
        if over[item] != nil { faults.append("\(event.seq): \(item) ends twice") }
        if open.remove(item) == nil { faults.append("\(event.seq): \(item) ends and never started") }
        over[item] = end.status
        if end.isCached, end.status == .ok { cached += 1 }
        if (end.status == .failed) != (end.error != nil) { faults.append("\(event.seq): \(end.status), and its error") }
      case .itemProgress(let progress):
        let attempt = "\(item) \(subject.attempt ?? 0)"
        if let ratio = progress.ratio, ratio < ratios[attempt] ?? 0 { faults.append("\(event.seq): ratio falls") }
        ratios[attempt] = progress.ratio ?? 0
        if !open.contains(item) { faults.append("\(event.seq): progress of \(item), which is not open") }
      case .itemRetry, .itemError, .output:
        if !open.contains(item) { faults.append("\(event.seq): \(event.type) of \(item), which is not open") }
      default: break
      }
    }

    mutating func ended(_ events: [Event]) -> [String] {
      guard case .runEnd(let end)? = events.last?.payload else { return faults + ["the last event is no run.end"] }
      if end.result != .error || counts[.runStart] != nil {
        if state != .done { faults.append("the run ends while it is \(state)") }
      }
      for item in open.sorted() { faults.append("\(item) never ends") }
      for (stage, hasEnded) in stages where !hasEnded { faults.append("stage \(stage) never ends") }
      for (barrier, count) in barriers where count != 0 { faults.append("barrier \(barrier): \(count) ends missing") }
      for type in EventType.allCases where end.events[type] - end.dropped[type] != counts[type] ?? 0 {
        faults.append("run.end counts \(end.events[type]) of \(type), and there were \(counts[type] ?? 0)")
      }
      let dropped = EventType.allCases.reduce(0) { $0 + end.dropped[$1] }
      if skipped != dropped { faults.append("\(skipped) numbers are missing and \(dropped) were dropped") }
      let told = ItemStatus.allCases.map { status in over.values.count { $0 == status } }
      let counted = ItemStatus.allCases.map { status in
        switch status {
        case .ok: end.items.ok
        case .filtered: end.items.filtered
        case .failed: end.items.failed
        case .cancelled: end.items.cancelled
        }
      }
      if told != counted { faults.append("items ended \(told), and run.end counts \(counted)") }
      if cached != end.items.cached { faults.append("\(cached) were cached, and run.end counts \(end.items.cached)") }
      return faults
    }
  }
}
