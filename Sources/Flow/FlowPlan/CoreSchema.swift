internal import FlowBase
internal import FlowYAML

/// YAML 1.2's core schema, which decides what a plain scalar is where no field declares a type.
enum CoreSchema {
  /// The value of a plain scalar.
  static func value(of text: String) -> Value {
    switch text {
    case "", "~", "null", "Null", "NULL": return .null
    case "true", "True", "TRUE": return .bool(true)
    case "false", "False", "FALSE": return .bool(false)
    case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF": return .double(.infinity)
    case "-.inf", "-.Inf", "-.INF": return .double(-.infinity)
    case ".nan", ".NaN", ".NAN": return .double(.nan)
    default: return number(text) ?? .string(text)
    }
  }

  private static func number(_ text: String) -> Value? {
    if text.hasPrefix("0x") { return Int(text.dropFirst(2), radix: 16).map(Value.int) }
    if text.hasPrefix("0o") { return Int(text.dropFirst(2), radix: 8).map(Value.int) }
    let digits = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text[...]
    guard let first = digits.first, first.isASCII, first.isNumber || first == "." else { return nil }
    guard digits.allSatisfy({ $0.isASCII && ($0.isNumber || ".eE+-".contains($0)) }) else { return nil }
    if digits.allSatisfy(\.isNumber) { return Int(text).map(Value.int) ?? Double(text).map(Value.double) }
    guard digits != "." else { return nil }
    return Double(digits.first == "." ? text.replacingFirst(".", with: "0.") : text).map(Value.double)
  }
}

extension String {
  fileprivate func replacingFirst(_ part: Character, with other: String) -> String {
    guard let place = firstIndex(of: part) else { return self }
    return String(self[..<place]) + other + String(self[index(after: place)...])
  }
}

extension Node {
  /// The value of this node where no field declares a type; texts stay as they are, `${…}` included.
  var coreValue: Value {
    switch content {
    case .scalar(let text, .plain): CoreSchema.value(of: text)
    case .scalar(let text, _): .string(text)
    case .list(let elements): .list(elements.map(\.coreValue))
    case .map(let entries): .map(Fields(names: entries.map(\.key), values: entries.map(\.value.coreValue)))
    }
  }
}
