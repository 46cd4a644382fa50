internal import FlowBase
public import FlowEvents

extension Runner {
  /// Begins the run and gives its events.
  ///
  /// The run goes on beside the caller. When the loop over the events is left before the run's end, or its task is
  /// cancelled, the run is cancelled; `outcome` waits until it has ended.
  public func start() -> RunEvents {
    let feed = events()
    let task = Task { await run() }
    keep(task)
    return RunEvents(feed: feed, guardian: RunGuardian(self))
  }
}

/// The events of a run that goes on only as long as somebody follows them.
public struct RunEvents: AsyncSequence, Sendable {
  /// What the sequence gives.
  public typealias Element = Event
  let feed: EventFeed
  let guardian: RunGuardian

  /// Goes over the events, once.
  public func makeAsyncIterator() -> Iterator {
    guardian.handOver()
    return Iterator(events: feed.makeAsyncIterator(), guardian: RunGuardian(guardian.runner))
  }

  /// Who follows the run.
  public struct Iterator: AsyncIteratorProtocol {
    var events: EventFeed.Iterator
    let guardian: RunGuardian

    /// The next event; nil behind the run's end.
    public mutating func next() async -> Event? { await events.next() }
  }
}

/// Cancels its run when nobody holds it any more, unless it has handed this over to another.
final class RunGuardian: Sendable {
  let runner: Runner
  private let hasLeft = Guarded(false)

  init(_ runner: Runner) { self.runner = runner }

  func handOver() { hasLeft.withLock { $0 = true } }

  deinit {
    guard !hasLeft.withLock({ $0 }) else { return }
    let runner = runner
    Task { await runner.request(ControlRequest(.cancel, by: "code")) }
  }
}
