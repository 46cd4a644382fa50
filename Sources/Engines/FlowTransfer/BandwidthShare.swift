internal import FlowBase

/// What each of the running transfers may take of a bandwidth that all share.
final class BandwidthShare: Sendable {
  private struct State {
    var limit: Int?
    var running = 0
  }

  private let state = Guarded(State())

  /// Bytes a second for each transfer; nil without a limit.
  var share: Int? { state.withLock { state in state.limit.map { max(1, $0 / max(1, state.running)) } } }

  func set(limit: Int?) { state.withLock { $0.limit = limit } }
  func count(_ change: Int) { state.withLock { $0.running += change } }
}
