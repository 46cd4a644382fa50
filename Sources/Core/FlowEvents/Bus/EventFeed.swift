internal import FlowBase

/// A run's events as values, for a reader in this program; ends behind the run's end.
///
/// A reader that is behind gets of what may be replaced only the newest; everything else waits in memory for it.
public final class EventFeed: AsyncSequence, Sendable {
  private struct State {
    var kept = Fifo<Event>()
    var newest = NewestQueue<Event>()
    var dropped = EventCounts()
    var isOver = false
    var reader: CheckedContinuation<Event?, Never>?

    mutating func next() -> Event? {
      guard let replaceable = newest.firstSeq(), replaceable < kept.first?.seq ?? .max else { return kept.popFirst() }
      return newest.popFirst()?.element
    }
  }

  private let filter: EventFilter
  private let state = Guarded(State())

  init(_ filter: EventFilter) { self.filter = filter }

  func tell(_ event: Event) {
    guard filter.passes(event.type) else { return }
    let reader: CheckedContinuation<Event?, Never>? = state.withLock { state in
      guard !state.isOver else { return nil }
      if let reader = state.reader.take() { return reader }
      guard event.delivery == .newest else {
        state.kept.append(event)
        return nil
      }
      if let type = state.newest.add(.init(seq: event.seq, key: NewestKey(event), element: event)) {
        state.dropped[type] += 1
      }
      return nil
    }
    reader?.resume(returning: event)
  }

  func end(_ event: Event, _ end: Payload.RunEnd) {
    var last = event
    var end = end
    end.dropped = state.withLock { $0.dropped }
    last.payload = .runEnd(end)
    tell(last)
    let reader = state.withLock { state in
      state.isOver = true
      return state.reader.take()
    }
    reader?.resume(returning: nil)
  }

  private func next() async -> Event? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (event, isDue) = state.withLock { (state) -> (Event?, Bool) in
          if let event = state.next() { return (event, true) }
          if state.isOver { return (nil, true) }
          state.reader = continuation
          return (nil, false)
        }
        if isDue { continuation.resume(returning: event) }
      }
    } onCancel: {
      cancel()
    }
  }

  /// Ends the feed for its reader; nothing more is held for it.
  private func cancel() {
    let reader = state.withLock { state in
      state.isOver = true
      state.kept = Fifo()
      state.newest = NewestQueue()
      return state.reader.take()
    }
    reader?.resume(returning: nil)
  }

  /// Goes over the events; a feed has one reader.
  public func makeAsyncIterator() -> Iterator { Iterator(feed: self) }

  /// A feed's reader.
  public struct Iterator: AsyncIteratorProtocol {
    let feed: EventFeed

    /// The next event; nil behind the run's end.
    public mutating func next() async -> Event? { await feed.next() }
  }
}
