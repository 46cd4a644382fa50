internal import FlowBase

extension Expression {
  /// The expression as a text that is equal for equal meanings, whatever the spacing; values that were folded in count.
  public var canonical: String { root.canonical }
}

extension Template {
  /// The template as a text that is equal for equal meanings, whatever the spacing; values that were folded in count.
  public var canonical: String {
    pieces.map { piece in
      switch piece {
      case .literal(let text): text.split(separator: "${", omittingEmptySubsequences: false).joined(separator: "$${")
      case .hole(let hole): "${" + hole.root.canonical + "}"
      }
    }.joined()
  }
}

extension Syntax {
  var canonical: String {
    switch term {
    case .constant(let value): Syntax.json(value)
    case .name(let reference):
      ([reference.namespace.rawValue] + reference.path.map { Syntax.word($0) }).joined(separator: ".")
    case .unknownName(let words): words.joined(separator: ".")
    case .list(let elements): "[" + elements.map(\.canonical).joined(separator: ",") + "]"
    case .member(let base, let name): base.canonical + "." + Syntax.word(name)
    case .element(let base, let index): base.canonical + "[" + index.canonical + "]"
    case .not(let base): "(not " + base.canonical + ")"
    case .negative(let base): "(-" + base.canonical + ")"
    case .binary(let sign, let left, let right):
      "(" + left.canonical + " " + sign.rawValue + " " + right.canonical + ")"
    case .matches(let base, let pattern):
      "(" + base.canonical + " matches " + Syntax.json(.string(pattern.source)) + ")"
    case .filter(let filter, let input, let arguments): input.applied(filter.name, arguments)
    case .unknownFilter(let name, _, let input, let arguments): input.applied(name, arguments)
    }
  }

  private func applied(_ filter: String, _ arguments: [Syntax]) -> String {
    "(" + canonical + "|" + filter + "(" + arguments.map(\.canonical).joined(separator: ",") + "))"
  }

  /// A name as it is written: bare where it is an identifier.
  private static func word(_ name: String) -> String {
    let isBare = name.utf8.allSatisfy { $0 == UInt8(ascii: "_") || $0 >= 0x80 || isLetterOrDigit($0) }
    return isBare && !name.isEmpty ? name : json(.string(name))
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  private static func json(_ value: Value) -> String {
    var writer = JSONWriter()
    writer.value(value)
    return writer.text
  }
}
