public import FlowEvents

/// What people and programs ask of a run while it goes.
public struct ControlRequest: Sendable, Hashable {
  /// What can be asked.
  public enum Verb: String, Sendable, Hashable, CaseIterable {
    case pause, resume, drain, cancel
    /// Ends at once: the second signal.
    case abort
  }

  /// What is asked.
  public var verb: Verb
  /// The item that it is asked for; nil for the whole run.
  public var item: String?
  /// Who asks, such as `ctl`, `signal` or `code`.
  public var by: String
  /// The signal's number, where one asks.
  public var signal: Int?

  /// A request.
  public init(_ verb: Verb, item: String? = nil, by: String, signal: Int? = nil) {
    self.verb = verb
    self.item = item
    self.by = by
    self.signal = signal
  }
}

/// What came of a request.
public struct ControlAnswer: Sendable, Hashable {
  /// Whether it is done.
  public var isAccepted: Bool
  /// The answer in words.
  public var message: String
  /// The run's state afterwards.
  public var state: RunState

  /// An answer.
  public init(isAccepted: Bool, message: String, state: RunState) {
    self.isAccepted = isAccepted
    self.message = message
    self.state = state
  }
}

extension ControlAnswer {
  /// What is asked of a run that has ended.
  static let runIsOver = ControlAnswer(isAccepted: false, message: "the run is over", state: .done)
}
