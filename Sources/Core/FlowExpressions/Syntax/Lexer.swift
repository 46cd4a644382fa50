internal import FlowBase

/// Cuts a text into the tokens of an expression.
struct Lexer {
  private let text: [Unicode.Scalar]
  private var place: Int
  /// Whether the expression stands in `${…}` and ends with its `}`.
  private let isBraced: Bool
  /// Where the expression began, for what is never closed.
  private let start: Int

  private init(_ text: [Unicode.Scalar], from place: Int, braced: Bool) {
    self.text = text
    self.place = place
    self.isBraced = braced
    start = place
  }

  /// The tokens from a place on, the last of which is `.end`; a braced expression ends at its `}`.
  static func tokens(
    of text: [Unicode.Scalar], from place: Int, braced: Bool
  ) throws(ExpressionProblem) -> [Token] {
    var lexer = Lexer(text, from: place, braced: braced)
    var tokens: [Token] = []
    while true {
      let token = try lexer.next()
      tokens.append(token)
      if token.kind == .end { return tokens }
    }
  }

  private func peek(_ distance: Int = 0) -> Unicode.Scalar? {
    place + distance < text.count ? text[place + distance] : nil
  }

  private mutating func next() throws(ExpressionProblem) -> Token {
    while let scalar = peek(), scalar.properties.isWhitespace { place += 1 }
    let begin = place
    guard let scalar = peek() else {
      if isBraced {
        throw ExpressionProblem(
          "E0201", "`${` is not closed", offset: start - 2, length: 2,
          hint: "add the `}`, or write `$${` for a plain `${`")
      }
      return Token(kind: .end, offset: begin, length: 0)
    }
    switch scalar {
    case "'", "\"": return try quoted(scalar)
    case "0"..."9": return try number()
    case _ where Lexer.beginsWord(scalar):
      while let scalar = peek(), Lexer.continuesWord(scalar) { place += 1 }
      return token(.word(string(begin, place)), from: begin)
    case "}" where isBraced:
      place += 1
      return token(.end, from: begin)
    default: return try sign(scalar)
    }
  }

  private mutating func sign(_ scalar: Unicode.Scalar) throws(ExpressionProblem) -> Token {
    let begin = place
    let pair = peek(1).map { String(scalar) + String($0) } ?? ""
    if ["==", "!=", "<=", ">=", "??"].contains(pair) {
      place += 2
      return token(.sign(pair), from: begin)
    }
    if let (wrong, right) = Lexer.foreign.first(where: { $0.0 == pair || $0.0 == String(scalar) }) {
      throw ExpressionProblem(
        "E0206", "`\(wrong)` is no operator here", offset: begin, length: wrong.unicodeScalars.count,
        hint: "write `\(right)`")
    }
    if pair == "${" {
      throw ExpressionProblem(
        "E0207", "`${` inside an expression", offset: begin, length: 2,
        hint: "write the name alone, without `${` and `}`")
    }
    guard "<>+-*/%|()[],.".unicodeScalars.contains(scalar) else {
      throw ExpressionProblem("E0206", "unexpected character `\(scalar)`", offset: begin)
    }
    place += 1
    return token(.sign(String(scalar)), from: begin)
  }

  /// Operators of other languages, longest first.
  private static let foreign = [
    ("&&", "and"), ("||", "or"), ("=~", "matches"), ("=", "=="), ("!", "not"), ("&", "and"), ("^", "*"), ("?", "??"),
  ]

  private mutating func number() throws(ExpressionProblem) -> Token {
    let begin = place
    var isWhole = true
    digits()
    if peek() == ".", let digit = peek(1), ("0"..."9").contains(digit) {
      isWhole = false
      place += 1
      digits()
    }
    if let mark = peek(), mark == "e" || mark == "E" {
      let signed = peek(1) == "+" || peek(1) == "-"
      if let digit = peek(signed ? 2 : 1), ("0"..."9").contains(digit) {
        isWhole = false
        place += signed ? 2 : 1
        digits()
      }
    }
    if let scalar = peek(), Lexer.continuesWord(scalar) {
      while let scalar = peek(), Lexer.continuesWord(scalar) { place += 1 }
      throw ExpressionProblem(
        "E0204", "`\(string(begin, place))` is no number", offset: begin, length: place - begin,
        hint: "put quotes around a text")
    }
    let written = string(begin, place)
    let value = isWhole ? Int(written).map(Value.int) : Double(written).flatMap { $0.isFinite ? .double($0) : nil }
    guard let value else {
      throw ExpressionProblem(
        "E0204", "the number `\(written)` is too large", offset: begin, length: place - begin,
        hint: isWhole ? "whole numbers go up to \(Int.max)" : nil)
    }
    return token(.number(value), from: begin)
  }

  private mutating func digits() {
    while let digit = peek(), ("0"..."9").contains(digit) { place += 1 }
  }

  private mutating func quoted(_ quote: Unicode.Scalar) throws(ExpressionProblem) -> Token {
    let begin = place
    var result = String.UnicodeScalarView()
    place += 1
    while let scalar = peek() {
      place += 1
      switch scalar {
      case quote: return token(.text(String(result)), from: begin)
      case "\\": result.append(contentsOf: try escape())
      default: result.append(scalar)
      }
    }
    throw ExpressionProblem(
      "E0202", "the quote `\(quote)` is not closed", offset: begin, hint: "add the closing `\(quote)`")
  }

  /// What a backslash and what follows stand for; before any other character it stands for itself, as patterns need.
  private mutating func escape() throws(ExpressionProblem) -> [Unicode.Scalar] {
    guard let scalar = peek() else { return ["\\"] }
    place += 1
    switch scalar {
    case "\\", "'", "\"": return [scalar]
    case "n": return ["\n"]
    case "r": return ["\r"]
    case "t": return ["\t"]
    case "u":
      let begin = place - 2
      let hex = string(place, min(place + 4, text.count))
      guard hex.utf8.count == 4, let code = UInt32(hex, radix: 16), let scalar = Unicode.Scalar(code) else {
        throw ExpressionProblem(
          "E0202", "`\\u` needs four hexadecimal digits that name a character", offset: begin, length: 2,
          hint: "such as `\\u00e9`")
      }
      place += 4
      return [scalar]
    default: return ["\\", scalar]
    }
  }

  private func string(_ from: Int, _ to: Int) -> String {
    var view = String.UnicodeScalarView()
    for scalar in text[from..<to] { view.append(scalar) }
    return String(view)
  }

  private func token(_ kind: Token.Kind, from begin: Int) -> Token {
    Token(kind: kind, offset: begin, length: place - begin)
  }

  private static func beginsWord(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar.properties.isAlphabetic
  }

  private static func continuesWord(_ scalar: Unicode.Scalar) -> Bool {
    beginsWord(scalar) || ("0"..."9").contains(scalar) || scalar.properties.generalCategory == .nonspacingMark
  }
}
