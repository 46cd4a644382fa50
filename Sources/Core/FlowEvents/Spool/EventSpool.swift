public import FlowBase

/// What waits for one listener of one run, in files that outlive the process.
///
/// An event that must not be lost is in the file before anybody is told of it, so that a process that is killed loses
/// none. What may be replaced waits in memory, only the newest of each, and is written down with the batch that takes it
/// along. A batch is written down before it is sent, so that it has the same events and the same name in every try.
public final class EventSpool: Sendable {
  private struct State {
    var files: SpoolFiles?
    var lock: Descriptor?
    var sync: SpoolSync?
    var isOpen = false
    var newest = NewestQueue<[UInt8]>()
    /// The next event to be taken, read already.
    var front: SpoolRecord?
    /// Events of a batch that an earlier process made, by `seq`.
    var passing: [(seq: Int, bytes: [UInt8])] = []
    /// The last event of the batch that was cut and is not done.
    var cut: (first: Int, last: Int)?
    var done = -1
    var kept = 0
    var keptBytes = 0
    /// Since when the oldest event waits.
    var oldest: Instant?
    /// Where there is no folder, records wait here.
    var memory = Fifo<SpoolRecord>()
    var memoryBytes = 0
    /// How many bytes the spools of earlier runs have.
    var others = 0

    var used: Int { others + (files?.bytes ?? memoryBytes) }
    var count: Int { kept + newest.count + passing.count }
  }

  /// The run whose events these are.
  public let run: String
  /// The sink that they are for.
  public let sink: String
  /// The folder with a folder for each run of which something is left; nil where events wait in memory.
  public let folder: String?
  private let form: String
  private let limit: Int
  private let time: any TimeSource
  private let state: Guarded<State>

  /// A spool for a run's events of one sink, of at most so many bytes together with what earlier runs have left.
  ///
  /// Without a folder the events wait in memory, and go with the process.
  public init(
    folder: String?, run: String, sink: String, form: String, limit: Int = 256_000_000,
    time: any TimeSource = SystemTime()
  ) {
    self.folder = folder
    self.run = run
    self.sink = sink
    self.form = form
    self.limit = limit
    self.time = time
    state = Guarded(State())
  }

  /// Opens what a run has left; nil where a process that still lives has it.
  init?(leftIn folder: String, run: String, sink: String, time: any TimeSource = SystemTime()) throws(Fault) {
    self.folder = folder
    self.run = run
    self.sink = sink
    self.time = time
    limit = .max
    let path = "\(folder)/\(run)"
    guard let lock = try EventSpool.lock(path) else { return nil }
    let files = try SpoolFiles(folder: path, form: "", segmentSize: .max)
    var state = State()
    state.files = files
    state.lock = lock
    state.isOpen = true
    form = try EventSpool.recall(files, &state)
    self.state = Guarded(state)
  }

  /// How many bytes of disk, or of memory, it takes.
  public var bytes: Int { state.withLock { $0.used } }
  /// How many events wait.
  public var count: Int { state.withLock { $0.count } }
  /// How many bytes could not be read because a crash or the disk had damaged them.
  public var damagedBytes: Int { state.withLock { $0.files?.damagedBytes ?? 0 } }

  // MARK: The bus's side

  /// Adds an event; with `force` also where there is no room.
  func add(_ event: Event, _ bytes: [UInt8], force: Bool) -> Backlog.Outcome {
    state.withLock { state in
      let used = state.used
      let isCrowded = used > limit / 8 * 7
      switch event.delivery {
      case .newest:
        if isCrowded { return .dropped }
        if state.count == 0 { state.oldest = time.now() }
        let pushed = state.newest.add(.init(seq: event.seq, key: NewestKey(event), element: bytes))
        return pushed.map(Backlog.Outcome.replaced) ?? .kept
      case .droppable where isCrowded: return .dropped
      case .kept, .droppable: break
      }
      let record = SpoolRecord(kind: .event, seq: event.seq, payload: bytes)
      guard force || used + record.size <= limit else { return .overflow(full) }
      do throws(Fault) {
        try open(&state)
        if state.count == 0 { state.oldest = time.now() }
        try write([record], last: event.seq, &state)
      } catch {
        return .overflow(error)
      }
      state.kept += 1
      state.keptBytes += bytes.count
      return .kept
    }
  }

  /// The `seq` of the first event that waits.
  func firstWaiting() -> Int? {
    state.withLock { state in
      [try? peek(&state)?.seq, state.newest.firstSeq(), state.passing.first?.seq].compactMap(\.self).min()
    }
  }

  /// Whether there is room again for a run that had to wait.
  var isRelaxed: Bool { bytes <= limit / 2 }

  private var full: Fault {
    Fault(
      "sink.overflow", .local,
      "\(ByteCount(limit).text) of events wait for it on disk, the most that may; it gets no more of them")
  }

  // MARK: The courier's side

  /// Whether a batch can be taken now; with `all` it need not be full.
  func isReady(_ rule: BatchRule, all: Bool) -> Bool {
    state.withLock { state in
      guard state.count > 0 else { return false }
      if all || state.cut != nil || state.count >= rule.events || state.keptBytes >= rule.bytes { return true }
      return state.oldest.map { time.now() - $0 >= rule.wait } ?? true
    }
  }

  /// When the oldest event will have waited long enough; nil where none waits.
  func due(_ rule: BatchRule) -> Instant? {
    state.withLock { state in state.count == 0 ? nil : state.oldest.map { $0 + rule.wait } }
  }

  /// Takes the next batch, and writes down what is in it; nil where nothing waits.
  func take(_ rule: BatchRule) throws(Fault) -> EventBatch? {
    try state.withLock { (state) throws(Fault) in try take(rule, &state) }
  }

  private func take(_ rule: BatchRule, _ state: inout State) throws(Fault) -> EventBatch? {
    var taken: [SpoolRecord] = []
    var bytes = 0
    let cut = state.cut
    while cut != nil || taken.count < rule.events {
      let kept = try peek(&state)
      let passing = state.passing.first?.seq
      let replaceable = state.newest.firstSeq()
      guard let seq = [kept?.seq, passing, replaceable].compactMap(\.self).min() else { break }
      if let cut, seq > cut.last { break }
      let record: SpoolRecord
      if seq == passing, let first = state.passing.first {
        record = SpoolRecord(kind: .event, seq: seq, payload: first.bytes)
      } else if seq == kept?.seq, let kept {
        record = kept
      } else if let newest = state.newest.firstElement() {
        record = SpoolRecord(kind: .passing, seq: seq, payload: newest)
      } else {
        break
      }
      if cut == nil, !taken.isEmpty, bytes + record.payload.count + 1 > rule.bytes { break }
      bytes += record.payload.count + 1
      taken.append(record)
      if seq == passing {
        state.passing.removeFirst()
      } else if seq == kept?.seq {
        state.front = nil
        state.kept -= 1
        state.keptBytes -= record.payload.count
      } else {
        _ = state.newest.popFirst()
      }
    }
    guard let first = taken.first, let last = taken.last else {
      guard let cut else { return nil }
      // Nothing of that batch can be read any more: what is behind it can.
      state.cut = nil
      state.done = cut.last
      return try take(rule, &state)
    }
    if state.count == 0 { state.oldest = nil }
    let batch = EventBatch(
      run: run, sink: sink, form: form, first: cut?.first ?? first.seq, last: cut?.last ?? last.seq,
      events: taken.map(\.payload))
    state.cut = (batch.first, batch.last)
    if cut == nil {
      try write(
        taken.filter { $0.kind == .passing } + [SpoolRecord.cut(from: batch.first, to: batch.last)],
        last: batch.last, &state)
    }
    return batch
  }

  /// Says that the batch which was taken last need not be sent again.
  func finishBatch() throws(Fault) {
    try state.withLock { (state) throws(Fault) in
      guard let cut = state.cut else { return }
      state.cut = nil
      state.done = cut.last
      try write([SpoolRecord(kind: .done, seq: cut.last)], last: -1, &state)
      state.files?.removeDone(through: cut.last)
    }
  }

  /// Looks again how much earlier runs have left.
  func recount() {
    guard let parent = folder else { return }
    let all = (try? EventSpool.size(of: parent)) ?? 0
    state.withLock { $0.others = max(0, all - ($0.files?.bytes ?? 0)) }
  }

  /// Sets what was written to the disk going; twice a second is often enough.
  func sync() {
    let file = state.withLock { $0.files?.unsynced() }
    try? file?.syncData()
  }

  /// Gives the files up; where nothing waits, they are removed.
  func close() {
    let (isDone, lock) = state.withLock { state -> (Bool, Descriptor?) in
      defer {
        state.sync?.stop()
        state.sync = nil
        state.files = nil
        state.lock = nil
      }
      return (state.isOpen && state.count == 0 && state.cut == nil && state.files != nil, state.lock)
    }
    // The lock is held until the folder is gone.
    withExtendedLifetime(lock) {
      if isDone, let parent = folder { try? FileSystem.removeTree("\(parent)/\(run)") }
    }
  }

  // MARK: Within

  private func open(_ state: inout State) throws(Fault) {
    guard !state.isOpen, let parent = folder else { return }
    let path = "\(parent)/\(run)"
    try naming("make", path) { () throws(Errno) in try FileSystem.makeDirectories(path, mode: 0o700) }
    state.lock = try EventSpool.lock(path)
    state.others = try EventSpool.size(of: parent)
    state.files = try SpoolFiles(
      folder: path, form: form, segmentSize: max(1 << 16, min(8 << 20, limit / 8)))
    state.sync = SpoolSync(self)
    state.isOpen = true
  }

  private static func lock(_ path: String) throws(Fault) -> Descriptor? {
    try naming("lock", path) { () throws(Errno) in
      let file = try FileSystem.open("\(path)/lock", [.write, .create], mode: 0o600)
      return try file.tryLock() ? file : nil
    }
  }

  private func write(_ records: [SpoolRecord], last: Int, _ state: inout State) throws(Fault) {
    if let files = state.files {
      var bytes: [UInt8] = []
      for record in records { record.append(to: &bytes) }
      return try files.append(bytes, last: last)
    }
    for record in records where record.kind == .event {
      state.memory.append(record)
      state.memoryBytes += record.size
    }
  }

  /// The next event that must not be lost, left where it is.
  private func peek(_ state: inout State) throws(Fault) -> SpoolRecord? {
    while state.front == nil {
      guard let files = state.files else {
        state.front = state.memory.popFirst()
        state.memoryBytes -= state.front?.size ?? 0
        return state.front
      }
      guard let record = try files.next() else { return nil }
      if record.kind == .event, record.seq > state.done { state.front = record }
    }
    return state.front
  }

  /// Finds out from the files of an earlier process what is still to be done; gives the events' form.
  private static func recall(_ files: SpoolFiles, _ state: inout State) throws(Fault) -> String {
    var form = ""
    var passing: [(seq: Int, bytes: [UInt8])] = []
    var sizes: [(seq: Int, bytes: Int)] = []
    var firstLeft = 0
    var cut: (first: Int, last: Int)?
    while let record = try files.next() {
      switch record.kind {
      case .form: form = String(decoding: record.payload, as: UTF8.self)
      case .event: sizes.append((record.seq, record.payload.count))
      case .passing: passing.append((record.seq, record.payload))
      case .cut: cut = record.first.map { ($0, record.seq) }
      case .done:
        state.done = max(state.done, record.seq)
        let done = state.done
        passing.removeAll { $0.seq <= done }
        while firstLeft < sizes.count, sizes[firstLeft].seq <= done { firstLeft += 1 }
      }
    }
    let done = state.done
    if let cut, cut.last > done { state.cut = cut }
    // What no batch takes along was only ever the newest of its kind at that moment.
    let last = state.cut?.last ?? -1
    state.passing = passing.filter { $0.seq > done && $0.seq <= last }.sorted { $0.seq < $1.seq }
    let left = sizes[firstLeft...]
    state.kept = left.count
    state.keptBytes = left.reduce(0) { $0 + $1.bytes }
    files.rewind()
    return form
  }

  /// How many bytes all spools of a sink have.
  private static func size(of folder: String) throws(Fault) -> Int {
    var size = 0
    try naming("read", folder) { () throws(Errno) in
      let listing = try DirectoryListing(of: folder)
      while let entry = try listing.next() {
        guard entry.kind == .directory else { continue }
        let inner = try DirectoryListing(of: "\(folder)/\(entry.name)")
        while let file = try inner.next() {
          size += (try? FileSystem.facts(file.name, in: inner.directory).size) ?? 0
        }
      }
    }
    return size
  }
}
