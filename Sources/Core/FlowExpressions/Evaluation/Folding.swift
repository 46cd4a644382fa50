internal import FlowBase

/// Replaces what is known already, and computes as far as that goes.
enum Folding {
  static func fold(_ node: Syntax, in scope: some Scope) throws(Fault) -> Syntax {
    switch node.term {
    case .constant, .unknownName: return node
    case .name(let reference):
      guard let value = scope.value(of: reference) else { return node }
      return node.replaced(by: value)
    case .binary(let sign, let left, let right): return try fold(node, sign, left, right, in: scope)
    case .list(let elements): return try settled(node, .list(try fold(elements, in: scope)))
    case .member(let base, let name): return try settled(node, .member(try fold(base, in: scope), name))
    case .element(let base, let index):
      return try settled(node, .element(try fold(base, in: scope), try fold(index, in: scope)))
    case .not(let operand): return try settled(node, .not(try fold(operand, in: scope)))
    case .negative(let operand): return try settled(node, .negative(try fold(operand, in: scope)))
    case .matches(let operand, let pattern): return try settled(node, .matches(try fold(operand, in: scope), pattern))
    case .filter(let filter, let input, let arguments):
      return try settled(node, .filter(filter, try fold(input, in: scope), try fold(arguments, in: scope)))
    case .unknownFilter(let name, let offset, let input, let arguments):
      let input = try fold(input, in: scope)
      return node.replaced(by: .unknownFilter(name, offset: offset, input, try fold(arguments, in: scope)))
    }
  }

  private static func fold(_ nodes: [Syntax], in scope: some Scope) throws(Fault) -> [Syntax] {
    var folded: [Syntax] = []
    for node in nodes { folded.append(try fold(node, in: scope)) }
    return folded
  }

  /// An operator; where the left side decides, the right one is not even looked at.
  private static func fold(
    _ node: Syntax, _ sign: BinaryOperator, _ left: Syntax, _ right: Syntax, in scope: some Scope
  ) throws(Fault) -> Syntax {
    let left = try fold(left, in: scope)
    if let value = left.constant {
      switch sign {
      case .and where !(try Evaluator.truth(value, of: "and")): return node.replaced(by: .bool(false))
      case .or where try Evaluator.truth(value, of: "or"): return node.replaced(by: .bool(true))
      case .orElse: return value.isNull ? try fold(right, in: scope) : node.replaced(by: value)
      default: break
      }
    }
    return try settled(node, .binary(sign, left, try fold(right, in: scope)))
  }

  /// The value of a term whose parts are all values, else the term.
  private static func settled(_ node: Syntax, _ term: Term) throws(Fault) -> Syntax {
    let changed = node.replaced(by: term)
    guard changed.children.allSatisfy({ $0.constant != nil }) else { return changed }
    return node.replaced(by: try Evaluator.value(of: changed, in: EmptyScope()))
  }
}
