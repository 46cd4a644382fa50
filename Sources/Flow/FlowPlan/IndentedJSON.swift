internal import FlowBase

/// JSON for people: what is short stands in a line, what is longer is indented.
enum IndentedJSON {
  /// A value with all that it holds.
  static func text(_ value: Value, width: Int = 110) -> String { text(value, indentation: 0, width: width) }

  private static func text(_ value: Value, indentation: Int, width: Int) -> String {
    let short = line(value)
    if short.utf8.count + indentation <= width { return short }
    let inner = String(repeating: " ", count: indentation + 2)
    let parts: [String]
    let brackets: (String, String)
    switch value {
    case .list(let elements):
      parts = elements.map { text($0, indentation: indentation + 2, width: width) }
      brackets = ("[", "]")
    case .map(let fields):
      parts = fields.map { line(.string($0.0)) + ": " + text($0.1, indentation: indentation + 2, width: width) }
      brackets = ("{", "}")
    default: return short
    }
    let body = parts.map { inner + $0 }.joined(separator: ",\n")
    return brackets.0 + "\n" + body + "\n" + String(repeating: " ", count: indentation) + brackets.1
  }

  private static func line(_ value: Value) -> String {
    var writer = JSONWriter()
    writer.value(value)
    return writer.text
  }
}
