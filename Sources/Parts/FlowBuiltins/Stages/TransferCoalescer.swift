internal import FlowBase
internal import FlowParts

/// Makes one transfer of equal requests that are under way at the same time, or whose file is still held.
///
/// A transfer belongs to all that wait for it: it goes on while one of them does, and ends with the last.
final class TransferCoalescer: Sendable {
  typealias Progress = @Sendable (Int, Int?) -> Void
  typealias Landing = @Sendable (Result<Fetched, Fault>) -> Void
  /// Begins a transfer, and gives what ends it; it calls the landing once, perhaps before it returns.
  typealias Work = (@escaping Progress, @escaping Landing) throws(Fault) -> BegunWork
  typealias Outcome = Result<(Fetched, isShared: Bool), Fault>

  private struct Waiter {
    var done: @Sendable (Outcome) -> Void
    var progress: Progress
  }

  private struct Flight {
    var number: Int
    var work: BegunWork?
    var waiters: [Int: Waiter]
  }

  private struct Landed {
    weak var file: HeldFile?
    var facts: Fetched.Facts
  }

  private struct State {
    var tickets = 0
    var flights: [RequestKey: Flight] = [:]
    var landed: [RequestKey: Landed] = [:]
    /// At how many remembered files the dead ones are swept out.
    var sweepAt = 1024

    /// Remembers a file for as long as somebody holds it.
    mutating func remember(_ fetched: Fetched, _ key: RequestKey) {
      landed[key] = Landed(file: fetched.file, facts: fetched.facts)
      guard landed.count >= sweepAt else { return }
      landed = landed.filter { $0.value.file != nil }
      sweepAt = max(1024, landed.count * 2)
    }
  }

  private let state = Guarded(State())

  private enum Entrance {
    case waits(ticket: Int)
    case leads(ticket: Int)
    case done(Fetched)
  }

  /// Waits for the file of a request; the first of equal requests does the work.
  ///
  /// `done` is called once, on whichever thread the file comes, or is given up.
  func join(
    _ key: RequestKey, progress: @escaping Progress, done: @escaping @Sendable (Outcome) -> Void, work: Work
  ) -> BegunWork {
    let waiter = Waiter(done: done, progress: progress)
    let entrance = state.withLock { state -> Entrance in
      if let landed = state.landed[key], let file = landed.file, file.share() {
        return .done(Fetched(file, landed.facts))
      }
      state.tickets += 1
      if state.flights[key] != nil {
        state.flights[key]?.waiters[state.tickets] = waiter
        return .waits(ticket: state.tickets)
      }
      state.flights[key] = Flight(number: state.tickets, waiters: [state.tickets: waiter])
      return .leads(ticket: state.tickets)
    }
    switch entrance {
    case .done(let fetched):
      done(.success((fetched, isShared: true)))
      return BegunWork {}
    case .waits(let ticket): return BegunWork { [self] in leave(key, ticket) }
    case .leads(let ticket):
      start(key, ticket, work)
      return BegunWork { [self] in leave(key, ticket) }
    }
  }

  private func start(_ key: RequestKey, _ flight: Int, _ begin: Work) {
    let work: BegunWork
    do throws(Fault) {
      work = try begin(
        { [self] bytes, size in tell(key, flight, bytes, size) }, { [self] result in land(key, flight, result) })
    } catch { return land(key, flight, .failure(error)) }
    // Where nobody waits any more, or the file has come already, there is nothing to remember.
    let isAbandoned = state.withLock { state in
      guard state.flights[key]?.number == flight else { return true }
      state.flights[key]?.work = work
      return false
    }
    if isAbandoned { work.cancel() }
  }

  private func tell(_ key: RequestKey, _ flight: Int, _ bytes: Int, _ size: Int?) {
    let listeners = state.withLock { state in
      state.flights[key].flatMap { $0.number == flight ? $0.waiters.values.map(\.progress) : nil } ?? []
    }
    for listener in listeners { listener(bytes, size) }
  }

  private func land(_ key: RequestKey, _ flight: Int, _ result: Result<Fetched, Fault>) {
    let landed = state.withLock { state -> Flight? in
      guard state.flights[key]?.number == flight, let landed = state.flights.removeValue(forKey: key) else {
        return nil
      }
      if case .success(let fetched) = result {
        state.remember(fetched, key)
        // Before anybody has it: the first to publish it would move it away from under the others.
        if landed.waiters.count > 1 { _ = fetched.file.share() }
      }
      return landed
    }
    guard let landed else { return }
    for (ticket, waiter) in landed.waiters {
      waiter.done(result.map { ($0, isShared: ticket != landed.number) })
    }
  }

  private func leave(_ key: RequestKey, _ ticket: Int) {
    let (waiter, orphan) = state.withLock { state -> (Waiter?, BegunWork?) in
      guard let waiter = state.flights[key]?.waiters.removeValue(forKey: ticket) else { return (nil, nil) }
      guard let flight = state.flights[key], flight.waiters.isEmpty else { return (waiter, nil) }
      state.flights[key] = nil
      return (waiter, flight.work)
    }
    orphan?.cancel()
    waiter?.done(.failure(TransferCoalescer.cancelled))
  }

  static let cancelled = Fault("cancelled.user", .cancelled, "the transfer was cancelled")
}
