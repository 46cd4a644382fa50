internal import FlowBase
internal import FlowParts
internal import FlowYAML

/// Turns the JSON Schema of an op's configuration into the keys that manifests are checked by.
///
/// It knows what configurations need and refuses the rest, rather than taking what it would not check.
struct ConfigSchemaReader {
  var problems: [Diagnostic] = []

  private static let known = [
    "type", "description", "title", "default", "enum", "minimum", "maximum", "items", "properties", "required",
    "additionalProperties", "examples", "format", "$schema", "$id",
  ]

  /// The keys of an object's schema.
  mutating func fields(_ node: Node) -> [FieldSpec] {
    if let type = node["type"]?.scalar, type != "object" { wrong(node, "`config` is the schema of an object") }
    check(node)
    if node["additionalProperties"]?.scalar == "true" {
      wrong(node, "`additionalProperties` is false: keys that nobody has described cannot be checked")
    }
    let required = (node["required"]?.elements ?? []).compactMap(\.scalar)
    var fields: [FieldSpec] = []
    for entry in node["properties"]?.entries ?? [] {
      check(entry.value)
      var field = FieldSpec(
        entry.key, type(of: entry.value), phase: .axes, required: required.contains(entry.key),
        entry.value["description"]?.scalar ?? "")
      if let fallback = entry.value["default"] { field.fallback = ConfigSchemaReader.written(fallback) }
      fields.append(field)
    }
    for name in required where !fields.contains(where: { $0.name == name }) {
      wrong(node, "`required` names `\(name)`, which is none of the `properties`")
    }
    return fields
  }

  private mutating func type(of node: Node) -> FieldType {
    if let words = node["enum"]?.elements { return .choice(words.compactMap(\.scalar)) }
    switch node["type"]?.scalar {
    case "string": return .string
    case "integer":
      let low = node["minimum"]?.scalar.flatMap { Int($0) } ?? .min
      let high = node["maximum"]?.scalar.flatMap { Int($0) } ?? .max
      return .integer(low...max(low, high))
    case "number":
      let low = node["minimum"]?.scalar.flatMap { Double($0) } ?? -.infinity
      let high = node["maximum"]?.scalar.flatMap { Double($0) } ?? .infinity
      return .number(low...max(low, high))
    case "boolean": return .boolean
    case "array": return .list(node["items"].map { type(of: $0) } ?? .anything)
    case "object":
      guard node["properties"] != nil else { return .map(.anything) }
      return .object(fields(node))
    case nil: return .anything
    case let word?:
      wrong(node, "`\(word)` is no type of JSON Schema: string, integer, number, boolean, array, object")
      return .anything
    }
  }

  private mutating func check(_ node: Node) {
    for entry in node.entries ?? [] where !ConfigSchemaReader.known.contains(entry.key) {
      problems.append(
        Diagnostic(
          "E0602", "`\(entry.key)` is not understood in the schema of a configuration",
          at: Place(file: node.file, mark: entry.keyMark),
          hint: Suggestion.nearest(to: entry.key, among: ConfigSchemaReader.known).map { "did you mean `\($0)`?" },
          notes: ["understood are: \(ConfigSchemaReader.known.joined(separator: " "))"]))
    }
  }

  private mutating func wrong(_ node: Node, _ message: String) {
    problems.append(Diagnostic("E0603", message, at: node.place))
  }

  /// A default as a manifest would write it.
  private static func written(_ node: Node) -> String {
    switch node.content {
    case .scalar(let text, .plain): return text
    case .scalar(let text, _): return JSONText.string(text)
    case .list(let nodes): return "[" + nodes.map(written).joined(separator: ", ") + "]"
    case .map(let entries):
      return "{ " + entries.map { "\($0.key): \(written($0.value))" }.joined(separator: ", ") + " }"
    }
  }
}

/// Texts as JSON, which YAML reads as well.
enum JSONText {
  static func string(_ text: String) -> String {
    var writer = JSONWriter()
    writer.string(text)
    return writer.text
  }
}
