internal import FlowBase
internal import FlowEvents
internal import FlowRun
internal import FlowStore

/// What the journal knows of a run, told as the events that a listener would have heard, as far as they are known.
struct JournalReplay {
  private let reader: JournalReader
  private let run: RunRecord
  /// How a run that goes stands; nil for one that is over.
  private let state: RunState?
  private static let page = 2000

  init(_ reader: JournalReader, _ run: RunRecord, state: RunState? = nil) {
    self.reader = reader
    self.run = run
    self.state = state
  }

  /// The events, on a thread that may wait for the disk.
  func events() async throws -> [Event] {
    let replay = self
    return try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<[Event], any Error>) in
      WorkerThread.start("replay") { continuation.resume(with: Result { try replay.read() }) }
    }
  }

  private func read() throws(Fault) -> [Event] {
    var told = Told(run)
    told.add(
      .streamStart(
        Payload.StreamStart(tool: CommandLineTool.version, manifest: run.manifest, manifestSHA256: run.manifestDigest)))
    told.add(.runState(Payload.RunStateMove(from: .idle, to: .active, by: "start")))
    if let state, state != .active { told.add(.runState(Payload.RunStateMove(from: .active, to: state, by: "run"))) }
    let sources = try reader.sourceNames()
    var last: ItemID = 0
    while true {
      let items = try reader.items(JournalReader.ItemFilter(run: run.number), after: last, limit: Self.page)
      guard let end = items.last else { break }
      last = end.id
      for item in items { try add(item, sources[item.source] ?? "?", to: &told) }
    }
    if state == nil { told.end() }
    return told.events
  }

  private func add(_ item: ItemRecord, _ source: String, to told: inout Told) throws(Fault) {
    guard let status = FlowEvents.ItemStatus(rawValue: item.status.name) else { return }
    let subject = ItemSubject(
      item: "\(source)/\(item.key)", index: item.index, url: item.url, source: source)
    told.add(.itemStart(Payload.ItemStart(key: item.key)), subject)
    var end = EndCodec.end(status, try item.facts.fields())
    end.error = item.fault.map { EventError($0) }
    if let error = end.error { told.add(.itemError(error), subject) }
    told.add(.itemEnd(end), subject)
    told.count(status, item.fault)
  }

  /// The events so far, and what they come to.
  private struct Told {
    let run: RunRecord
    var events: [Event] = []
    private var counts = ItemCounts()
    private var codes: [String: Int] = [:]

    init(_ run: RunRecord) { self.run = run }

    private var elapsed: Interval {
      guard let milliseconds = run.facts["ms"]?.asDouble else { return .zero }
      return Interval(seconds: milliseconds / 1000)
    }

    mutating func add(_ payload: Payload, _ subject: ItemSubject? = nil) {
      events.append(
        Event(
          seq: events.count, time: run.started, elapsed: .zero, run: run.id, subject: subject, payload: payload))
    }

    mutating func count(_ status: FlowEvents.ItemStatus, _ fault: Fault?) {
      switch status {
      case .ok: counts.ok += 1
      case .filtered: counts.filtered += 1
      case .failed: counts.failed += 1
      case .cancelled: counts.cancelled += 1
      }
      if let fault { codes[fault.code, default: 0] += 1 }
    }

    mutating func end() {
      counts.total = run.facts["total"]?.asInt ?? counts.ended
      counts.cached = run.facts["cached"]?.asInt ?? 0
      // A run that was killed has written no end.
      let result = run.result.flatMap(RunResult.init(rawValue:)) ?? .cancelled
      let errors = codes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        .map { CodeCount(code: $0.key, count: $0.value) }
      var end = Payload.RunEnd(
        result: result, exit: run.exit ?? 130, items: counts, bytesIn: run.facts["bytes_in"]?.asInt ?? 0, errors: errors
      )
      end.events = EventCounts([.runEnd: 1])
      events.append(
        Event(
          seq: events.count, time: run.ended ?? run.started, elapsed: elapsed, run: run.id, payload: .runEnd(end)))
    }
  }
}
