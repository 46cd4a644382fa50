internal import FlowBase
internal import FlowEvents

/// What a person who waits for a run wants to see of it: a value made from events, and turned into lines of text.
struct ProgressView {
  /// An item that is being worked on.
  struct Busy {
    var subject: ItemSubject
    var progress: Payload.ItemProgress?
  }

  /// Failures of one code at one host.
  struct FailureGroup {
    var code: String
    var host: String?
    var count: Int
    /// One item of them, with its message.
    var example: String
    var message: String
  }

  private(set) var manifest: String?
  private(set) var output: String?
  private(set) var hasStarted = false
  private(set) var state = RunState.idle
  private(set) var counts = ItemCounts()
  private(set) var reading: Payload.RunProgress?
  private(set) var end: Payload.RunEnd?
  private(set) var elapsed = Interval.zero
  private(set) var files = 0
  private(set) var fileBytes = 0
  private(set) var failures: [FailureGroup] = []
  /// What went wrong with the run itself, such as a list that is not there; the first of it.
  private(set) var troubles: [String] = []
  /// The first things that were odd and no failures, and how many there were.
  private(set) var warnings: [String] = []
  private(set) var warningCount = 0
  /// The last failures, newest last.
  private(set) var recent: [(name: String, error: EventError)] = []
  /// Items at work, those that began first first.
  private var busyOrder: [String] = []
  private var busyItems: [String: Busy] = [:]

  /// So many groups of failures are told apart.
  private static let groupLimit = 200
  private static let recentLimit = 3
  /// So many items at work are looked after; a terminal shows fewer.
  private static let busyLimit = 256

  /// The items at work that are shown, those that began first first.
  var busy: [Busy] { busyOrder.compactMap { busyItems[$0] } }

  /// How many items are at work; beyond those that are looked after, as many as the stages have operations.
  var inFlight: Int {
    guard busyItems.count >= Self.busyLimit, end == nil else { return busyItems.count }
    return max(busyItems.count, reading?.stages.values.reduce(0, +) ?? 0)
  }

  /// The part of the run that is done; nil while the number of items is unknown.
  var ratio: Double? {
    guard let total = counts.total, total > 0 else { return reading?.ratio }
    return max(min(1, Double(counts.ended) / Double(total)), reading?.ratio ?? 0)
  }

  /// Takes note of an event; false if nothing changes on the screen.
  mutating func handle(_ event: Event) -> Bool {
    elapsed = event.elapsed
    switch event.payload {
    case .streamStart(let start): manifest = start.manifest
    case .runStart(let start):
      hasStarted = true
      state = .active
      output = start.output
    case .runState(let move): state = move.to
    case .runProgress(let progress):
      reading = progress
      counts.total = progress.items.total
    case .runEnd(let end):
      self.end = end
      counts = end.items
      busyOrder = []
      busyItems = [:]
    case .itemStart: begin(event.subject)
    case .itemProgress(let progress):
      guard let subject = event.subject else { return false }
      begin(subject)
      busyItems[subject.item]?.subject = subject
      busyItems[subject.item]?.progress = progress
    case .itemEnd(let end): finish(event.subject, end)
    case .barrierEnd(let end):
      guard let error = end.error else { return false }
      fail(end.barrier.group.map { "\(end.barrier.stage) [\($0)]" } ?? end.barrier.stage, error)
    case .output(let file):
      files += 1
      fileBytes += file.bytes
    case .log(let line):
      // What concerns no item is in nobody's count.
      if line.level == .error, troubles.count < 8, !troubles.contains(line.message) { troubles.append(line.message) }
      if line.level == .warn {
        warningCount += 1
        if warnings.count < 3 { warnings.append(line.message) }
      }
      return false
    default: return false
    }
    return true
  }

  private mutating func begin(_ subject: ItemSubject?) {
    guard let subject, busyItems[subject.item] == nil, busyItems.count < Self.busyLimit else { return }
    busyItems[subject.item] = Busy(subject: subject)
    busyOrder.append(subject.item)
  }

  private mutating func finish(_ subject: ItemSubject?, _ end: Payload.ItemEnd) {
    switch end.status {
    case .ok: counts.ok += 1
    case .filtered: counts.filtered += 1
    case .failed: counts.failed += 1
    case .cancelled: counts.cancelled += 1
    }
    if end.isCached { counts.cached += 1 }
    guard let subject else { return }
    if busyItems.removeValue(forKey: subject.item) != nil { busyOrder.removeAll { $0 == subject.item } }
    if end.status == .failed, let error = end.error { fail(subject.label, error) }
  }

  private mutating func fail(_ name: String, _ error: EventError) {
    recent.append((name, error))
    if recent.count > Self.recentLimit { recent.removeFirst() }
    let fault = error.fault
    if let place = failures.firstIndex(where: { $0.code == fault.code && $0.host == fault.host }) {
      failures[place].count += 1
    } else if failures.count < Self.groupLimit {
      failures.append(
        FailureGroup(code: fault.code, host: fault.host, count: 1, example: name, message: fault.message))
    }
  }
}
