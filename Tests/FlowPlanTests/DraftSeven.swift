import FlowBase
import FlowYAML

/// The keywords of JSON Schema draft-07 that the manifest's schema uses; another one is an error, so that none is
/// silently taken for granted.
struct DraftSeven {
  let root: Value

  /// What is wrong with a value, as `path: keyword`; only of the first alternative where all of several fail.
  func problems(_ value: Value) -> [String] { check(value, root, "") }

  private func check(_ value: Value, _ schema: Value, _ path: String) -> [String] {
    guard let keys = schema.asMap else { return ["\(path): no schema"] }
    if let reference = keys["$ref"]?.asString {
      let name = reference.split(separator: "/").last.map(String.init) ?? ""
      guard let target = root.asMap?["definitions"]?.asMap?[name] else { return ["\(path): no \(reference)"] }
      return check(value, target, path)
    }
    var found: [String] = []
    for (keyword, argument) in keys { found += check(value, keyword, argument, keys, path) }
    return found
  }

  private func check(_ value: Value, _ keyword: String, _ argument: Value, _ keys: Fields, _ path: String) -> [String] {
    func wrong(_ isWrong: Bool) -> [String] { isWrong ? ["\(path): \(keyword)"] : [] }
    switch keyword {
    case "$schema", "title", "description", "default", "definitions", "then", "else": return []
    case "type":
      let names = argument.asList ?? [argument]
      return wrong(!names.contains { DraftSeven.has($0.text, value) })
    case "enum": return wrong(!(argument.asList ?? []).contains(value))
    case "pattern":
      guard let text = value.asString, let regex = try? Regex(argument.text) else { return [] }
      return wrong(text.firstMatch(of: regex) == nil)
    case "minimum": return wrong((value.asDouble ?? .infinity) < (argument.asDouble ?? 0))
    case "maximum": return wrong((value.asDouble ?? -.infinity) > (argument.asDouble ?? 0))
    case "items":
      return (value.asList ?? []).enumerated().flatMap { check($0.element, argument, "\(path)/\($0.offset)") }
    case "required":
      guard let fields = value.asMap else { return [] }
      return wrong((argument.asList ?? []).contains { !fields.names.contains($0.text) })
    case "propertyNames":
      return (value.asMap?.names ?? []).flatMap { check(.string($0), argument, path + "/" + $0) }
    case "properties":
      return (value.asMap.map { Array($0) } ?? []).flatMap { name, element in
        argument.asMap?[name].map { check(element, $0, path + "/" + name) } ?? []
      }
    case "patternProperties": return []
    case "additionalProperties":
      let known = keys["properties"]?.asMap?.names ?? []
      let patterns = (keys["patternProperties"]?.asMap?.names ?? []).compactMap { try? Regex($0) }
      return (value.asMap.map { Array($0) } ?? []).flatMap { name, element -> [String] in
        if known.contains(name) || patterns.contains(where: { name.firstMatch(of: $0) != nil }) { return [] }
        return argument == false ? ["\(path)/\(name): unknown"] : check(element, argument, path + "/" + name)
      }
    case "not": return wrong(check(value, argument, path).isEmpty)
    case "anyOf", "oneOf":
      let tried = (argument.asList ?? []).map { check(value, $0, path) }
      let fitting = tried.count(where: \.isEmpty)
      return wrong(keyword == "oneOf" ? fitting != 1 : fitting == 0)
    case "if":
      let branch = check(value, argument, path).isEmpty ? "then" : "else"
      return keys[branch].map { check(value, $0, path) } ?? []
    default: return ["\(path): the keyword \(keyword) is not checked"]
    }
  }

  private static func has(_ name: String, _ value: Value) -> Bool {
    switch (name, value) {
    case ("null", .null), ("boolean", .bool), ("string", .string), ("array", .list), ("object", .map): true
    case ("number", .int), ("number", .double), ("integer", .int): true
    default: false
    }
  }
}

extension Node {
  /// The document as a parser sees it that knows no types but YAML's own.
  var asPlainYAML: Value {
    switch content {
    case .scalar(let text, .plain):
      switch text {
      case "", "~", "null": .null
      case "true": .bool(true)
      case "false": .bool(false)
      default: Int(text).map(Value.int) ?? Double(text).map(Value.double) ?? .string(text)
      }
    case .scalar(let text, _): .string(text)
    case .list(let elements): .list(elements.map(\.asPlainYAML))
    case .map(let entries):
      .map(Fields(names: entries.map(\.key), values: entries.map(\.value.asPlainYAML)))
    }
  }
}
