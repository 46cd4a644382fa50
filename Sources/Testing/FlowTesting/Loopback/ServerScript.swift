public import FlowBase

/// Answers by path and by attempt: the first request for a path gets its first answer, and so on.
///
/// The last answer of a path holds for all later requests; a path that the script does not know is 404.
public struct ServerScript: Sendable {
  private let answers: [String: [LoopbackServer.Response]]

  /// A script.
  public init(_ answers: [String: [LoopbackServer.Response]]) { self.answers = answers }

  /// The answer to a request.
  public func respond(to request: LoopbackServer.Request) -> LoopbackServer.Response {
    guard let list = answers[request.path], let last = list.last else { return .status(404) }
    return request.attempt <= list.count ? list[request.attempt - 1] : last
  }
}

extension LoopbackServer {
  /// Starts a server that follows a script of answers by path.
  public convenience init(script answers: [String: [Response]]) throws(Fault) {
    let script = ServerScript(answers)
    try self.init { script.respond(to: $0) }
  }
}

/// How many requests a host allows in each period, and who comes too late.
public final class RequestBudget: Sendable {
  private struct State {
    var start: Instant
    var used = 0
    var refused = 0
  }

  private let state: Guarded<State>
  private let clock: any TimeSource
  private let count: Int
  private let period: Interval

  /// A budget of so many requests in each period.
  public init(_ count: Int, per period: Interval = .seconds(1), clock: any TimeSource = SystemTime()) {
    self.count = count
    self.period = period
    self.clock = clock
    state = Guarded(State(start: clock.now()))
  }

  /// Takes one request out of the period's budget; false where none is left.
  public func take() -> Bool {
    let now = clock.now()
    return state.withLock { state in
      let periods = (now - state.start).nanoseconds / max(1, period.nanoseconds)
      if periods > 0 {
        state.start = state.start + Interval(nanoseconds: periods * period.nanoseconds)
        state.used = 0
      }
      guard state.used < count else {
        state.refused += 1
        return false
      }
      state.used += 1
      return true
    }
  }

  /// How many requests were refused.
  public var refusals: Int { state.withLock { $0.refused } }

  /// The answer itself while the budget lasts, else 429 with a Retry-After of the period, rounded up to seconds.
  public func answer(_ response: @autoclosure () -> LoopbackServer.Response) -> LoopbackServer.Response {
    if take() { return response() }
    return .tooMany(retryAfter: String(max(1, (period.nanoseconds + 999_999_999) / 1_000_000_000)))
  }
}
