internal import FlowBase

/// Computes the value of a parsed expression.
enum Evaluator {
  /// The longest text that an expression makes, in bytes.
  static let longestText = 1 << 20

  static func value(of node: Syntax, in scope: some Scope) throws(Fault) -> Value {
    switch node.term {
    case .constant(let value): return value
    case .name(let reference): return scope.value(of: reference) ?? .null
    case .unknownName(let words):
      throw Fault("expression.unknown", .permanent, "there is no `\(words.joined(separator: "."))`")
    case .list(let elements):
      var values: [Value] = []
      values.reserveCapacity(elements.count)
      for element in elements { values.append(try value(of: element, in: scope)) }
      return .list(values)
    case .member(let base, let name): return member(name, of: try value(of: base, in: scope))
    case .element(let base, let index):
      return element(try value(of: index, in: scope), of: try value(of: base, in: scope))
    case .not(let operand): return .bool(!(try truth(try value(of: operand, in: scope), of: "not")))
    case .negative(let operand): return try Arithmetic.negative(try value(of: operand, in: scope))
    case .binary(let sign, let left, let right): return try binary(sign, left, right, in: scope)
    case .matches(let operand, let pattern): return try matches(try value(of: operand, in: scope), pattern)
    case .filter(let filter, let input, let arguments):
      let value = try value(of: input, in: scope)
      var values: [Value] = []
      for argument in arguments { values.append(try self.value(of: argument, in: scope)) }
      return try apply(filter, to: value, values)
    case .unknownFilter(let name, _, _, _):
      throw Fault("expression.unknown", .permanent, "there is no filter `\(name)`")
    }
  }

  // MARK: Operators

  private static func binary(
    _ sign: BinaryOperator, _ left: Syntax, _ right: Syntax, in scope: some Scope
  ) throws(Fault) -> Value {
    let first = try value(of: left, in: scope)
    switch sign {
    case .and:
      guard try truth(first, of: "and") else { return .bool(false) }
      return .bool(try truth(try value(of: right, in: scope), of: "and"))
    case .or:
      if try truth(first, of: "or") { return .bool(true) }
      return .bool(try truth(try value(of: right, in: scope), of: "or"))
    case .orElse: return first.isNull ? try value(of: right, in: scope) : first
    default: return try combine(sign, first, try value(of: right, in: scope))
    }
  }

  /// The result of an operator that needs both operands.
  static func combine(_ sign: BinaryOperator, _ left: Value, _ right: Value) throws(Fault) -> Value {
    switch sign {
    case .equal: return .bool(equal(left, right))
    case .unequal: return .bool(!equal(left, right))
    case .less, .lessOrEqual, .greater, .greaterOrEqual: return .bool(try ordered(sign, left, right))
    case .isIn: return .bool(try contains(right, left))
    case .isNotIn: return .bool(!(try contains(right, left)))
    case .matches: return try matches(left, pattern: right)
    case .plus, .minus, .times, .over, .modulo: return try Arithmetic.compute(sign, left, right)
    case .and, .or, .orElse: return left
    }
  }

  /// Whether a value counts as true: null counts as false, and only truth values have a truth.
  static func truth(_ value: Value, of sign: String) throws(Fault) -> Bool {
    switch value {
    case .bool(let flag): return flag
    case .null: return false
    default: throw Fault("expression.type", .permanent, "`\(sign)` needs true or false, not \(shown(value))")
    }
  }

  /// Numbers are equal by value, whatever their kind; values of different kinds are never equal.
  static func equal(_ left: Value, _ right: Value) -> Bool {
    switch (left, right) {
    case (.int(let whole), .double(let fraction)), (.double(let fraction), .int(let whole)):
      Int(exactly: fraction) == whole
    default: left == right
    }
  }

  /// Null comes neither before nor behind anything.
  private static func ordered(_ sign: BinaryOperator, _ left: Value, _ right: Value) throws(Fault) -> Bool {
    switch (left, right) {
    case (.null, _), (_, .null): return false
    case (.int(let left), .int(let right)): return compare(sign, left, right)
    case (.string(let left), .string(let right)): return compare(sign, left, right)
    default:
      guard let left = left.asDouble, let right = right.asDouble else {
        throw Fault(
          "expression.type", .permanent, "`\(sign.rawValue)` cannot compare \(shown(left)) with \(shown(right))")
      }
      return compare(sign, left, right)
    }
  }

  private static func compare<Ordered: Comparable>(_ sign: BinaryOperator, _ left: Ordered, _ right: Ordered) -> Bool {
    switch sign {
    case .less: left < right
    case .lessOrEqual: left <= right
    case .greater: left > right
    default: left >= right
    }
  }

  private static func contains(_ whole: Value, _ part: Value) throws(Fault) -> Bool {
    switch whole {
    case .null: return false
    case .list(let elements): return elements.contains { equal($0, part) }
    case .map(let fields): return fields.place(of: part.text) != nil
    case .string(let text):
      if part.isNull { return false }
      guard let part = part.asString else { break }
      return part.isEmpty || TextSearch.contains(part, in: text)
    default: break
    }
    throw Fault("expression.type", .permanent, "`in` cannot look for \(shown(part)) in \(shown(whole))")
  }

  private static func matches(_ value: Value, pattern: Value) throws(Fault) -> Value {
    guard let written = pattern.asString else {
      throw Fault("expression.type", .permanent, "`matches` needs a pattern, not \(shown(pattern))")
    }
    let compiled: Pattern
    do throws(PatternProblem) {
      compiled = try Pattern(written)
    } catch {
      throw Fault("expression.pattern", .permanent, "bad pattern \(shown(pattern)): \(error.message)")
    }
    return try matches(value, compiled)
  }

  private static func matches(_ value: Value, _ pattern: Pattern) throws(Fault) -> Value {
    switch value {
    case .null: return .bool(false)
    case .list, .map: throw Fault("expression.type", .permanent, "`matches` needs a text, not \(value.kindName)")
    default:
      let text = value.text
      if text.utf8.count > Pattern.longestText { throw tooLong }
      return .bool(pattern.fits(text))
    }
  }

  // MARK: Parts and filters

  static func member(_ name: String, of value: Value) -> Value {
    if case .map(let fields) = value { fields[name] ?? .null } else { .null }
  }

  static func element(_ index: Value, of value: Value) -> Value {
    switch (value, index) {
    case (.list(let elements), .int(let place)):
      let place = place < 0 ? place + elements.count : place
      return elements.indices.contains(place) ? elements[place] : .null
    case (.map(let fields), _): return fields[index.text] ?? .null
    default: return .null
    }
  }

  static func apply(_ filter: Filter, to value: Value, _ arguments: [Value]) throws(Fault) -> Value {
    if value.isNull, !filter.takesNull { return .null }
    guard arguments.count == filter.parameters.count else {
      throw Fault("expression.arguments", .permanent, "the filter is written `\(filter.form)`")
    }
    switch (filter.input, value) {
    case (.string, .list), (.string, .map):
      throw Fault("expression.type", .permanent, "`\(filter.name)` needs a text, not \(value.kindName)")
    default: return try filter.apply(value, arguments)
    }
  }

  // MARK: Words

  static var tooLong: Fault { Fault("expression.limit", .permanent, "a text is longer than 1 MiB") }

  /// A value as messages show it: its kind and its beginning.
  static func shown(_ value: Value) -> String {
    switch value {
    case .null, .list, .map: value.kindName
    case .string(let text): text.count > 40 ? "the text `\(text.prefix(40))…`" : "the text `\(text)`"
    default: "`\(value.text)`"
    }
  }
}
