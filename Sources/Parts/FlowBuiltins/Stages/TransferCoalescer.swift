internal import FlowBase
internal import FlowParts

/// Makes one transfer of equal requests that are under way at the same time, or whose file is still held.
///
/// A transfer belongs to all that wait for it: it goes on while one of them does, and ends with the last.
final class TransferCoalescer: Sendable {
  typealias Progress = @Sendable (Int, Int?) -> Void
  typealias Work = @Sendable (@escaping Progress) async throws(Fault) -> Fetched
  private typealias Outcome = Result<(Fetched, isShared: Bool), Fault>

  private struct Waiter {
    var continuation: CheckedContinuation<Outcome, Never>
    var progress: Progress
  }

  private struct Flight {
    var number: Int
    var task: Task<Void, Never>?
    var leader: Int
    var waiters: [Int: Waiter]
  }

  private struct Landed {
    weak var file: HeldFile?
    var facts: Fetched.Facts
  }

  private struct State {
    var tickets = 0
    var flights: [String: Flight] = [:]
    var landed: [String: Landed] = [:]
    /// At how many remembered files the dead ones are swept out.
    var sweepAt = 1024
    /// Tickets that were given back before their holder began to wait.
    var returned: Set<Int> = []

    /// Remembers a file for as long as somebody holds it.
    mutating func remember(_ fetched: Fetched, _ key: String) {
      landed[key] = Landed(file: fetched.file, facts: fetched.facts)
      guard landed.count >= sweepAt else { return }
      landed = landed.filter { $0.value.file != nil }
      sweepAt = max(1024, landed.count * 2)
    }
  }

  private let state = Guarded(State())

  /// Waits for the file of a request; the first of equal requests does the work.
  func join(
    _ key: String, progress: @escaping Progress, work: @escaping Work
  ) async throws(Fault) -> (Fetched, isShared: Bool) {
    let ticket = state.withLock { state in
      state.tickets += 1
      return state.tickets
    }
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        wait(key, ticket, Waiter(continuation: continuation, progress: progress), work)
      }
    } onCancel: {
      leave(key, ticket)
    }
    // Cancelled after the end: nobody will ask for the ticket any more.
    if Task.isCancelled { state.withLock { _ = $0.returned.remove(ticket) } }
    return try outcome.get()
  }

  private enum Entrance {
    case waits
    case leads(flight: Int)
    case done(Outcome)
  }

  private func wait(_ key: String, _ ticket: Int, _ waiter: Waiter, _ work: @escaping Work) {
    let entrance = state.withLock { state -> Entrance in
      if state.returned.remove(ticket) != nil { return .done(.failure(TransferCoalescer.cancelled)) }
      if let landed = state.landed[key], let file = landed.file, file.share() {
        return .done(.success((Fetched(file, landed.facts), isShared: true)))
      }
      if state.flights[key] != nil {
        state.flights[key]?.waiters[ticket] = waiter
        return .waits
      }
      state.flights[key] = Flight(number: ticket, leader: ticket, waiters: [ticket: waiter])
      return .leads(flight: ticket)
    }
    switch entrance {
    case .waits: break
    case .done(let outcome): waiter.continuation.resume(returning: outcome)
    case .leads(let flight): start(key, flight, work)
    }
  }

  private func start(_ key: String, _ flight: Int, _ work: @escaping Work) {
    let task = Task { [self] in
      let result: Result<Fetched, Fault>
      do throws(Fault) {
        result = .success(try await work { bytes, size in self.tell(key, flight, bytes, size) })
      } catch {
        result = .failure(error)
      }
      land(key, flight, result)
    }
    let isAbandoned = state.withLock { state in
      guard state.flights[key]?.number == flight else { return true }
      state.flights[key]?.task = task
      return false
    }
    if isAbandoned { task.cancel() }
  }

  private func tell(_ key: String, _ flight: Int, _ bytes: Int, _ size: Int?) {
    let listeners = state.withLock { state in
      state.flights[key].flatMap { $0.number == flight ? $0.waiters.values.map(\.progress) : nil } ?? []
    }
    for listener in listeners { listener(bytes, size) }
  }

  private func land(_ key: String, _ flight: Int, _ result: Result<Fetched, Fault>) {
    let landed = state.withLock { state -> Flight? in
      guard let landed = state.flights[key], landed.number == flight else { return nil }
      state.flights[key] = nil
      if case .success(let fetched) = result {
        state.remember(fetched, key)
        // Before anybody has it: the first to publish it would move it away from under the others.
        if landed.waiters.count > 1 { _ = fetched.file.share() }
      }
      return landed
    }
    guard let landed else { return }
    for (ticket, waiter) in landed.waiters {
      waiter.continuation.resume(returning: result.map { ($0, isShared: ticket != landed.leader) })
    }
  }

  private func leave(_ key: String, _ ticket: Int) {
    let (waiter, orphan) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
      guard let waiter = state.flights[key]?.waiters.removeValue(forKey: ticket) else {
        state.returned.insert(ticket)
        return (nil, nil)
      }
      guard let flight = state.flights[key], flight.waiters.isEmpty else { return (waiter, nil) }
      state.flights[key] = nil
      return (waiter, flight.task)
    }
    orphan?.cancel()
    waiter?.continuation.resume(returning: .failure(TransferCoalescer.cancelled))
  }

  private static let cancelled = Fault("cancelled.user", .cancelled, "the transfer was cancelled")
}
