internal import FlowBase

/// A word or sign of an expression.
struct Token {
  enum Kind: Hashable {
    /// A word, operators that are words included.
    case word(String)
    case number(Value)
    case text(String)
    case sign(String)
    /// The end of the text, or the `}` that ends the expression inside a template.
    case end
  }

  var kind: Kind
  /// Where it begins, in scalars from the beginning of the whole text.
  var offset: Int
  /// How many scalars it takes.
  var length: Int

  /// The token as messages name it.
  var words: String {
    switch kind {
    case .word(let word): "`\(word)`"
    case .number(let value): "`\(value.text)`"
    case .text: "a text"
    case .sign(let sign): "`\(sign)`"
    case .end: length == 0 ? "the end" : "`}`"
    }
  }
}
