internal import FlowBase

/// Builds the tree of an expression from its tokens, by the operators' powers.
struct Parser {
  private let tokens: [Token]
  private var place = 0
  private var nesting = 0

  /// The longest text of an expression or template, in bytes.
  static let longestText = 64 * 1024
  private static let deepestNesting = 64

  private init(_ tokens: [Token]) { self.tokens = tokens }

  /// Parses one expression from a place of the text on; tells where it ended, the closing `}` included.
  static func parse(
    _ text: [Unicode.Scalar], from place: Int, braced: Bool
  ) throws(ExpressionProblem) -> (root: Syntax, end: Int) {
    let tokens = try Lexer.tokens(of: text, from: place, braced: braced)
    var parser = Parser(tokens)
    if let only = tokens.first, only.kind == .end {
      throw ExpressionProblem(
        "E0200", braced ? "`${}` is empty" : "the expression is empty", offset: braced ? place - 2 : place,
        length: braced ? 3 : 1, hint: "name a value, such as `item.key`")
    }
    let root = try parser.expression(0)
    guard parser.token.kind == .end else { throw parser.unexpected("an operator or the end") }
    return (root, parser.token.offset + parser.token.length)
  }

  /// Refuses what is too long to be an expression.
  static func checkLength(of text: String) throws(ExpressionProblem) {
    if text.utf8.count > longestText {
      throw ExpressionProblem("E0203", "the text is longer than 64 KiB", offset: 0, hint: "anything larger is a script")
    }
  }

  private var token: Token { tokens[min(place, tokens.count - 1)] }
  private var following: Token { tokens[min(place + 1, tokens.count - 1)] }

  private mutating func take(sign: String) -> Bool {
    guard token.kind == .sign(sign) else { return false }
    place += 1
    return true
  }

  private mutating func expect(sign: String) throws(ExpressionProblem) {
    if !take(sign: sign) { throw unexpected("`\(sign)`") }
  }

  private func unexpected(_ expected: String, hint: String? = nil) -> ExpressionProblem {
    ExpressionProblem(
      "E0200", "expected \(expected), found \(token.words)", offset: token.offset, length: token.length, hint: hint)
  }

  private mutating func enter() throws(ExpressionProblem) {
    nesting += 1
    if nesting > Parser.deepestNesting {
      throw ExpressionProblem(
        "E0203", "the expression is nested deeper than \(Parser.deepestNesting) levels", offset: token.offset,
        length: token.length, hint: "anything larger is a script")
    }
  }

  private func node(_ term: Term, _ offset: Int, _ children: [Syntax] = []) throws(ExpressionProblem) -> Syntax {
    let last = tokens[max(0, place - 1)]
    let depth = 1 + (children.map(\.depth).max() ?? 0)
    if depth > Syntax.deepest {
      throw ExpressionProblem(
        "E0203", "the expression chains more than \(Syntax.deepest) operations", offset: last.offset,
        length: last.length, hint: "for many values write `x in [a, b, c]`; anything larger is a script")
    }
    return Syntax(term: term, offset: offset, length: last.offset + last.length - offset, depth: depth)
  }

  // MARK: Operators

  private mutating func expression(_ power: Int) throws(ExpressionProblem) -> Syntax {
    try enter()
    defer { nesting -= 1 }
    var left = try prefix()
    var compared: BinaryOperator?
    while let (sign, width) = infix(), sign.power >= power {
      if sign.isComparison {
        if let first = compared {
          throw ExpressionProblem(
            "E0200", "`\(first.rawValue)` and `\(sign.rawValue)` cannot be chained", offset: token.offset,
            length: token.length, hint: "join two comparisons with `and`, or use parentheses")
        }
        compared = sign
      }
      place += width
      let right = try expression(sign == .orElse ? sign.power : sign.power + 1)
      left = try joined(sign, left, right)
    }
    return left
  }

  private func joined(
    _ sign: BinaryOperator, _ left: Syntax, _ right: Syntax
  ) throws(ExpressionProblem) -> Syntax {
    guard sign == .matches, case .constant(.string(let written)) = right.term else {
      return try node(.binary(sign, left, right), left.offset, [left, right])
    }
    let pattern: Pattern
    do throws(PatternProblem) {
      pattern = try Pattern(written)
    } catch {
      throw ExpressionProblem(
        "E0205", "bad pattern: \(error.message)", offset: right.offset, length: right.length, hint: error.hint)
    }
    return try node(.matches(left, pattern), left.offset, [left, right])
  }

  /// The operator that stands here, and how many tokens it takes.
  private func infix() -> (BinaryOperator, Int)? {
    switch token.kind {
    case .word("not"): following.kind == .word("in") ? (.isNotIn, 2) : nil
    case .word(let word):
      ["or", "and", "in", "matches"].contains(word) ? BinaryOperator(rawValue: word).map { ($0, 1) } : nil
    case .sign(let sign): BinaryOperator(rawValue: sign).map { ($0, 1) }
    default: nil
    }
  }

  private mutating func prefix() throws(ExpressionProblem) -> Syntax {
    let offset = token.offset
    guard token.kind == .word("not") else { return try filtered() }
    place += 1
    let operand = try expression(BinaryOperator.powerOfNot)
    return try node(.not(operand), offset, [operand])
  }

  private mutating func signed() throws(ExpressionProblem) -> Syntax {
    let offset = token.offset
    guard take(sign: "-") else { return try postfix() }
    try enter()
    defer { nesting -= 1 }
    let operand = try signed()
    if case .constant(.int(let number)) = operand.term { return try node(.constant(.int(-number)), offset) }
    if case .constant(.double(let number)) = operand.term { return try node(.constant(.double(-number)), offset) }
    return try node(.negative(operand), offset, [operand])
  }

  // MARK: Filters

  private mutating func filtered() throws(ExpressionProblem) -> Syntax {
    let offset = token.offset
    var value = try signed()
    while take(sign: "|") {
      guard case .word(let name) = token.kind else {
        throw unexpected("the name of a filter", hint: token.kind == .sign("|") ? "`or` joins conditions" : nil)
      }
      let place = token.offset
      self.place += 1
      let arguments = take(sign: "(") ? try list(until: ")") : []
      let term: Term =
        if let filter = Filter.named(name) {
          .filter(filter, value, arguments)
        } else {
          .unknownFilter(name, offset: place, value, arguments)
        }
      value = try node(term, offset, [value] + arguments)
    }
    return value
  }

  private mutating func list(until closing: String) throws(ExpressionProblem) -> [Syntax] {
    var elements: [Syntax] = []
    if take(sign: closing) { return elements }
    while true {
      elements.append(try expression(0))
      if take(sign: closing) { return elements }
      guard take(sign: ",") else { throw unexpected("`,` or `\(closing)`") }
      if take(sign: closing) { return elements }
    }
  }

  // MARK: Names and literals

  private mutating func postfix() throws(ExpressionProblem) -> Syntax {
    let offset = token.offset
    var base = try primary()
    while true {
      if take(sign: ".") {
        guard case .word(let name) = token.kind else { throw unexpected("a name behind `.`", hint: bracketHint) }
        place += 1
        base = try member(name, of: base, offset)
      } else if take(sign: "[") {
        let index = try expression(0)
        try expect(sign: "]")
        if case .constant(.string(let name)) = index.term {
          base = try member(name, of: base, offset)
        } else {
          base = try node(.element(base, index), offset, [base, index])
        }
      } else {
        return base
      }
    }
  }

  private var bracketHint: String? {
    if case .number(let value) = token.kind { "write `[\"\(value.text)\"]`" } else { nil }
  }

  private func member(_ name: String, of base: Syntax, _ offset: Int) throws(ExpressionProblem) -> Syntax {
    switch base.term {
    case .name(var reference):
      reference.path.append(name)
      return try node(.name(reference), offset)
    case .unknownName(let words): return try node(.unknownName(words + [name]), offset)
    default: return try node(.member(base, name), offset, [base])
    }
  }

  private mutating func primary() throws(ExpressionProblem) -> Syntax {
    let start = token
    switch start.kind {
    case .number(let value):
      place += 1
      return try node(.constant(value), start.offset)
    case .text(let text):
      place += 1
      return try node(.constant(.string(text)), start.offset)
    case .word(let word): return try name(word)
    case .sign("("):
      place += 1
      var inner = try expression(0)
      try expect(sign: ")")
      inner.offset = start.offset
      inner.length = tokens[place - 1].offset + 1 - start.offset
      return inner
    case .sign("["):
      place += 1
      let elements = try list(until: "]")
      let values = elements.compactMap(\.constant)
      return values.count == elements.count
        ? try node(.constant(.list(values)), start.offset) : try node(.list(elements), start.offset, elements)
    case .sign("+"): throw unexpected("a value", hint: "numbers need no `+`")
    default: throw unexpected("a value")
    }
  }

  private mutating func name(_ word: String) throws(ExpressionProblem) -> Syntax {
    let offset = token.offset
    if ["and", "or", "in", "matches"].contains(word) { throw unexpected("a value") }
    if following.kind == .sign("(") {
      throw ExpressionProblem(
        "E0208", "there are no functions", offset: offset, length: token.length,
        hint: Filter.named(word) == nil ? "filters are written `value | name`" : "write `value | \(word)`")
    }
    place += 1
    switch word {
    case "not": throw unexpected("a value")
    case "true": return try node(.constant(.bool(true)), offset)
    case "false": return try node(.constant(.bool(false)), offset)
    case "null": return try node(.constant(.null), offset)
    default:
      guard let namespace = Namespace(rawValue: word) else { return try node(.unknownName([word]), offset) }
      return try node(.name(Reference(namespace, [])), offset)
    }
  }
}
