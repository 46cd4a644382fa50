internal import FlowBase
internal import FlowEvents
internal import FlowParts

/// What a page tells of a run as a whole, gathered from its events; its size does not grow with the items.
struct PageBook {
  /// A stage, and what has gone through it.
  struct Stage {
    var id: String
    var op: String
    var running = 0
    var ok = 0
    var failed = 0
    var filtered = 0
    /// Items that wait for their next try in it.
    var retrying = 0
    /// The time that items spent in it, in sum.
    var busy = Interval.zero
    var hasEnded = false
  }

  /// A source, and how far it is.
  struct Source {
    var id: String
    var op: String
    var total: Int?
    var seen = 0
    var ended = 0
    var failed = 0
    var hasEnded = false
  }

  /// Something worth reading: a warning, an error, a request and its answer.
  struct Note {
    var time: WallTime
    var level: String
    var text: String
  }

  private(set) var run = ""
  private(set) var manifest = ""
  private(set) var state = RunState.idle
  private(set) var started: WallTime?
  private(set) var elapsed = Interval.zero
  private(set) var end: Payload.RunEnd?
  private(set) var counts = ItemCounts()
  private(set) var total: Int?
  private(set) var bytesIn = 0
  private(set) var bytesPerSecond = 0.0
  private(set) var itemsPerSecond = 0.0
  private(set) var inFlight = 0
  private(set) var groups = FailureGroups()
  private(set) var recent = Recent()
  private(set) var stages: [Stage] = []
  private(set) var sources: [Source] = []
  private(set) var held: [String] = []
  private(set) var notes: [Note] = []
  private(set) var outputs = 0
  private(set) var outputBytes = 0

  private static let noteLimit = 60

  init(_ graph: GraphSketch = GraphSketch(), run: String = "", manifest: String = "") {
    self.run = run
    self.manifest = manifest
    stages = graph.stages.map { Stage(id: $0.id, op: $0.op) }
    sources = graph.sources.map { Source(id: $0.id, op: $0.op) }
  }

  /// Whether somebody ended the run on purpose.
  var isCancelled: Bool { end?.result == .cancelled }

  /// What the ring shows.
  var shown: Ring.Shown { Ring.Shown(state, isCancelled: isCancelled) }

  /// The part that is done; nil while the total is unknown.
  var ratio: Double? {
    if state == .done && !isCancelled && counts.cancelled == 0 { return 1 }
    return total.map { $0 == 0 ? 1 : min(1, Double(counts.ended) / Double($0)) }
  }

  /// The time that is left, in seconds.
  var secondsLeft: Double? {
    guard state == .active, let total, itemsPerSecond > 0 else { return nil }
    return Double(max(0, total - counts.ended)) / itemsPerSecond
  }

  mutating func handle(_ event: Event) {
    elapsed = max(elapsed, event.elapsed)
    groups.handle(event)
    switch event.payload {
    case .streamStart(let start):
      run = event.run
      manifest = start.manifest ?? manifest
      started = event.time
    case .runState(let move):
      state = move.to
      if move.to == .done { settle() }
    case .runProgress(let progress): take(progress)
    case .runEnd(let end): finish(end)
    case .sourceEnd(let end):
      change(source: end.source) {
        $0.total = end.items
        $0.hasEnded = true
      }
    case .stageEnd(let end): change(stage: end.stage) { PageBook.take(end, &$0) }
    case .itemStart: if let subject = event.subject { seeStart(subject) }
    case .itemEnd(let end): if let subject = event.subject { take(end, subject) }
    case .output(let output):
      outputs += 1
      outputBytes += output.bytes
    case .control(let control): take(control, event)
    case .log(let line): if line.level >= .info { note(event, line.level.rawValue, line.message) }
    case .sinkError(let failure): note(event, "error", "the sink \(failure.sink) was given up: \(failure.error.words)")
    case .pluginCrash: note(event, "error", event.words)
    case .diagnostic(let found): note(event, found.diagnostic.severity.rawValue, found.diagnostic.line)
    default: break
    }
  }

  /// Lets the seconds pass in which nothing is told.
  mutating func pass(_ elapsed: Interval) {
    guard state != .idle, state != .done else { return }
    self.elapsed = max(self.elapsed, elapsed)
    recent.advance(to: self.elapsed)
  }

  /// The items that wait for their next try in each stage are known by the table of items.
  mutating func setRetrying(_ counts: [String: Int]) {
    for place in stages.indices { stages[place].retrying = counts[stages[place].id] ?? 0 }
  }

  // MARK: What happened

  private mutating func take(_ progress: Payload.RunProgress) {
    recent.add(bytes: max(0, progress.bytesIn - bytesIn), at: elapsed)
    bytesIn = max(bytesIn, progress.bytesIn)
    total = progress.items.total ?? total
    bytesPerSecond = progress.bytesPerSecond
    itemsPerSecond = progress.itemsPerSecond
    inFlight = progress.inFlight
    for place in stages.indices { stages[place].running = progress.stages[stages[place].id] ?? 0 }
  }

  private mutating func finish(_ end: Payload.RunEnd) {
    recent.add(bytes: max(0, end.bytesIn - bytesIn), at: elapsed)
    self.end = end
    counts = end.items
    total = end.items.total ?? total
    bytesIn = end.bytesIn
    state = .done
    settle()
  }

  private mutating func settle() {
    inFlight = 0
    bytesPerSecond = 0
    itemsPerSecond = 0
    held = []
    for place in stages.indices { stages[place].running = 0 }
  }

  private static func take(_ end: Payload.StageEnd, _ stage: inout Stage) {
    stage.ok = end.ok
    stage.failed = end.failed
    stage.filtered = end.filtered
    stage.hasEnded = true
    stage.running = 0
  }

  private mutating func seeStart(_ subject: ItemSubject) {
    change(source: subject.source) {
      $0.seen += 1
      $0.total = subject.total ?? $0.total
    }
  }

  private mutating func take(_ end: Payload.ItemEnd, _ subject: ItemSubject) {
    recent.add(items: 1, at: elapsed)
    switch end.status {
    case .ok: counts.ok += 1
    case .filtered: counts.filtered += 1
    case .failed: counts.failed += 1
    case .cancelled: counts.cancelled += 1
    }
    if end.isCached && end.status == .ok { counts.cached += 1 }
    change(source: subject.source) {
      $0.ended += 1
      if end.status == .failed { $0.failed += 1 }
    }
    let last = end.stages.last?.stage
    for time in end.stages {
      change(stage: time.stage) { stage in
        stage.busy = stage.busy + time.elapsed
        // What the stage itself has said at its end counts its last items already.
        if stage.hasEnded { return }
        if time.stage == last, end.status == .failed {
          stage.failed += 1
        } else if time.stage == last, end.status == .filtered {
          stage.filtered += 1
        } else {
          stage.ok += 1
        }
      }
    }
  }

  private mutating func take(_ control: Payload.Control, _ event: Event) {
    note(
      event, control.isAccepted ? "info" : "warn",
      "\(control.verb)\(control.scope == "run" ? "" : " \(control.scope)"), asked by \(control.by): \(control.message)")
    guard control.isAccepted, control.scope != "run" else { return }
    if control.verb.hasPrefix("pause") {
      if !held.contains(control.scope) { held.append(control.scope) }
    } else if control.verb == "resume" || control.verb == "cancel" || control.verb == "drain" {
      held.removeAll { $0 == control.scope }
    }
  }

  private mutating func note(_ event: Event, _ level: String, _ text: String) {
    notes.append(Note(time: event.time, level: level, text: text))
    if notes.count > Self.noteLimit { notes.removeFirst(notes.count - Self.noteLimit) }
  }

  private mutating func change(stage id: String, _ body: (inout Stage) -> Void) {
    if let place = stages.firstIndex(where: { $0.id == id }) { return body(&stages[place]) }
    guard stages.count < 200 else { return }
    stages.append(Stage(id: id, op: ""))
    body(&stages[stages.count - 1])
  }

  private mutating func change(source id: String, _ body: (inout Source) -> Void) {
    if let place = sources.firstIndex(where: { $0.id == id }) { return body(&sources[place]) }
    guard sources.count < 200 else { return }
    sources.append(Source(id: id, op: ""))
    body(&sources[sources.count - 1])
  }
}

/// How much happened in each of the last seconds.
struct Recent {
  /// So many seconds are remembered.
  static let span = 300

  /// The second of the newest entry, counted from the run's start.
  private(set) var second = 0
  private var itemRing = [Int](repeating: 0, count: span)
  private var byteRing = [Int](repeating: 0, count: span)

  mutating func add(items: Int = 0, bytes: Int = 0, at time: Interval) {
    advance(to: time)
    itemRing[second % Self.span] += items
    byteRing[second % Self.span] += bytes
  }

  /// Lets the time go on without anything happening.
  mutating func advance(to time: Interval) {
    let now = max(second, time.nanoseconds / 1_000_000_000)
    guard now > second else { return }
    for step in (max(second + 1, now - Self.span + 1))...now {
      itemRing[step % Self.span] = 0
      byteRing[step % Self.span] = 0
    }
    second = now
  }

  /// The items of each second, the oldest first.
  var items: [Int] { values(itemRing) }
  /// The bytes of each second, the oldest first.
  var bytes: [Int] { values(byteRing) }

  private func values(_ ring: [Int]) -> [Int] {
    let count = min(second + 1, Self.span)
    return ((second - count + 1)...second).map { ring[$0 % Self.span] }
  }
}
