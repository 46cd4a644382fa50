internal import FlowBase
internal import FlowExpressions
internal import FlowParts
internal import FlowYAML

extension FieldType {
  /// Whether a map may stand for this type.
  var takesMaps: Bool {
    switch self {
    case .map, .object, .anything: true
    case .either(let types): types.contains(where: \.takesMaps)
    default: false
    }
  }

  /// Whether a list may stand for this type.
  var takesLists: Bool {
    switch self {
    case .list, .anything: true
    case .either(let types): types.contains(where: \.takesLists)
    default: false
    }
  }

  /// Whether a scalar may stand for this type.
  var takesScalars: Bool {
    switch self {
    case .map, .object: false
    case .either(let types): types.contains(where: \.takesScalars)
    default: true
    }
  }

  /// Whether a node has a shape that this type can take.
  func fits(_ node: Node) -> Bool {
    switch node.content {
    case .scalar: takesScalars
    case .list: takesLists
    case .map: takesMaps
    }
  }

  /// A value of this type, as a manifest would write it.
  var example: String? {
    switch self {
    case .string: nil
    case .url: "https://example.com/a.jpg"
    case .path: "images/a.jpg"
    case .integer(let range): "\(range.contains(7) ? 7 : range.lowerBound)"
    case .number(let range): Value.text(of: range.contains(0.5) ? 0.5 : range.lowerBound)
    case .boolean: "true"
    case .byteCount, .interval, .rate, .bandwidth, .choice: nil
    case .list(let element): element.example.map { "[\($0)]" }
    case .map(let element): element.example.map { "{ name: \($0) }" }
    case .condition: "item.width >= 256"
    case .object, .anything, .either: nil
    }
  }

  /// What to do about a scalar that comes near to this type.
  func remedy(for node: Node) -> String? {
    guard let text = node.scalar, !text.isEmpty else { return nil }
    switch self {
    case .interval where Double(text) != nil: return "write a unit: `\(text)s`"
    case .rate where Double(text) != nil: return "name the time too: `\(text)/s`"
    case .bandwidth where ByteCount(parsing: text) != nil: return "name the time too: `\(text)/s`"
    case .byteCount:
      let units = ["kb": "kB", "mb": "MB", "gb": "GB", "kib": "KiB", "mib": "MiB", "gib": "GiB", "k": "kB", "m": "MB"]
      let unit = text.drop { $0.isNumber || $0 == "." }
      let written = units[unit.lowercased()].map { "\(text.dropLast(unit.count))\($0)" }
      return written.flatMap { ByteCount(parsing: $0) == nil ? nil : "write `\($0)`" }
    case .boolean where ["yes", "on", "Yes", "On", "YES", "ON", "1", "True", "TRUE"].contains(text):
      return "write `true`"
    case .boolean where ["no", "off", "No", "Off", "NO", "OFF", "0", "False", "FALSE"].contains(text):
      return "write `false`"
    case .choice(let words): return Suggestion.nearest(to: text, among: words).map { "did you mean `\($0)`?" }
    case .either(let types): return types.lazy.compactMap { $0.remedy(for: node) }.first
    default: return nil
    }
  }
}

extension ValueType {
  /// The type in words, for messages.
  var words: String {
    switch self {
    case .any: "any value"
    case .null: "nothing"
    case .bool: "true or false"
    case .integer: "a whole number"
    case .number: "a number"
    case .string: "a text"
    case .list: "a list"
    case .map: "a map"
    }
  }
}
