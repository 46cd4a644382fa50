public import FlowBase

/// A pattern that texts are held against: a regular expression as `matches` knows it, or, where it begins with a `*`,
/// a wildcard over the whole text, in which `*` stands for anything and `?` for one character.
public struct TextPattern: Sendable, Hashable {
  private let pattern: Pattern

  /// Reads a pattern; `config.pattern` says what is wrong with it.
  public init(_ text: String) throws(Fault) {
    do {
      pattern = try Pattern(text.hasPrefix("*") ? TextPattern.expression(ofWildcard: text) : text)
    } catch {
      throw Fault(
        "config.pattern", .config,
        "the pattern `\(text)` cannot be read: \(error.message)" + (error.hint.map { "; \($0)" } ?? ""))
    }
  }

  /// Whether the pattern fits the text.
  public func fits(_ text: String) -> Bool { pattern.fits(text) }

  private static func expression(ofWildcard text: String) -> String {
    var result = "^"
    for character in text {
      switch character {
      case "*": result += ".*"
      case "?": result += "."
      case _ where character.isLetter || character.isNumber || "/-_:%&=#,;~@!".contains(character):
        result.append(character)
      default: result += "\\\(character)"
      }
    }
    return result + "$"
  }
}
