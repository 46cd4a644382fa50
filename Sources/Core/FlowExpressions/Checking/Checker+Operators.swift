internal import FlowBase

extension Checker {
  mutating func type(of sign: BinaryOperator, _ left: Syntax, _ right: Syntax, at node: Syntax) -> ValueType {
    switch sign {
    case .and, .or:
      demandTruth(left, for: sign.rawValue)
      demandTruth(right, for: sign.rawValue)
      return .bool
    case .matches:
      demandText(left, for: "matches")
      demandText(right, for: "matches")
      return .bool
    case .orElse:
      let first = type(of: left)
      let second = type(of: right)
      return first == .null ? second : first.joined(second)
    default: break
    }
    let first = type(of: left)
    let second = type(of: right)
    switch sign {
    case .equal, .unequal:
      checkComparable(first, second, left, right, at: node)
      return .bool
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      checkOrdered(sign, first, second, left, right, at: node)
      return .bool
    case .isIn, .isNotIn:
      checkContained(first, second, left, right, at: node)
      return .bool
    default: return arithmetic(sign, first, second, left, right, at: node)
    }
  }

  private mutating func checkComparable(
    _ first: ValueType, _ second: ValueType, _ left: Syntax, _ right: Syntax, at node: Syntax
  ) {
    if first.isOpen || second.isOpen || Checker.areAlike(first, second) { return }
    if reportTextAndNumber(first, second, left, right, at: node) { return }
    report(
      ExpressionProblem(
        "E0221", "\(first.words) is never equal to \(second.words)", offset: node.offset, length: node.length))
  }

  private mutating func checkOrdered(
    _ sign: BinaryOperator, _ first: ValueType, _ second: ValueType, _ left: Syntax, _ right: Syntax, at node: Syntax
  ) {
    if reportTextAndNumber(first, second, left, right, at: node) { return }
    for (type, side) in [(first, left), (second, right)] where !type.isOpen && !type.isNumeric && type != .string {
      report(mismatch("`\(sign.rawValue)` compares numbers or texts", type, side))
    }
  }

  private mutating func checkContained(
    _ first: ValueType, _ second: ValueType, _ left: Syntax, _ right: Syntax, at node: Syntax
  ) {
    switch second {
    case .any, .null, .map: break
    case .list(let element):
      if first.isOpen || element.isOpen || Checker.areAlike(first, element) { break }
      if reportTextAndNumber(first, element, left, right, at: node) { break }
      report(
        ExpressionProblem(
          "E0221", "\(first.words) is never in a list whose elements are each \(element.words)", offset: node.offset,
          length: node.length))
    case .string:
      if !first.isOpen, first != .string { report(mismatch("`in` looks for a text in a text", first, left)) }
    default: report(mismatch("`in` looks into a list, a map or a text", second, right))
    }
  }

  private mutating func arithmetic(
    _ sign: BinaryOperator, _ first: ValueType, _ second: ValueType, _ left: Syntax, _ right: Syntax, at node: Syntax
  ) -> ValueType {
    if sign == .plus {
      if first == .string, second == .string { return .string }
      if first.isOpen || second.isOpen, first == .string || second == .string { return .any }
      if reportTextAndNumber(first, second, left, right, at: node) { return .any }
    }
    for (type, side) in [(first, left), (second, right)] where !type.isOpen && !type.isNumeric {
      report(mismatch("`\(sign.rawValue)` needs a number", type, side))
    }
    if sign == .plus, first.isOpen || second.isOpen { return first.isOpen && second.isOpen ? .any : .number }
    return sign != .over && first == .integer && second == .integer ? .integer : .number
  }

  private static func areAlike(_ first: ValueType, _ second: ValueType) -> Bool {
    switch (first, second) {
    case (.list, .list), (.map, .map): true
    default: first == second || first.isNumeric && second.isNumeric
    }
  }

  /// Text beside a number, the commonest slip with tables; names both remedies.
  private mutating func reportTextAndNumber(
    _ first: ValueType, _ second: ValueType, _ left: Syntax, _ right: Syntax, at node: Syntax
  ) -> Bool {
    guard first == .string && second.isNumeric || first.isNumeric && second == .string else { return false }
    let text = first == .string ? left : right
    var hint = Checker.remedies(text)
    if case .constant(.string(let written)) = text.term {
      hint = Double(written) == nil ? "compare it with a text" : "write `\(written)` without quotes"
    }
    report(
      ExpressionProblem(
        "E0220", "a text is compared with a number", offset: node.offset, length: node.length, hint: hint,
        notes: [
          "cells of tables are texts; `types: { column: number }` on the source makes numbers of a column",
          "`| number` makes a number of one text",
        ]))
    return true
  }
}
