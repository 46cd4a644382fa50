public import FlowBase

/// Numbers what happens in a run and tells everybody who listens.
///
/// Any thread may emit; `seq` is given here and nowhere else. An event is turned into each listener's bytes at once,
/// and the bytes are taken away by a thread a listener, so that one that hangs holds up nobody.
public final class EventBus: Sendable {
  private struct State {
    var seq = 0
    /// Failures of listeners from before the first event, which is always the stream's start.
    var earlyFailures: [(sink: String, fault: Fault, missedFrom: Int?)] = []
    var counts = EventCounts()
    var streams: [EventStream] = []
    var feeds: [EventFeed] = []
    var isOver = false
    var dropsReported: Instant
    /// Whether the run has to wait for somebody since the event that is being told.
    var startsHolding = false
    /// Kept between events for its memory.
    var buffer: [UInt8] = []
  }

  private let run: String
  private let time: any TimeSource
  private let start: Instant
  private let limits: StreamLimits
  private let mask: (@Sendable (String) -> String?)?
  private let onHoldChange: @Sendable () -> Void
  private let state: Guarded<State>

  /// So much of a stream is handed over at once.
  private static let chunk = 1 << 16
  /// Where so many bytes had gathered, more are on their way, and are let gather for a moment.
  ///
  /// Whoever tells them has to wake the reader for each piece. A reader that is behind goes on at once.
  private static let plenty = 1 << 13
  private static let breath = Interval.milliseconds(2)
  /// What a stream has skipped is told at most this often.
  private static let dropReports = Interval.seconds(10)

  /// A bus for one run.
  ///
  /// `mask` is given every text that can hold what must not be told, and gives what is told in its place, or nil where
  /// it may be told. `onHoldChange` is called, from any thread, when `holdsRun` has changed.
  public init(
    run: String, time: any TimeSource = SystemTime(), limits: StreamLimits = StreamLimits(),
    mask: (@Sendable (String) -> String?)? = nil, onHoldChange: @escaping @Sendable () -> Void = {}
  ) {
    self.run = run
    self.time = time
    self.limits = limits
    self.mask = mask
    self.onHoldChange = onHoldChange
    start = time.now()
    state = Guarded(State(dropsReported: start))
  }

  /// Adds a listener, with limits of its own where they are given; it hears what is emitted from now on.
  public func attach(_ listener: Listener, limits own: StreamLimits? = nil) {
    let stream = EventStream(listener, limits: own ?? limits)
    state.withLock { state in
      // What must not be lost is on disk before anybody is told of it.
      let place = listener.courier == nil ? state.streams.count : 0
      state.streams.insert(stream, at: place)
    }
    pump(stream)
  }

  /// The events from now on, as values, for a reader in this program.
  public func events(_ filter: EventFilter = .all) -> EventFeed {
    let feed = EventFeed(filter)
    state.withLock { $0.feeds.append(feed) }
    return feed
  }

  /// Tells everybody what happened; after the run's end nobody is told anything.
  public func emit(_ payload: Payload, about subject: ItemSubject? = nil) {
    tell { state in
      tell(payload, about: subject, &state)
      let early = state.earlyFailures
      state.earlyFailures = []
      for failure in early { tellFailure(of: failure.sink, failure.fault, missedFrom: failure.missedFrom, &state) }
      if case .runProgress = payload { reportDrops(&state) }
    }
  }

  /// Whether a required listener is so far behind that nothing new should be started until it has caught up.
  public var holdsRun: Bool { state.withLock { $0.streams }.contains(where: \.holdsRun) }

  /// Why required listeners cannot deliver, as far as is known.
  public var requiredFaults: [Fault] {
    state.withLock { $0.streams }.filter(\.listener.isRequired).compactMap(\.report.fault)
  }

  /// Waits until the required listeners have taken all so far, so that the run's end can tell whether they did.
  public func settleRequired() async {
    for stream in state.withLock({ $0.streams }) where stream.listener.isRequired {
      if let fault = await stream.settle() {
        tell { tellFailure(of: stream.listener.name, fault, missedFrom: stream.report.missedFrom, &$0) }
      }
    }
  }

  /// Ends the stream: tells the run's end, and waits for the listeners for as long as each one's patience lasts.
  @discardableResult
  public func finish(_ end: Payload.RunEnd) async -> [StreamReport] {
    let streams = state.withLock { state in
      if !state.isOver {
        reportDrops(&state, isLast: true)
        tell(end, &state)
        state.isOver = true
      }
      return state.streams
    }
    for stream in streams { stream.wake() }
    await withTaskGroup(of: Void.self) { group in
      for stream in streams { group.addTask { await stream.settle() } }
    }
    for stream in streams { stream.listener.courier?.spool.close() }
    return streams.map(\.report)
  }

  // MARK: Telling

  /// Tells something unless the run has ended, and then lets all readers look: nobody is told before all have it.
  private func tell(_ body: (inout State) -> Void) {
    let (streams, startsHolding) = state.withLock { state in
      state.startsHolding = false
      if !state.isOver { body(&state) }
      return (state.streams, state.startsHolding)
    }
    for stream in streams { Wakes.wake(stream) }
    if startsHolding { onHoldChange() }
  }

  private func event(_ payload: Payload, about subject: ItemSubject?, _ state: inout State) -> Event {
    let seq = state.seq
    state.seq += 1
    state.counts[payload.type] += 1
    var event = Event(
      seq: seq, time: time.wall(), elapsed: time.now() - start, run: run, subject: subject, payload: payload)
    if let mask {
      if let masked = subject?.masked(by: mask) { event.subject = masked }
      if let masked = payload.masked(by: mask) { event.payload = masked }
    }
    return event
  }

  private func tell(_ payload: Payload, about subject: ItemSubject? = nil, _ state: inout State) {
    let type = payload.type
    guard !state.feeds.isEmpty || state.streams.contains(where: { $0.listener.filter.passes(type) }) else {
      // Nobody listens, but it has happened.
      state.seq += 1
      state.counts[type] += 1
      return
    }
    let event = event(payload, about: subject, &state)
    var overflows: [(EventStream, Fault)] = []
    for stream in state.streams where stream.listener.filter.passes(event.type) {
      state.buffer.removeAll(keepingCapacity: true)
      stream.listener.render(event, &state.buffer)
      guard !state.buffer.isEmpty else { continue }
      switch stream.tell(event, state.buffer) {
      case .fine: break
      case .holds: state.startsHolding = true
      case .overflowed(let fault): overflows.append((stream, fault))
      }
    }
    for feed in state.feeds { feed.tell(event) }
    for (stream, fault) in overflows {
      tellFailure(of: stream.listener.name, fault, missedFrom: event.seq, &state)
    }
  }

  private func tellFailure(of sink: String, _ fault: Fault, missedFrom: Int?, _ state: inout State) {
    guard state.seq > 0 else { return state.earlyFailures.append((sink, fault, missedFrom)) }
    let missed = missedFrom.map { "; it misses the events from seq \($0) on" } ?? ""
    tell(.sinkError(.init(sink: sink, error: EventError(fault), missedFrom: missedFrom)), &state)
    tell(.log(.init(.warn, "sink \(sink): \(fault.message)\(missed)")), &state)
  }

  private func reportDrops(_ state: inout State, isLast: Bool = false) {
    let now = time.now()
    guard isLast || now - state.dropsReported >= Self.dropReports else { return }
    state.dropsReported = now
    for stream in state.streams {
      for (type, count) in stream.takeUnreportedDrops() {
        tell(.sinkDropped(.init(sink: stream.listener.name, type: type, count: count)), &state)
      }
    }
  }

  private func tell(_ end: Payload.RunEnd, _ state: inout State) {
    var last = event(.runEnd(end), about: nil, &state)
    var end = end
    end.events = state.counts
    for stream in state.streams {
      stream.end(last) { dropped in
        end.dropped = dropped
        last.payload = .runEnd(end)
        var bytes: [UInt8] = []
        stream.listener.render(last, &bytes)
        return bytes
      }
    }
    for feed in state.feeds { feed.end(last, end) }
  }

  // MARK: Taking away

  private func pump(_ stream: EventStream) {
    let pool = BlockingPool(name: stream.listener.name, threads: 1)
    let task = Task(executorPreference: pool) {
      do {
        try await stream.listener.open()
        if let courier = stream.listener.courier { try await self.deliver(stream, courier) }
        while let chunk = try await stream.next(limit: Self.chunk, released: self.onHoldChange) {
          try await stream.listener.deliver(chunk)
          // On a thread of its own: nobody else waits.
          if (Self.plenty..<Self.chunk).contains(chunk.count) { WorkerThread.rest(Self.breath) }
        }
        try await stream.listener.close()
        stream.finish(nil)
      } catch {
        self.fail(stream, Fault(error))
      }
      pool.close()
    }
    stream.keep(task)
  }

  /// Delivers what earlier runs have left, and then this one's events, in batches.
  private func deliver(_ stream: EventStream, _ courier: Courier) async throws {
    try await courier.sendRemains()
    while let batch = try await stream.nextBatch(courier, released: onHoldChange) {
      if let fault = try await courier.send(batch) { note(fault, stream) }
    }
  }

  /// Tells of a batch that cannot be delivered, where the run depends on it; the stream goes on.
  private func note(_ fault: Fault, _ stream: EventStream) {
    guard stream.listener.isRequired else { return }
    stream.note(fault)
    tell { tellFailure(of: stream.listener.name, fault, missedFrom: nil, &$0) }
  }

  /// A reader that closed its end on purpose is no fault worth a word, unless the run depends on it.
  private func fail(_ stream: EventStream, _ fault: Fault) {
    // Given up before, and told of: the deliveries have only now been stopped.
    if stream.isOver { return }
    let heldRun = stream.finish(fault)
    if heldRun { onHoldChange() }
    guard fault.code != "sink.closed" || stream.listener.isRequired else { return }
    tell { tellFailure(of: stream.listener.name, fault, missedFrom: stream.report.missedFrom, &$0) }
  }
}
