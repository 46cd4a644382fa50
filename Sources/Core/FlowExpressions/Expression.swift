public import FlowBase

/// Something wrong inside an expression, at a character offset of its text.
public struct ExpressionProblem: Error, Sendable, Hashable {
  /// The stable code, `E02xx`.
  public var code: String
  /// What is wrong.
  public var message: String
  /// Where in the text, in Unicode scalars from 0.
  public var offset: Int
  /// How many scalars it takes; at least 1.
  public var length: Int
  /// The remedy, shown beside the caret.
  public var hint: String?
  /// Further lines.
  public var notes: [String]

  /// A problem.
  public init(
    _ code: String, _ message: String, offset: Int, length: Int = 1, hint: String? = nil, notes: [String] = []
  ) {
    self.code = code
    self.message = message
    self.offset = offset
    self.length = max(1, length)
    self.hint = hint
    self.notes = notes
  }
}

/// A parsed expression, such as `item.width >= 256 and item.media != 'image/gif'`.
public struct Expression: Sendable, Hashable {
  /// The expression as it was written.
  public let source: String

  /// Parses an expression.
  public init(parsing source: String) throws(ExpressionProblem) {
    self.source = source
    throw ExpressionProblem("E0200", "not built yet", offset: 0)
  }

  /// The names that it uses, in order of appearance, each once.
  public var references: [Reference] { [] }

  /// Its type, with everything that is wrong about its names and types.
  public func check(in scope: some TypeScope) -> (type: ValueType, problems: [ExpressionProblem]) { (.any, []) }

  /// Its value. A missing field is null; what cannot be computed is a fault `expression.*` of class permanent.
  public func evaluate(in scope: some Scope) throws(Fault) -> Value { .null }

  /// Its truth: false for null and false; what is no truth value is a fault.
  public func isTrue(in scope: some Scope) throws(Fault) -> Bool { false }

  /// The expression with every name that the scope knows replaced by its value, and computed as far as that goes.
  public func folded(in scope: some Scope) throws(Fault) -> Expression { self }

  /// The value, if no name is left.
  public var constant: Value? { nil }
}
