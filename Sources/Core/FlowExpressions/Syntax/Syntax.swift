internal import FlowBase

/// A part of a parsed expression, with its place.
struct Syntax: Sendable, Hashable {
  var term: Term
  /// Where it begins, in scalars of the whole text.
  var offset: Int
  /// How many scalars it takes.
  var length: Int
  /// How many levels it has; bounded, since everything that walks it recurses.
  var depth: Int

  /// The deepest tree that the parser makes.
  static let deepest = 256

  var end: Int { offset + length }

  /// The same place with a value instead.
  func replaced(by value: Value) -> Syntax { Syntax(term: .constant(value), offset: offset, length: length, depth: 1) }

  /// The same place with another term of the same depth.
  func replaced(by term: Term) -> Syntax { Syntax(term: term, offset: offset, length: length, depth: depth) }

  /// The value, if this is one.
  var constant: Value? {
    if case .constant(let value) = term { value } else { nil }
  }
}

/// What an expression is made of.
indirect enum Term: Sendable, Hashable {
  case constant(Value)
  case name(Reference)
  /// A name whose first word is no namespace.
  case unknownName([String])
  case list([Syntax])
  case member(Syntax, String)
  case element(Syntax, Syntax)
  case not(Syntax)
  case negative(Syntax)
  case binary(BinaryOperator, Syntax, Syntax)
  /// A match with a pattern that was compiled when the expression was parsed.
  case matches(Syntax, Pattern)
  case filter(Filter, Syntax, [Syntax])
  /// A filter that there is none of; its name's place is kept.
  case unknownFilter(String, offset: Int, Syntax, [Syntax])
}

/// An operator between two expressions.
enum BinaryOperator: String, Sendable, Hashable, CaseIterable {
  case or, and
  case equal = "=="
  case unequal = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case isIn = "in"
  case isNotIn = "not in"
  case matches
  case orElse = "??"
  case plus = "+"
  case minus = "-"
  case times = "*"
  case over = "/"
  case modulo = "%"

  /// How tightly it binds; `not` stands between `and` and the comparisons.
  var power: Int {
    switch self {
    case .or: 10
    case .and: 20
    case .equal, .unequal, .less, .lessOrEqual, .greater, .greaterOrEqual, .isIn, .isNotIn, .matches: 30
    case .orElse: 40
    case .plus, .minus: 50
    case .times, .over, .modulo: 60
    }
  }

  static let powerOfNot = 25

  /// Whether it answers yes or no about its operands' order, so that chains of it make no sense.
  var isComparison: Bool { power == 30 }
}

extension Syntax {
  /// The parts directly below.
  var children: [Syntax] {
    switch term {
    case .constant, .name, .unknownName: []
    case .list(let elements): elements
    case .member(let base, _), .not(let base), .negative(let base), .matches(let base, _): [base]
    case .element(let base, let index): [base, index]
    case .binary(_, let left, let right): [left, right]
    case .filter(_, let input, let arguments), .unknownFilter(_, _, let input, let arguments): [input] + arguments
    }
  }

  /// Adds the names that are used here, each once, in order.
  func collectReferences(into list: inout [Reference]) {
    if case .name(let reference) = term {
      if !list.contains(reference) { list.append(reference) }
    } else {
      for child in children { child.collectReferences(into: &list) }
    }
  }
}
