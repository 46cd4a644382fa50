internal import FlowBase
internal import FlowEvents

/// The control that a page's ring is: what a press, a double press and the keys mean in each state of the run.
///
/// A pure value. The page in the browser follows the same table, which is made from this one (`Ring.table`), so that
/// the two cannot differ.
struct Ring: Hashable {
  /// What the ring shows of the run.
  enum Shown: String, CaseIterable {
    case idle, active, paused, draining, done, cancelled

    init(_ state: RunState, isCancelled: Bool) {
      switch state {
      case .idle: self = .idle
      case .active: self = .active
      case .paused: self = .paused
      case .draining: self = .draining
      case .done: self = isCancelled ? .cancelled : .done
      }
    }

    /// The run's own state.
    var state: RunState {
      switch self {
      case .idle: .idle
      case .active: .active
      case .paused: .paused
      case .draining: .draining
      case .done, .cancelled: .done
      }
    }
  }

  /// What the ring waits for.
  enum Phase: String, CaseIterable {
    /// For a press.
    case rest
    /// For a second press, or for the moment in which it can still come to pass.
    case pressed
    /// For a word whether the run is to be cancelled.
    case cancelling
    /// For a word whether the run is to be started again.
    case restarting
  }

  /// What happens to it.
  enum Gesture: String, CaseIterable {
    /// A click, Space or Enter.
    case press
    /// The time for a second press has passed.
    case settle
    /// The key Escape.
    case escape
    /// Yes.
    case confirm
    /// No.
    case dismiss
    /// The run has got into the state that is shown now.
    case become
  }

  /// What is to be done about it.
  enum Action: String, CaseIterable {
    case nothing
    /// Wait a moment for a second press.
    case wait
    case start, pause, resume, cancel
    /// Ask whether the run is really to be cancelled.
    case offerCancel
    /// Ask whether the run is to be started again.
    case offerStart
    /// Take a question back that makes no sense any more.
    case withdraw
  }

  private(set) var shown: Shown
  private(set) var phase = Phase.rest

  init(_ shown: Shown, _ phase: Phase = .rest) {
    self.shown = shown
    self.phase = phase
  }

  /// The run has moved.
  mutating func become(_ shown: Shown) -> Action {
    self.shown = shown
    return handle(.become)
  }

  /// Takes a gesture, and says what is to be done.
  mutating func handle(_ gesture: Gesture) -> Action {
    switch (phase, gesture) {
    case (.rest, .press):
      guard tap != .nothing || allows(.cancel) else { return .nothing }
      phase = .pressed
      return .wait
    case (.pressed, .press):
      phase = .rest
      return allows(.cancel) ? .cancel : settle()
    case (.pressed, .settle):
      phase = .rest
      return settle()
    case (.rest, .escape), (.pressed, .escape):
      phase = allows(.cancel) ? .cancelling : .rest
      return allows(.cancel) ? .offerCancel : .nothing
    case (.cancelling, .confirm):
      phase = .rest
      return allows(.cancel) ? .cancel : .withdraw
    case (.restarting, .confirm):
      phase = .rest
      return allows(.start) ? .start : .withdraw
    case (.cancelling, .dismiss), (.restarting, .dismiss), (.cancelling, .escape), (.restarting, .escape):
      phase = .rest
      return .withdraw
    case (.cancelling, .become) where !allows(.cancel), (.restarting, .become) where !allows(.start):
      phase = .rest
      return .withdraw
    case (.pressed, .become) where tap == .nothing && !allows(.cancel):
      phase = .rest
      return .nothing
    default: return .nothing
    }
  }

  private mutating func settle() -> Action {
    if tap == .offerStart { phase = .restarting }
    return tap
  }

  /// What a single press means.
  private var tap: Action {
    switch shown {
    case .idle: .start
    case .active: .pause
    case .paused: .resume
    case .draining: .nothing
    case .done, .cancelled: .offerStart
    }
  }

  private func allows(_ move: RunState.Move) -> Bool { shown.state.moves.contains(move) }

  /// The whole table as JSON: shown, phase, gesture, and then the next phase and what is to be done.
  static var table: String {
    var writer = JSONWriter()
    writer.beginObject()
    for shown in Shown.allCases {
      writer.key(of: shown.rawValue)
      writer.beginObject()
      for phase in Phase.allCases {
        writer.key(of: phase.rawValue)
        writer.beginObject()
        for gesture in Gesture.allCases {
          var ring = Ring(shown, phase)
          let action = ring.handle(gesture)
          guard action != .nothing || ring.phase != phase else { continue }
          writer.key(of: gesture.rawValue)
          writer.value([.string(ring.phase.rawValue), .string(action.rawValue)])
        }
        writer.endObject()
      }
      writer.endObject()
    }
    writer.endObject()
    return writer.text
  }
}
