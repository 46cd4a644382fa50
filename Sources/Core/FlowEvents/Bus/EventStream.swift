internal import FlowBase

/// One listener's stream: what it has been told, what waits for it, and how it stands.
final class EventStream: Sendable {
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
    var backlog: Backlog
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
    state = Guarded(State(backlog: Backlog(limits: limits)))
  }

  // MARK: The bus's side

  /// Takes an event's bytes; the reader is not told before `wake`.
  func tell(_ event: Event, _ bytes: [UInt8]) -> Told {
    state.withLock { state in
      guard state.standing == .open else {
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
      guard state.standing != .over else { return }
      let bytes = render(state.dropped)
      if !bytes.isEmpty { _ = state.backlog.add(event, bytes, force: true) }
      state.standing = .ending
    }
  }

  /// Lets the reader look.
  func wake() {
    let reader = state.withLock { state in
      state.backlog.isEmpty && state.standing != .ending && state.standing != .over ? nil : state.reader.take()
    }
    reader?.resume()
  }

  /// How many events of each type were skipped since this was asked last.
  func takeUnreportedDrops() -> [(type: EventType, count: Int)] {
    state.withLock { state in
      let fresh = state.dropped.entries.map { ($0.type, $0.count - state.reported[$0.type]) }
      state.reported = state.dropped
      return fresh.filter { $0.1 > 0 }
    }
  }

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

  /// Ends the stream, with the fault that ended it if it did not end well; tells whether the run waited for it.
  @discardableResult
  func finish(_ fault: Fault?) -> Bool {
    let (idlers, reader, heldRun) = state.withLock { state in
      let heldRun = state.holdsRun
      if let fault, state.standing != .over {
        state.missedFrom = state.inHand ?? state.backlog.firstWaiting() ?? state.missedFrom
        state.fault = fault
      }
      state.standing = .over
      state.inHand = nil
      state.holdsRun = false
      return (state.takeIdlers(), state.reader.take(), heldRun)
    }
    for idler in idlers { idler.resume() }
    reader?.resume()
    return heldRun
  }

  // MARK: The end of a run

  /// Waits until everything that was told is delivered, at most for as long as the listener's patience lasts; gives the
  /// fault if the listener was given up.
  @discardableResult
  func settle() async -> Fault? {
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
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        if !state.isIdle { state.idlers.append(continuation) }
        return state.isIdle
      }
      if isIdle { continuation.resume() }
    }
    watch?.cancel()
    return await watch?.value
  }

  /// How many chunks were delivered; nil once the stream is over or nothing waits.
  private var progress: Int? { state.withLock { $0.isIdle ? nil : $0.progress } }
}
