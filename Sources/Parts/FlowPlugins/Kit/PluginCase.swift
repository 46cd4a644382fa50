internal import FlowBase
internal import FlowYAML

/// One of the `tests/*.yaml` beside a plugin: what goes in, and what is to come out.
struct PluginCase: Sendable {
  var name: String
  var op: String?
  var config: Fields = [:]
  /// The absolute path of the item's file.
  var input: String?
  var media: String?
  var item: Fields = [:]
  var key = "test"
  var expect: Fields = [:]

  /// The cases in a plugin's folder, by the names of their files.
  static func all(in folder: String) throws(Fault) -> [PluginCase] {
    let tests = PathText.join(folder, "tests")
    guard SmallFiles.isFolder(tests) else { return [] }
    var cases: [PluginCase] = []
    for name in try SmallFiles.names(in: tests).sorted() where name.hasSuffix(".yaml") {
      cases.append(try PluginCase(path: PathText.join(tests, name)))
    }
    return cases
  }

  init(path: String) throws(Fault) {
    name = PathText.name(of: path)
    let read = YAMLReader.read(try SmallFiles.read(path, limit: 1 << 20), file: path)
    guard let node = read.node, read.problems.isEmpty else {
      throw Fault("config.plugin", .config, "\(path): \(read.problems.first?.message ?? "it is empty")")
    }
    try PluginCase.check(node, ["op", "config", "input", "media", "item", "key", "expect", "note"], path)
    if let expect = node["expect"] {
      try PluginCase.check(
        expect, ["status", "reason", "code", "set", "keys", "output", "media", "count", "items"], "\(path): expect")
    }
    op = node["op"]?.scalar
    config = node["config"].map { PluginCase.value($0).asMap ?? [:] } ?? [:]
    input = node["input"]?.scalar.map { PathText.absolute($0, from: PathText.parent(of: path)) }
    media = node["media"]?.scalar
    item = node["item"].map { PluginCase.value($0).asMap ?? [:] } ?? [:]
    key = node["key"]?.scalar ?? key
    expect = node["expect"].map { PluginCase.value($0).asMap ?? [:] } ?? [:]
  }

  private static func check(_ node: Node, _ known: [String], _ place: String) throws(Fault) {
    for entry in node.entries ?? [] where !known.contains(entry.key) {
      throw Fault(
        "config.plugin", .config, "\(place): unknown key `\(entry.key)`; keys: \(known.joined(separator: " "))")
    }
  }

  /// A node's value as YAML's core schema has it.
  static func value(_ node: Node) -> Value {
    switch node.content {
    case .list(let nodes): return .list(nodes.map(value))
    case .map(let entries): return .map(Fields(names: entries.map(\.key), values: entries.map { value($0.value) }))
    case .scalar(let text, .plain):
      switch text {
      case "", "~", "null": return .null
      case "true": return true
      case "false": return false
      default:
        if let number = Int(text) { return .int(number) }
        if let number = Double(text), text.first?.isNumber ?? false || text.first == "-" { return .double(number) }
        return .string(text)
      }
    case .scalar(let text, _): return .string(text)
    }
  }
}
