internal import FlowBase

/// Finds everything that is wrong about the names and types of an expression before anything runs.
struct Checker {
  private let scope: any TypeScope
  /// What was found, in the order of the text.
  private(set) var problems: [ExpressionProblem] = []

  init(_ scope: any TypeScope) { self.scope = scope }

  mutating func type(of node: Syntax) -> ValueType {
    switch node.term {
    case .constant(let value): return ValueType(of: value)
    case .name(let reference): return type(of: reference, at: node)
    case .unknownName(let words):
      report(unknownName(words, at: node))
      return .any
    case .list(let elements):
      let types = elements.map { type(of: $0) }
      return .list(types.dropFirst().reduce(types.first ?? .any) { $0.joined($1) })
    case .member(let base, _):
      _ = type(of: base)
      return .any
    case .element(let base, let index):
      let whole = type(of: base)
      _ = type(of: index)
      if case .list(let element) = whole { return element }
      return .any
    case .not(let operand):
      demandTruth(operand, for: "not")
      return .bool
    case .negative(let operand):
      let found = type(of: operand)
      if !found.isOpen, !found.isNumeric { report(mismatch("`-` needs a number", found, operand)) }
      return found.isNumeric ? found : .number
    case .binary(let sign, let left, let right): return type(of: sign, left, right, at: node)
    case .matches(let operand, _):
      demandText(operand, for: "matches")
      return .bool
    case .filter(let filter, let input, let arguments): return type(of: filter, input, arguments, at: node)
    case .unknownFilter(let name, let offset, let input, let arguments):
      _ = type(of: input)
      report(unknownFilter(name, at: offset))
      for argument in arguments { _ = type(of: argument) }
      return .any
    }
  }

  /// Checks a whole expression that must be true or false.
  mutating func demandCondition(_ node: Syntax) {
    let found = type(of: node)
    if found == .bool || found.isOpen { return }
    report(
      ExpressionProblem(
        "E0223", "a condition is true or false, and this is \(found.words)", offset: node.offset, length: node.length,
        hint: Checker.truthHint(found)))
  }

  mutating func report(_ problem: ExpressionProblem) { problems.append(problem) }

  // MARK: Names

  private mutating func type(of reference: Reference, at node: Syntax) -> ValueType {
    switch scope.resolve(reference) {
    case .known(let type): return type
    case .unknown(let code, let message, let hint, let notes):
      report(ExpressionProblem(code, message, offset: node.offset, length: node.length, hint: hint, notes: notes))
      return .any
    }
  }

  private func unknownName(_ words: [String], at node: Syntax) -> ExpressionProblem {
    let first = words.first ?? ""
    let namespaces = Namespace.allCases.map(\.rawValue)
    if words.count > 1 {
      let meant = Suggestion.nearest(to: first, among: namespaces)
      return ExpressionProblem(
        "E0210", "unknown name `\(first)`", offset: node.offset, length: first.unicodeScalars.count,
        hint: meant.map { "did you mean `\($0)`?" }, notes: ["names begin with: \(namespaces.joined(separator: " "))"])
    }
    let places: [Namespace] = [.item, .row, .vars, .matrix, .for, .run, .env]
    let meant = places.first { declares($0, first) }
    let near = meant.map { "\($0.rawValue).\(first)" } ?? Suggestion.nearest(to: first, among: namespaces)
    return ExpressionProblem(
      "E0210", "unknown name `\(first)`", offset: node.offset, length: node.length,
      hint: near.map { "did you mean `\($0)`?" } ?? "a field is written `item.\(first)`, a text `'\(first)'`",
      notes: ["names begin with: \(namespaces.joined(separator: " "))"])
  }

  /// Whether a name is one that a namespace is known to hold, and not one of which nothing is known.
  private func declares(_ place: Namespace, _ name: String) -> Bool {
    guard case .known(let type) = scope.resolve(Reference(place, [name])) else { return false }
    if type != .any { return true }
    // A namespace that would take any name says nothing by taking this one.
    if case .unknown = scope.resolve(Reference(place, [name + "\u{0}"])) { return true }
    return false
  }

  private func unknownFilter(_ name: String, at offset: Int) -> ExpressionProblem {
    let names = Filter.all.map(\.name)
    return ExpressionProblem(
      "E0215", "unknown filter `\(name)`", offset: offset, length: name.unicodeScalars.count,
      hint: Suggestion.nearest(to: name, among: names).map { "did you mean `\($0)`?" },
      notes: ["filters: \(names.joined(separator: " "))"])
  }

  // MARK: Demands

  mutating func demandTruth(_ node: Syntax, for sign: String) {
    let found = type(of: node)
    if found == .bool || found.isOpen { return }
    report(mismatch("`\(sign)` needs true or false", found, node, hint: Checker.truthHint(found)))
  }

  mutating func demandText(_ node: Syntax, for sign: String) {
    let found = type(of: node)
    if found.isOpen || found == .string { return }
    report(mismatch("`\(sign)` needs a text", found, node))
  }

  func mismatch(_ demand: String, _ found: ValueType, _ node: Syntax, hint: String? = nil) -> ExpressionProblem {
    ExpressionProblem(
      "E0222", "\(demand), and this is \(found.words)", offset: node.offset, length: node.length,
      hint: hint ?? (demand.contains("number") && found == .string ? Checker.remedies(node) : nil))
  }

  static func truthHint(_ type: ValueType) -> String? {
    switch type {
    case .string: "compare it, as in `… != ''`"
    case .integer, .number: "compare it, as in `… > 0`"
    case .list: "ask for its length, as in `… | len > 0`"
    default: nil
    }
  }

  /// The two ways to make a number of a text.
  static func remedies(_ node: Syntax) -> String {
    guard case .name(let reference) = node.term else { return "write `| number` behind it" }
    let column = reference.path.first ?? "column"
    return reference.namespace == .row
      ? "declare `types: { \(column): number }` on the source, or write `\(reference.text) | number`"
      : "write `\(reference.text) | number`, or give it the type with `types:` where it is declared"
  }
}
