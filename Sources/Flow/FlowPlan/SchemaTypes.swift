internal import FlowBase
internal import FlowParts

/// What the types of fields are in JSON Schema.
enum SchemaTypes {
  /// A text with an expression in it, which stands for a value of any type.
  static let template = Value.object([("type", "string"), ("pattern", "\\$\\{")])
  /// A text; numbers and truth values are kept as written, so editors must not mark `1.10` or `NO`.
  static let text = Value.object([("type", ["string", "number", "boolean"])])

  private static let number = "^[0-9]+(\\.[0-9]+)? *"
  private static let units = "(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)?"

  /// A definition by its name.
  static func reference(_ name: String) -> Value { .object([("$ref", .string("#/definitions/\(name)"))]) }

  /// A key with what it means and what holds without it.
  static func property(_ field: FieldSpec, isSection: Bool = false) -> Value {
    switch field.name {
    case "id": described(field, [.object([("type", "string"), ("pattern", "^[a-z][a-z0-9_]*$")])])
    default:
      described(
        field, alternatives(field.type) + (isSection && field.type.isCollection ? [.object([("type", "null")])] : []))
    }
  }

  /// Some forms with a field's words.
  static func described(_ field: FieldSpec, _ forms: [Value]) -> Value {
    var entries: [(String, Value)] = [("description", .string(field.summary))]
    if let fallback = field.fallback { entries.append(("default", self.fallback(fallback, of: field.type))) }
    return .object(entries + anyOf(forms))
  }

  /// A map with known keys.
  static func object(_ fields: [FieldSpec], isPartial: Bool = false) -> Value {
    let missed = isPartial ? [] : fields.filter(\.isMissed).map { Value.string($0.name) }
    var entries: [(String, Value)] = [
      // Nothing behind the colon is a map without keys.
      ("type", missed.isEmpty ? ["object", "null"] : "object"),
      ("additionalProperties", false),
      ("properties", .object(fields.map { ($0.name, property($0)) })),
    ]
    if !missed.isEmpty { entries.append(("required", .list(missed))) }
    return .object(entries)
  }

  /// The forms that a value of a type can have.
  static func alternatives(_ type: FieldType) -> [Value] {
    let template = reference("template")
    switch type {
    case .string, .url, .path: return [text]
    case .integer(let range):
      var entries: [(String, Value)] = [("type", "integer")]
      if range.lowerBound != .min { entries.append(("minimum", .int(range.lowerBound))) }
      if range.upperBound != .max { entries.append(("maximum", .int(range.upperBound))) }
      return [.object(entries), template]
    case .number(let range):
      var entries: [(String, Value)] = [("type", "number")]
      if range.lowerBound.isFinite { entries.append(("minimum", .double(range.lowerBound))) }
      if range.upperBound.isFinite { entries.append(("maximum", .double(range.upperBound))) }
      return [.object(entries), template]
    case .boolean: return [.object([("type", "boolean")]), template]
    case .byteCount: return [.object([("type", "number"), ("minimum", 0)]), pattern(number + units + "$"), template]
    case .interval: return [pattern(number + "(ms|s|m|h|d)$"), template]
    case .rate: return [pattern(number + "/[smh]$"), template]
    case .bandwidth: return [pattern(number + units + "/s$"), template]
    case .choice(let words):
      // A word such as `1.1` or `on` is none for a parser of YAML that does not know its field.
      let others = words.map(CoreSchema.value).filter { $0.asString == nil }
      return [.object([("enum", .list(words.map(Value.string) + others))]), template]
    case .list(let element):
      let list = Value.object([("type", "array"), ("items", .object(anyOf(alternatives(element))))])
      return [list] + alternatives(element) + [template]
    case .map(let element):
      return [
        .object([("type", "object"), ("additionalProperties", .object(anyOf(alternatives(element))))]), template,
      ]
    case .object(let fields): return [object(fields)]
    case .condition: return [.object([("type", ["string", "boolean"])])]
    case .anything: return [.object([])]
    case .either(let types): return types.flatMap(alternatives)
    }
  }

  private static func pattern(_ pattern: String) -> Value {
    .object([("type", "string"), ("pattern", .string(pattern))])
  }

  /// The keys of a schema that takes any of some forms; none where one of them takes everything.
  static func anyOf(_ forms: [Value]) -> [(String, Value)] {
    var kept: [Value] = []
    for form in forms where !kept.contains(form) { kept.append(form) }
    if kept.contains(.object([])) { return [] }
    if kept.contains(text) { kept.removeAll { $0 == reference("template") } }
    guard kept.count == 1, case .map(let only) = kept[0] else { return [("anyOf", .list(kept))] }
    return Array(only)
  }

  /// A form without the maps that it takes; nil where nothing is left of it.
  static func withoutMaps(_ form: Value) -> Value? {
    guard case .map(let keys) = form else { return form }
    if keys.isEmpty { return .object([("type", ["string", "number", "boolean", "array"])]) }
    // Spelt out, since a bare `nil` would be the value null.
    return keys["properties"] != nil || keys["additionalProperties"] != nil ? Value?.none : form
  }

  /// What holds without a key, as editors show it.
  private static func fallback(_ text: String, of type: FieldType) -> Value {
    if text.hasPrefix("["), text.hasSuffix("]") {
      let parts = text.dropFirst().dropLast().split(separator: ",").map(\.trimmed)
      return .list(parts.map { CoreSchema.value(of: String($0)) })
    }
    switch type {
    case .integer, .number, .boolean, .either: return CoreSchema.value(of: text)
    default: return .string(text)
    }
  }
}

extension FieldType {
  /// Whether it is a list or map, which a section without a value leaves empty.
  fileprivate var isCollection: Bool {
    switch self {
    case .list, .map, .object: true
    default: false
    }
  }
}

extension Value {
  /// A map with its keys in order.
  static func object(_ entries: [(String, Value)]) -> Value {
    .map(Fields(names: entries.map(\.0), values: entries.map(\.1)))
  }
}
