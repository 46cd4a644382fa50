internal import FlowBase

/// Replaces what is known already, and computes as far as that goes.
struct Folding<Known: Scope> {
  private let scope: Known
  /// Whether the part may never be reached: then what cannot be computed waits until it is.
  private var isLazy = false

  private init(_ scope: Known) { self.scope = scope }

  static func fold(_ node: Syntax, in scope: Known) throws(Fault) -> Syntax { try Folding(scope).fold(node) }

  private func fold(_ node: Syntax) throws(Fault) -> Syntax {
    switch node.term {
    case .constant, .unknownName: return node
    case .name(let reference):
      guard let value = scope.value(of: reference) else { return node }
      return node.replaced(by: value)
    case .binary(let sign, let left, let right): return try fold(node, sign, left, right)
    case .list(let elements): return try settled(node, .list(try fold(elements)))
    case .member(let base, let name): return try settled(node, .member(try fold(base), name))
    case .element(let base, let index):
      return try settled(node, .element(try fold(base), try fold(index)))
    case .not(let operand): return try settled(node, .not(try fold(operand)))
    case .negative(let operand): return try settled(node, .negative(try fold(operand)))
    case .matches(let operand, let pattern): return try settled(node, .matches(try fold(operand), pattern))
    case .filter(let filter, let input, let arguments):
      return try settled(node, .filter(filter, try fold(input), try fold(arguments)))
    case .unknownFilter(let name, let offset, let input, let arguments):
      let input = try fold(input)
      return node.replaced(by: .unknownFilter(name, offset: offset, input, try fold(arguments)))
    }
  }

  private func fold(_ nodes: [Syntax]) throws(Fault) -> [Syntax] {
    var folded: [Syntax] = []
    for node in nodes { folded.append(try fold(node)) }
    return folded
  }

  /// An operator; where the left side decides, the right one is not even looked at.
  private func fold(
    _ node: Syntax, _ sign: BinaryOperator, _ left: Syntax, _ right: Syntax
  ) throws(Fault) -> Syntax {
    let left = try fold(left)
    var later = self
    if sign == .and || sign == .or || sign == .orElse { later.isLazy = left.constant == nil || isLazy }
    if let value = left.constant, let decided = try decided(node, sign, value, right) { return decided }
    return try settled(node, .binary(sign, left, try later.fold(right)))
  }

  /// What the left side's value settles by itself; nil where the right side counts.
  private func decided(
    _ node: Syntax, _ sign: BinaryOperator, _ left: Value, _ right: Syntax
  ) throws(Fault) -> Syntax? {
    do throws(Fault) {
      switch sign {
      case .and: return try Evaluator.truth(left, of: "and") ? nil : node.replaced(by: .bool(false))
      case .or: return try Evaluator.truth(left, of: "or") ? node.replaced(by: .bool(true)) : nil
      case .orElse: return left.isNull ? try fold(right) : node.replaced(by: left)
      default: return nil
      }
    } catch {
      if isLazy { return nil }
      throw error
    }
  }

  /// The value of a term whose parts are all values, else the term.
  private func settled(_ node: Syntax, _ term: Term) throws(Fault) -> Syntax {
    let changed = node.replaced(by: term)
    guard changed.children.allSatisfy({ $0.constant != nil }) else { return changed }
    do throws(Fault) {
      return node.replaced(by: try Evaluator.value(of: changed, in: EmptyScope()))
    } catch {
      if isLazy { return changed }
      throw error
    }
  }
}
