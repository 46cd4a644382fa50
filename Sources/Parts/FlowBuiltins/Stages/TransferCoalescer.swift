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

  /// A transfer under way; looked at under the lock alone, by all that hold it.
  private final class Flight: @unchecked Sendable {
    let key: RequestKey
    /// The ticket of the first who asked.
    let leader: Int
    var work: BegunWork?
    /// The first who asked, who is alone in nearly all cases, and the others by ticket.
    private var first: Waiter?
    private var others: [Int: Waiter] = [:]
    /// Whether it has come to its end, or nobody waits for it any more.
    private(set) var isOver = false

    init(_ key: RequestKey, leader: Int, _ waiter: Waiter) {
      (self.key, self.leader, first) = (key, leader, waiter)
    }

    var isWaitedFor: Bool { first != nil || !others.isEmpty }

    func add(_ waiter: Waiter, ticket: Int) { others[ticket] = waiter }

    func remove(ticket: Int) -> Waiter? {
      if ticket != leader { return others.removeValue(forKey: ticket) }
      defer { first = nil }
      return first
    }

    var waiters: [(waiter: Waiter, isShared: Bool)] {
      (first.map { [($0, false)] } ?? []) + others.values.map { ($0, true) }
    }

    /// Lets go of all, and gives it: they hold what holds the transfer.
    func end() -> (waiters: [(waiter: Waiter, isShared: Bool)], work: BegunWork?) {
      defer { (isOver, work, first, others) = (true, nil, nil, [:]) }
      return (waiters, work)
    }
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
    case waits(Flight, ticket: Int)
    case leads(Flight)
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
      if let flight = state.flights[key] {
        flight.add(waiter, ticket: state.tickets)
        return .waits(flight, ticket: state.tickets)
      }
      let flight = Flight(key, leader: state.tickets, waiter)
      state.flights[key] = flight
      return .leads(flight)
    }
    switch entrance {
    case .done(let fetched):
      done(.success((fetched, isShared: true)))
      return BegunWork {}
    case .waits(let flight, let ticket): return BegunWork { [self] in leave(flight, ticket) }
    case .leads(let flight):
      start(flight, work)
      return BegunWork { [self] in leave(flight, flight.leader) }
    }
  }

  private func start(_ flight: Flight, _ begin: Work) {
    let work: BegunWork
    do throws(Fault) {
      work = try begin(
        { [self] bytes, size in tell(flight, bytes, size) }, { [self] result in land(flight, result) })
    } catch { return land(flight, .failure(error)) }
    // Where nobody waits any more, or the file has come already, there is nothing to remember.
    let isAbandoned = state.withLock { _ in
      if !flight.isOver { flight.work = work }
      return flight.isOver
    }
    if isAbandoned { work.cancel() }
  }

  private func tell(_ flight: Flight, _ bytes: Int, _ size: Int?) {
    let listeners = state.withLock { _ in flight.waiters.map(\.waiter.progress) }
    for listener in listeners { listener(bytes, size) }
  }

  private func land(_ flight: Flight, _ result: Result<Fetched, Fault>) {
    let ended = state.withLock { state in
      if flight.isOver { return flight.end() }
      state.flights[flight.key] = nil
      let ended = flight.end()
      if case .success(let fetched) = result {
        state.remember(fetched, flight.key)
        // Before anybody has it: the first to publish it would move it away from under the others.
        if ended.waiters.count > 1 { _ = fetched.file.share() }
      }
      return ended
    }
    for (waiter, isShared) in ended.waiters { waiter.done(result.map { ($0, isShared: isShared) }) }
  }

  private func leave(_ flight: Flight, _ ticket: Int) {
    let (waiter, orphan) = state.withLock { state -> (Waiter?, BegunWork?) in
      guard let waiter = flight.remove(ticket: ticket) else { return (nil, nil) }
      if flight.isWaitedFor { return (waiter, nil) }
      state.flights[flight.key] = nil
      return (waiter, flight.end().work)
    }
    orphan?.cancel()
    waiter?.done(.failure(TransferCoalescer.cancelled))
  }

  static let cancelled = Fault("cancelled.user", .cancelled, "the transfer was cancelled")
}
