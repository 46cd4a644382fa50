public import FlowEvents

/// What a sink may ask of the run that it listens to, as `imgflow ctl` does from outside.
public struct RunControl: Sendable {
  /// A question.
  public struct Request: Sendable, Hashable {
    /// What is asked: `pause resume drain cancel set`, and `start` where a run waits for it.
    public var verb: String
    /// `run`, `source`, `stage`, `host` or `item`.
    public var kind: String
    /// Which one; empty for the run.
    public var name: String
    /// Whether a pause also stops what runs.
    public var isImmediate: Bool
    /// The limit that `set` changes.
    public var key: String?
    /// Its new value.
    public var value: String?

    /// A question.
    public init(
      _ verb: String, kind: String = "run", name: String = "", now isImmediate: Bool = false, key: String? = nil,
      value: String? = nil
    ) {
      self.verb = verb
      self.kind = kind
      self.name = name
      self.isImmediate = isImmediate
      self.key = key
      self.value = value
    }
  }

  /// What came of it.
  public struct Answer: Sendable, Hashable {
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

  /// Asks, and waits for the answer.
  public var ask: @Sendable (_ request: Request, _ by: String) async -> Answer

  /// The way to a run.
  public init(ask: @escaping @Sendable (_ request: Request, _ by: String) async -> Answer) { self.ask = ask }
}
