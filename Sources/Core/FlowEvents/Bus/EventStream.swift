internal import FlowBase

/// One listener's stream: what it has been told, what waits for it, and how it stands.
final class EventStream: Wakeable {
  /// What the bus must do after telling a stream something.
  enum Told: Equatable {
    case fine
    /// The stream is full, and from now on the run is to wait for it.
    case holds
    /// The stream gets nothing more, from this event on.
    case overflowed(Fault)
  }

  private enum Standing {
    case open
    /// What waits is still delivered, and the run's end; nothing else is added.
    case overflowed
    /// No more will be added; what waits is still delivered.
    case ending
    /// Nothing is delivered any more.
    case over
  }

  private struct State {
    var backlog: Waiting
    var standing = Standing.open
    var dropped = EventCounts()
    var reported = EventCounts()
    var fault: Fault?
    var missedFrom: Int?
    /// The first `seq` of the chunk that is being delivered.
    var inHand: Int?
    var holdsRun = false
    /// Rises with each chunk that was delivered.
    var progress = 0
    var reader: CheckedContinuation<Void, Never>?
    /// Whether the reader is woken for a batch that is not full.
    var hasAlarm = false
    /// Whether somebody waits for all that has been told, so that no batch waits for more events.
    var isSettling = false
    /// What delivers, to be stopped once the stream is over.
    var task: Task<Void, Never>?
    var idlers: [CheckedContinuation<Void, Never>] = []

    var isIdle: Bool { standing == .over || (backlog.isEmpty && inHand == nil && standing != .ending) }

    mutating func takeIdlers() -> [CheckedContinuation<Void, Never>] {
      guard isIdle else { return [] }
      defer { idlers = [] }
      return idlers
    }
  }

  let listener: Listener
  private let state: Guarded<State>

  init(_ listener: Listener, limits: StreamLimits) {
    self.listener = listener
    state = Guarded(State(backlog: Waiting(listener, limits: limits)))
  }

  /// Whether what is told waits in files, so that it is kept also where nobody delivers it any more.
  private var isSpooled: Bool { listener.courier != nil }

  /// Remembers what delivers.
  func keep(_ task: Task<Void, Never>) { state.withLock { $0.task = task } }

  // MARK: The bus's side

  /// Takes an event's bytes; the reader is not told before `wake`.
  func tell(_ event: Event, _ bytes: [UInt8]) -> Told {
    state.withLock { state in
      guard state.standing == .open || (isSpooled && state.standing == .over) else {
        if state.standing == .overflowed { state.dropped[event.type] += 1 }
        return .fine
      }
      switch state.backlog.add(event, bytes) {
      case .kept: return .fine
      case .replaced(let type):
        state.dropped[type] += 1
        return .fine
      case .dropped:
        state.dropped[event.type] += 1
        return .fine
      case .overflow(let fault):
        guard state.standing == .open else {
          state.dropped[event.type] += 1
          return .fine
        }
        if listener.isRequired, case .kept = state.backlog.add(event, bytes, force: true) {
          defer { state.holdsRun = true }
          return state.holdsRun ? .fine : .holds
        }
        state.standing = .overflowed
        state.fault = fault
        state.missedFrom = event.seq
        state.dropped[event.type] += 1
        return .overflowed(fault)
      }
    }
  }

  /// Takes the last event, whatever waits already, unless nobody reads any more.
  func end(_ event: Event, render: (EventCounts) -> [UInt8]) {
    state.withLock { state in
      guard state.standing != .over || isSpooled else { return }
      let bytes = render(state.dropped)
      if !bytes.isEmpty { _ = state.backlog.add(event, bytes, force: true) }
      if state.standing != .over { state.standing = .ending }
    }
  }

  /// Lets the reader look.
  func wake() {
    let reader = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if state.standing == .ending || state.standing == .over { return state.reader.take() }
      if let courier = listener.courier {
        // A batch that is not full waits for the alarm, which the reader itself sets.
        guard !state.hasAlarm || courier.spool.isReady(courier.rule, all: state.isSettling) else { return nil }
      }
      return state.backlog.isEmpty ? nil : state.reader.take()
    }
    reader?.resume()
  }

  /// Holds a fault against the stream, which goes on.
  func note(_ fault: Fault) { state.withLock { $0.fault = $0.fault ?? fault } }

  /// How many events of each type were skipped since this was asked last.
  func takeUnreportedDrops() -> [(type: EventType, count: Int)] {
    state.withLock { state in
      let fresh = state.dropped.entries.map { ($0.type, $0.count - state.reported[$0.type]) }
      state.reported = state.dropped
      return fresh.filter { $0.1 > 0 }
    }
  }

  /// Whether nothing is delivered any more.
  var isOver: Bool { state.withLock { $0.standing == .over } }

  /// Whether the run is to wait for it.
  var holdsRun: Bool { state.withLock { $0.holdsRun } }

  var report: StreamReport {
    state.withLock { state in
      StreamReport(
        name: listener.name, isRequired: listener.isRequired, fault: state.fault, missedFrom: state.missedFrom)
    }
  }

  // MARK: The reader's side

  /// Waits for events and takes some; nil once the stream is over.
  ///
  /// `released` hears when the run need not wait any more.
  func next(limit: Int, released: () -> Void) async throws(Fault) -> [UInt8]? {
    while true {
      let (chunk, isOver, isReleased, idlers) = try state.withLock { (state) throws(Fault) in
        if state.inHand != nil {
          state.inHand = nil
          state.progress += 1
        }
        var chunk: [UInt8] = []
        if state.standing != .over, let taken = try state.backlog.take(into: &chunk, limit: limit) {
          state.inHand = taken.first
        }
        let isReleased = state.holdsRun && state.backlog.isRelaxed
        if isReleased { state.holdsRun = false }
        let isOver = state.inHand == nil && (state.standing == .ending || state.standing == .over)
        return (chunk, isOver, isReleased, state.takeIdlers())
      }
      for idler in idlers { idler.resume() }
      if isReleased { released() }
      if isOver { return nil }
      if !chunk.isEmpty { return chunk }
      await withCheckedContinuation { continuation in
        let isDue = state.withLock { state in
          guard state.backlog.isEmpty && state.standing != .ending && state.standing != .over else { return true }
          state.reader = continuation
          return false
        }
        if isDue { continuation.resume() }
      }
    }
  }

  /// Waits for a batch, after the one before was delivered; nil once the stream is over.
  func nextBatch(_ courier: Courier, released: () -> Void) async throws(Fault) -> EventBatch? {
    let spool = courier.spool
    while true {
      let (batch, isOver, isReleased, idlers) = try state.withLock { (state) throws(Fault) in
        if state.inHand != nil {
          try spool.finishBatch()
          state.inHand = nil
          state.progress += 1
        }
        let isLast = state.standing == .ending || state.standing == .overflowed || state.isSettling
        var batch: EventBatch?
        if state.standing != .over, spool.isReady(courier.rule, all: isLast) { batch = try spool.take(courier.rule) }
        state.inHand = batch?.first
        let isReleased = state.holdsRun && state.backlog.isRelaxed
        if isReleased { state.holdsRun = false }
        let isOver = batch == nil && (state.standing == .ending || state.standing == .over)
        return (batch, isOver, isReleased, state.takeIdlers())
      }
      for idler in idlers { idler.resume() }
      if isReleased { released() }
      if isOver { return nil }
      if let batch { return batch }
      let alarm = spool.due(courier.rule).map(alarm)
      await withCheckedContinuation { continuation in
        let isDue = state.withLock { state in
          let isOpen = state.standing == .open || state.standing == .overflowed
          guard isOpen, !spool.isReady(courier.rule, all: state.isSettling) else { return true }
          // Told something since the alarm was thought of: look again.
          if alarm == nil, !state.backlog.isEmpty { return true }
          state.reader = continuation
          state.hasAlarm = alarm != nil
          return false
        }
        if isDue { continuation.resume() }
      }
      alarm?.cancel()
      state.withLock { $0.hasAlarm = false }
    }
  }

  /// Lets the reader look at an instant.
  private func alarm(at instant: Instant) -> Task<Void, Never> {
    Task {
      let rest = instant - SystemTime().now()
      do { try await Task.sleep(nanoseconds: UInt64(max(0, rest.nanoseconds))) } catch { return }
      self.wakeReader()
    }
  }

  /// Ends the stream, with the fault that ended it if it did not end well; tells whether the run waited for it.
  @discardableResult
  func finish(_ fault: Fault?) -> Bool {
    let (idlers, reader, task, heldRun) = state.withLock { state in
      let heldRun = state.holdsRun
      if let fault, state.standing != .over {
        if !isSpooled { state.missedFrom = state.inHand ?? state.backlog.firstWaiting() ?? state.missedFrom }
        state.fault = fault
      }
      state.standing = .over
      state.inHand = nil
      state.holdsRun = false
      return (state.takeIdlers(), state.reader.take(), fault == nil ? nil : state.task, heldRun)
    }
    for idler in idlers { idler.resume() }
    reader?.resume()
    task?.cancel()
    return heldRun
  }

  // MARK: The end of a run

  /// Waits until everything that was told is delivered, at most for as long as the listener's patience lasts; gives the
  /// fault if the listener was given up.
  @discardableResult
  func settle() async -> Fault? {
    if let courier = listener.courier { return await settle(courier) }
    let watch = listener.patience.map { patience in
      Task { () -> Fault? in
        var seen = -1
        while let progress = self.progress, progress != seen {
          seen = progress
          do { try await Task.sleep(nanoseconds: UInt64(max(0, patience.nanoseconds))) } catch { return nil }
        }
        guard self.progress != nil else { return nil }
        let fault = Fault(
          "sink.timeout", .local, "it took nothing for \(patience.text) at the end of the run, and was given up")
        self.finish(fault)
        return fault
      }
    }
    await untilIdle()
    watch?.cancel()
    return await watch?.value
  }

  private func untilIdle() async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        if !state.isIdle { state.idlers.append(continuation) }
        return state.isIdle
      }
      if isIdle { continuation.resume() }
    }
  }

  /// Waits until the courier has delivered all, at most as long as it may take; what is left stays in the spool.
  private func settle(_ courier: Courier) async -> Fault? {
    state.withLock { $0.isSettling = true }
    wakeReader()
    let watch = Task { () -> Fault? in
      do { try await Task.sleep(nanoseconds: UInt64(max(0, courier.drain.nanoseconds))) } catch { return nil }
      guard self.progress != nil else { return nil }
      let fault = Fault(
        "sink.undelivered", .local,
        "\(courier.spool.count) events could not be delivered within \(courier.drain.text) and wait in the spool; "
          + "the next run sends them, and so does `imgflow flush`")
      self.finish(fault)
      return fault
    }
    await untilIdle()
    watch.cancel()
    state.withLock { $0.isSettling = false }
    return await watch.value
  }

  /// Lets the reader look, whatever waits.
  private func wakeReader() {
    let reader = state.withLock { $0.reader.take() }
    reader?.resume()
  }

  /// How many chunks were delivered; nil once the stream is over or nothing waits.
  private var progress: Int? { state.withLock { $0.isIdle ? nil : $0.progress } }
}
