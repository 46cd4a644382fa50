public import FlowBase

/// A command line, taken apart and checked against the table.
public struct ParsedArguments: Sendable, Equatable {
  /// The values by the option's key, in the order of the command line; flags hold empty texts.
  public var values: [String: [String]] = [:]
  /// What stood behind the command's name and was no option, in order.
  public var operands: [String] = []
  /// The operands by the placeholder that they stand for.
  public var namedOperands: [String: [String]] = [:]

  /// Arguments of which none was given.
  public init() {}

  /// Whether a flag, or an option, was given.
  public func has(_ key: String) -> Bool { values[key] != nil }
  /// The value of an option; of several the last.
  public func value(_ key: String) -> String? { values[key]?.last }
  /// All values of an option that may be repeated.
  public func all(_ key: String) -> [String] { values[key] ?? [] }
  /// The operand that stands for a placeholder.
  public func operand(_ name: String) -> String? { namedOperands[name]?.first }
  /// The operands that stand for a placeholder that may be repeated.
  public func operands(_ name: String) -> [String] { namedOperands[name] ?? [] }
  /// The whole number that an option holds.
  public func int(_ key: String) -> Int? { value(key).flatMap { Int($0) } }
  /// The span of time that an option holds.
  public func interval(_ key: String) -> Interval? { value(key).flatMap { Interval(parsing: $0) } }
  /// The `name=value` pairs of an option, in order.
  public func assignments(_ key: String) -> [(name: String, value: String)] {
    all(key).compactMap { text in
      text.firstIndex(of: "=").map { (String(text[..<$0]), String(text[text.index(after: $0)...])) }
    }
  }
}

/// A command line that is wrong, and what to type in its place.
public struct UsageError: Error, Sendable, Equatable {
  /// The command, as far as it was recognised.
  public var command: String?
  /// What is wrong, in one sentence without a full stop.
  public var message: String
  /// What to type.
  public var hint: String?
  /// What could be read of the command line in spite of it.
  public var arguments = ParsedArguments()

  /// A usage error.
  public init(
    _ message: String, hint: String? = nil, command: String? = nil, arguments: ParsedArguments = ParsedArguments()
  ) {
    self.message = message
    self.hint = hint
    self.command = command
    self.arguments = arguments
  }
}
