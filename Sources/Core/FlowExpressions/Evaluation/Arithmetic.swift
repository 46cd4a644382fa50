internal import FlowBase

/// Numbers: whole ones stay whole while the result is, and nothing overflows unseen.
enum Arithmetic {
  static func compute(_ sign: BinaryOperator, _ left: Value, _ right: Value) throws(Fault) -> Value {
    switch (left, right) {
    case (.int(let left), .int(let right)): return try whole(sign, left, right)
    case (.string(let left), .string(let right)) where sign == .plus:
      if left.utf8.count + right.utf8.count > Evaluator.longestText { throw Evaluator.tooLong }
      return .string(left + right)
    default:
      guard let first = left.asDouble, let second = right.asDouble else { throw unfit(sign, left, right) }
      return try fraction(sign, first, second)
    }
  }

  static func negative(_ value: Value) throws(Fault) -> Value {
    switch value {
    case .int(let number): return try exact(Int(0).subtractingReportingOverflow(number), "-\(number)")
    case .double(let number): return .double(-number)
    default: throw Fault("expression.type", .permanent, "`-` needs a number, not \(Evaluator.shown(value))")
    }
  }

  private static func whole(_ sign: BinaryOperator, _ left: Int, _ right: Int) throws(Fault) -> Value {
    let written = "\(left) \(sign.rawValue) \(right)"
    switch sign {
    case .plus: return try exact(left.addingReportingOverflow(right), written)
    case .minus: return try exact(left.subtractingReportingOverflow(right), written)
    case .times: return try exact(left.multipliedReportingOverflow(by: right), written)
    case .modulo:
      if right == 0 { throw divided(written) }
      return .int(left.remainderReportingOverflow(dividingBy: right).partialValue)
    default:
      if right == 0 { throw divided(written) }
      let quotient = left.dividedReportingOverflow(by: right)
      if quotient.overflow { throw overflow(written) }
      return quotient.partialValue &* right == left
        ? .int(quotient.partialValue) : .double(Double(left) / Double(right))
    }
  }

  private static func fraction(_ sign: BinaryOperator, _ left: Double, _ right: Double) throws(Fault) -> Value {
    let written = "\(Value.text(of: left)) \(sign.rawValue) \(Value.text(of: right))"
    let result: Double
    switch sign {
    case .plus: result = left + right
    case .minus: result = left - right
    case .times: result = left * right
    default:
      if right == 0 { throw divided(written) }
      result = sign == .modulo ? left.truncatingRemainder(dividingBy: right) : left / right
    }
    if !result.isFinite { throw overflow(written) }
    return .double(result)
  }

  private static func exact(_ result: (partialValue: Int, overflow: Bool), _ written: String) throws(Fault) -> Value {
    if result.overflow { throw overflow(written) }
    return .int(result.partialValue)
  }

  private static func overflow(_ written: String) -> Fault {
    Fault("expression.overflow", .permanent, "`\(written)` is too large a number")
  }

  private static func divided(_ written: String) -> Fault {
    Fault("expression.division", .permanent, "`\(written)` divides by zero")
  }

  private static func unfit(_ sign: BinaryOperator, _ left: Value, _ right: Value) -> Fault {
    let culprit = left.asDouble == nil ? left : right
    if culprit.isNull {
      return Fault(
        "expression.null", .permanent, "`\(sign.rawValue)` needs a value, not null; `?? 0` names one in its place")
    }
    return Fault(
      "expression.type", .permanent,
      "`\(sign.rawValue)` cannot combine \(Evaluator.shown(left)) with \(Evaluator.shown(right)); `| number` makes a number"
    )
  }
}
