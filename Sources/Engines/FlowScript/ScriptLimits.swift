public import FlowBase

/// What a script may use.
public struct ScriptLimits: Sendable, Hashable {
  /// The most bytes that a state may hold.
  public var memory: Int
  /// The most instructions of one call.
  public var steps: Int
  /// The most time of one call: what a million instructions take is a matter of what they do.
  public var time: Interval

  /// Limits; 32 MiB, ten million instructions and ten seconds unless told otherwise.
  public init(memory: Int = 32 << 20, steps: Int = 10_000_000, time: Interval = .seconds(10)) {
    self.memory = memory
    self.steps = steps
    self.time = time
  }
}

/// Why a script could not be loaded or a call of it failed.
public struct ScriptProblem: Error, Sendable, Hashable {
  /// The kinds of problems.
  public enum Kind: Sendable, Hashable {
    /// The text is no Lua.
    case syntax
    /// The script has raised an error.
    case error
    /// It took more instructions, or more memory, than it may.
    case limit
    /// It has no function of the name.
    case missing
    /// It gave something that cannot be taken, such as a function or a table without end.
    case result
  }

  /// What kind of problem it is.
  public var kind: Kind
  /// What is wrong, with the script's name and line in front where they are known.
  public var message: String

  /// A problem.
  public init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }
}
