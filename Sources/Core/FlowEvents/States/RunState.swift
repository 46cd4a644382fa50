public import FlowBase

/// Where a run is in its life.
public enum RunState: String, Sendable, Hashable, CaseIterable {
  /// Nothing has begun.
  case idle
  /// Work is done and started.
  case active
  /// Nothing new is started until it is resumed.
  case paused
  /// What has begun is ended; nothing new is started.
  case draining
  /// All is over.
  case done

  /// What a run can be asked for, and what can happen to it.
  public enum Move: String, Sendable, Hashable, CaseIterable {
    case start, pause, resume, drain, cancel
    /// The last work of a run has ended by itself.
    case finish
  }

  /// The state that a move leads to; a move that the table lacks is the fault `control.refused`.
  public func after(_ move: Move) throws(Fault) -> RunState {
    if let next = next(move) { return next }
    throw Fault(
      "control.refused", .permanent, "a run that is \(rawValue) cannot \(move.rawValue); \(advice)")
  }

  /// What can be asked for in this state.
  public var moves: [Move] { Move.allCases.filter { $0 != .finish && next($0) != nil } }

  /// The table of moves.
  private func next(_ move: Move) -> RunState? {
    switch (self, move) {
    case (.idle, .start), (.done, .start): .active
    case (.active, .pause): .paused
    case (.paused, .resume): .active
    case (.active, .drain), (.paused, .drain): .draining
    case (.active, .cancel), (.paused, .cancel), (.draining, .cancel): .done
    case (.active, .finish), (.draining, .finish): .done
    default: nil
    }
  }

  private var advice: String {
    "it can \(moves.map(\.rawValue).joined(separator: ", "))"
  }
}

/// What came of a run.
public enum RunResult: String, Sendable, Hashable, CaseIterable {
  /// All that was asked for, within the policy.
  case success
  /// Items failed beyond the policy.
  case failure
  /// The run could not be done: the manifest, this machine, or a bug.
  case error
  /// The deadline passed.
  case timeout
  /// Somebody or something ended it on purpose.
  case cancelled
}
