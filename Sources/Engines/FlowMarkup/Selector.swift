public import FlowBase

/// A CSS selector, as far as pages are searched with them: names, `.class`, `#id`, `[attribute]` with all its
/// comparisons, `:not(…)`, `:first-child`, `:last-child`, `:nth-child(n)`, and the combinators blank, `>`, `+`, `~`, `,`.
public struct Selector: Sendable, Hashable {
  /// As it was written.
  public let text: String
  /// The same in XPath.
  let path: String

  /// Reads a selector; `config.selector` says what is wrong with it.
  public init(_ text: String) throws(Fault) {
    self.text = text
    var parser = Parser(text)
    path = try parser.selectors()
  }

  private struct Parser {
    let text: [Character]
    let written: String
    var place = 0

    init(_ text: String) {
      self.text = Array(text)
      written = text
    }

    var next: Character? { place < text.count ? text[place] : nil }

    func wrong(_ what: String) -> Fault {
      Fault("config.selector", .config, "the selector `\(written)`: \(what) at character \(place + 1)")
    }

    mutating func skipBlanks() -> Bool {
      let start = place
      while next?.isWhitespace == true { place += 1 }
      return place > start
    }

    mutating func take(_ character: Character) -> Bool {
      guard next == character else { return false }
      place += 1
      return true
    }

    /// Selectors with commas between them, as one path.
    mutating func selectors() throws(Fault) -> String {
      var paths: [String] = []
      repeat {
        _ = skipBlanks()
        paths.append(try chain())
        _ = skipBlanks()
      } while take(",")
      if next != nil { throw wrong("something unexpected stands") }
      return paths.joined(separator: " | ")
    }

    private mutating func chain() throws(Fault) -> String {
      var path = "//" + (try compound())
      while true {
        let hasBlank = skipBlanks()
        switch next {
        case ">"?:
          place += 1
          _ = skipBlanks()
          path += "/" + (try compound())
        case "+"?:
          place += 1
          _ = skipBlanks()
          path += "/following-sibling::*" + (try compound(isNextSibling: true))
        case "~"?:
          place += 1
          _ = skipBlanks()
          path += "/following-sibling::" + (try compound())
        case nil, ","?: return path
        default:
          guard hasBlank else { throw wrong("something unexpected stands") }
          path += "//" + (try compound())
        }
      }
    }

    /// A name and its conditions; of a next sibling the name is a condition too, as it is the next whatever its name.
    private mutating func compound(isNextSibling: Bool = false) throws(Fault) -> String {
      let start = place
      var name = "*"
      if !take("*"), let word = word() { name = word.lowercased() }
      var conditions: [String] = []
      while let condition = try self.condition() { conditions.append(condition) }
      guard place > start else { throw wrong("a name, `.class`, `#id` or `[attribute]` is missing") }
      var result = name
      if isNextSibling { result = name == "*" ? "[1]" : "[1][self::\(name)]" }
      for condition in conditions { result += "[\(condition)]" }
      return result
    }

    private mutating func condition() throws(Fault) -> String? {
      switch next {
      case "."?:
        place += 1
        return Parser.has(word: try required("a class"), in: "@class")
      case "#"?:
        place += 1
        return "@id = \(Parser.quoted(try required("an id")))"
      case "["?:
        place += 1
        return try attribute()
      case ":"?:
        place += 1
        return try pseudo()
      default: return nil
      }
    }

    private mutating func pseudo() throws(Fault) -> String {
      let name = try required("the name of a pseudo-class").lowercased()
      switch name {
      case "first-child": return "not(preceding-sibling::*)"
      case "last-child": return "not(following-sibling::*)"
      case "nth-child":
        guard take("(") else { throw wrong("`(` is missing") }
        _ = skipBlanks()
        guard let number = word().flatMap({ Int($0) }), number > 0 else { throw wrong("a number from 1 is missing") }
        _ = skipBlanks()
        guard take(")") else { throw wrong("`)` is missing") }
        return "count(preceding-sibling::*) = \(number - 1)"
      case "not":
        guard take("(") else { throw wrong("`(` is missing") }
        _ = skipBlanks()
        var inner: [String] = []
        if next != "*", let name = word() { inner.append("self::\(name.lowercased())") }
        while let condition = try condition() { inner.append(condition) }
        _ = skipBlanks()
        guard take(")"), !inner.isEmpty else { throw wrong("`)` is missing") }
        return "not(\(inner.joined(separator: " and ")))"
      default: throw wrong("`:\(name)` is not known; `:not()`, `:first-child`, `:last-child`, `:nth-child()` are")
      }
    }

    private mutating func attribute() throws(Fault) -> String {
      _ = skipBlanks()
      let name = "@" + (try required("an attribute").lowercased())
      _ = skipBlanks()
      if take("]") { return name }
      let sign = next
      if sign != "=" { place += 1 }
      guard take("=") else { throw wrong("`=` or `]` is missing") }
      _ = skipBlanks()
      let value = Parser.quoted(try self.value())
      _ = skipBlanks()
      guard take("]") else { throw wrong("`]` is missing") }
      switch sign {
      case "="?: return "\(name) = \(value)"
      case "^"?: return "starts-with(\(name), \(value))"
      case "*"?: return "contains(\(name), \(value))"
      case "$"?:
        return "substring(\(name), string-length(\(name)) - string-length(\(value)) + 1) = \(value)"
      case "~"?: return "contains(concat(' ', normalize-space(\(name)), ' '), concat(' ', \(value), ' '))"
      case "|"?: return "(\(name) = \(value) or starts-with(\(name), concat(\(value), '-')))"
      default: throw wrong("a comparison is one of `= ^= *= $= ~= |=`, and something else stands")
      }
    }

    private mutating func value() throws(Fault) -> String {
      guard let quote = next, quote == "\"" || quote == "'" else { return try required("a value") }
      place += 1
      var value = ""
      while let character = next, character != quote {
        value.append(character)
        place += 1
      }
      guard take(quote) else { throw wrong("the closing quote is missing") }
      return value
    }

    private mutating func required(_ what: String) throws(Fault) -> String {
      guard let word = word() else { throw wrong("\(what) is missing") }
      return word
    }

    private mutating func word() -> String? {
      var word = ""
      while let character = next, character.isLetter || character.isNumber || character == "-" || character == "_" {
        word.append(character)
        place += 1
      }
      return word.isEmpty ? nil : word
    }

    private static func has(word: String, in name: String) -> String {
      "contains(concat(' ', normalize-space(\(name)), ' '), \(quoted(" \(word) ")))"
    }

    /// A text as XPath writes it, which knows no escapes.
    static func quoted(_ text: String) -> String {
      if !text.contains("'") { return "'\(text)'" }
      if !text.contains("\"") { return "\"\(text)\"" }
      let parts = text.split(separator: "'", omittingEmptySubsequences: false).map { "'\($0)'" }
      return "concat(\(parts.joined(separator: ", \"'\", ")))"
    }
  }
}
