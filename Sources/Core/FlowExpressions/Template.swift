public import FlowBase

/// A text with `${…}` in it.
public struct Template: Sendable, Hashable {
  /// How values are put into the text.
  public enum Style: Sendable, Hashable {
    /// As they are.
    case plain
    /// Percent-encoded for their place in a URL, unless they are the whole text or its origin, or `| raw` is said.
    case url
    /// Made safe as one segment of a path: without `/`, `\`, control characters, leading dots; `| path` keeps `/`.
    case path
  }

  /// The template as it was written.
  public let source: String
  /// How values are put in.
  public let style: Style

  /// Parses a text; `$${` stands for a literal `${`.
  public init(parsing source: String, style: Style = .plain) throws(ExpressionProblem) {
    self.source = source
    self.style = style
    throw ExpressionProblem("E0200", "not built yet", offset: 0)
  }

  /// The names that it uses.
  public var references: [Reference] { [] }

  /// Its type (text, unless it is one single expression), with everything that is wrong.
  public func check(in scope: some TypeScope) -> (type: ValueType, problems: [ExpressionProblem]) { (.any, []) }

  /// Its value: that of its expression if it is a single one, else a text.
  public func evaluate(in scope: some Scope) throws(Fault) -> Value { .null }

  /// Its value as a text; null becomes an empty text.
  public func text(in scope: some Scope) throws(Fault) -> String { "" }

  /// The template with the names that the scope knows replaced.
  public func folded(in scope: some Scope) throws(Fault) -> Template { self }

  /// The value, if no name is left.
  public var constant: Value? { nil }
}
