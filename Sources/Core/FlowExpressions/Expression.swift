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
  /// The names that it uses, in order of appearance, each once.
  public let references: [Reference]

  let root: Syntax

  private init(_ source: String, _ root: Syntax) {
    self.source = source
    self.root = root
    var references: [Reference] = []
    root.collectReferences(into: &references)
    self.references = references
  }

  /// Parses an expression; `${…}` may stand around the whole of it.
  public init(parsing source: String) throws(ExpressionProblem) {
    try Parser.checkLength(of: source)
    let text = Array(source.unicodeScalars)
    let start = text.firstIndex { !$0.properties.isWhitespace } ?? 0
    guard text[start...].starts(with: "${".unicodeScalars) else {
      self.init(source, try Parser.parse(text, from: 0, braced: false).root)
      return
    }
    let (root, end) = try Parser.parse(text, from: start + 2, braced: true)
    if let rest = text[end...].firstIndex(where: { !$0.properties.isWhitespace }) {
      throw ExpressionProblem(
        "E0207", "text behind the `}` of a condition", offset: rest, length: text.count - rest,
        hint: "write the whole condition without `${` and `}`")
    }
    self.init(source, root)
  }

  /// Its type, with everything that is wrong about its names and types.
  public func check(in scope: some TypeScope) -> (type: ValueType, problems: [ExpressionProblem]) {
    var checker = Checker(scope)
    let type = checker.type(of: root)
    return (type, checker.problems)
  }

  /// Everything that is wrong with it as a condition: as `check`, and it must be true or false.
  public func checkCondition(in scope: some TypeScope) -> [ExpressionProblem] {
    var checker = Checker(scope)
    checker.demandCondition(root)
    return checker.problems
  }

  /// Its value.
  ///
  /// A missing field is null; what cannot be computed is a fault `expression.*` of class permanent.
  public func evaluate(in scope: some Scope) throws(Fault) -> Value {
    do throws(Fault) {
      return try Evaluator.value(of: root, in: scope)
    } catch {
      throw error.inside(source)
    }
  }

  /// Its truth: false for null and false; what is no truth value is a fault.
  public func isTrue(in scope: some Scope) throws(Fault) -> Bool {
    switch try evaluate(in: scope) {
    case .bool(let flag): return flag
    case .null: return false
    case let value:
      throw Fault("expression.type", .permanent, "a condition is true or false, not \(Evaluator.shown(value))")
        .inside(source)
    }
  }

  /// The expression with every name that the scope knows replaced by its value, and computed as far as that goes.
  public func folded(in scope: some Scope) throws(Fault) -> Expression {
    if references.isEmpty, root.constant != nil { return self }
    do throws(Fault) {
      return Expression(source, try Folding.fold(root, in: scope))
    } catch {
      throw error.inside(source)
    }
  }

  /// The value, if no name is left.
  public var constant: Value? {
    if let value = root.constant { return value }
    return references.isEmpty ? try? evaluate(in: EmptyScope()) : nil
  }
}

extension Fault {
  /// The same fault, telling in which expression it arose.
  func inside(_ source: String) -> Fault {
    var fault = self
    fault.message += ", in `\(source.count > 80 ? source.prefix(80) + "…" : source[...])`"
    return fault
  }
}
