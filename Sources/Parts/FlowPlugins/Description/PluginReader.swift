public import FlowBase
internal import FlowExpressions
internal import FlowParts
internal import FlowYAML

extension PluginManifest {
  /// Reads the `plugin.yaml` in a folder; nil where it cannot be used, and everything that is wrong with it.
  public static func read(folder: String) -> (manifest: PluginManifest?, problems: [Diagnostic]) {
    let path = PathText.join(folder, "plugin.yaml")
    let bytes: [UInt8]
    do throws(Fault) { bytes = try SmallFiles.read(path, limit: 1 << 20) } catch {
      return (nil, [Diagnostic("E0601", error.message, at: nil)])
    }
    return parse(bytes, file: path, folder: folder)
  }

  /// Reads the text of a `plugin.yaml`.
  public static func parse(
    _ bytes: [UInt8], file: String, folder: String
  ) -> (manifest: PluginManifest?, problems: [Diagnostic]) {
    let read = YAMLReader.read(bytes, file: file)
    guard let node = read.node, read.problems.isEmpty else { return (nil, read.problems) }
    var reader = PluginReader()
    let manifest = reader.manifest(node, folder: PathText.absolute(folder))
    let problems = reader.problems.sortedByPlace()
    return (problems.contains { $0.severity == .error } ? nil : manifest, problems)
  }
}

/// Turns the nodes of a `plugin.yaml` into its meaning, and collects what is wrong.
struct PluginReader {
  var problems: [Diagnostic] = []

  static let topKeys = [
    "imgflow_plugin", "name", "version", "summary", "run", "protocol", "mode", "ops", "limits", "permissions", "errors",
    "author", "license", "homepage",
  ]
  static let opKeys = [
    "kind", "summary", "takes", "gives", "reads", "deterministic", "per", "config", "shorthand",
  ]

  mutating func manifest(_ node: Node, folder: String) -> PluginManifest {
    keys(of: node, among: PluginReader.topKeys, in: "plugin.yaml")
    if let version = required("imgflow_plugin", in: node), version.scalar != "1" {
      wrong(version, "`imgflow_plugin` is 1, the version of this format")
    }
    let name = required("name", in: node).flatMap { pluginName($0) } ?? ""
    var manifest = PluginManifest(
      name: name, version: required("version", in: node).flatMap { text($0, "version") } ?? "",
      summary: node["summary"].flatMap { text($0, "summary") } ?? "",
      run: required("run", in: node).map { texts($0, "run") } ?? [], folder: folder)
    if let node = node["run"], manifest.run.isEmpty {
      wrong(node, "`run` names the program, such as [python3, main.py]")
    }
    if let versions = node["protocol"], !texts(versions, "protocol").contains("1") {
      wrong(versions, "this version of imgflow speaks version 1 of the protocol, and the plugin does not")
    }
    if let mode = node["mode"] {
      manifest.mode =
        choice(mode, "mode", PluginManifest.Mode.allCases.map(\.rawValue)).flatMap { .init(rawValue: $0) } ?? .process
    }
    readOps(node, into: &manifest)
    if let limits = node["limits"] { readLimits(limits, into: &manifest.limits) }
    if let permissions = node["permissions"] { readPermissions(permissions, into: &manifest.permissions) }
    for entry in node["errors"].map({ entries($0, "errors") }) ?? [] {
      let classes = ["transient", "quota", "permanent", "auth"]
      if let word = choice(entry.value, entry.key, classes) { manifest.errors[entry.key] = FaultClass(rawValue: word) }
    }
    return manifest
  }

  private mutating func pluginName(_ node: Node) -> String? {
    guard let name = text(node, "name") else { return nil }
    if !PluginReader.isName(name) {
      wrong(
        node, "`\(name)` is no name of a plugin: words of small letters, digits, `_` and `-` with a dot between them")
    }
    return name
  }

  /// Whether a text can name a plugin or its op: words with a dot between them.
  static func isName(_ name: String) -> Bool {
    let words = name.split(separator: ".", omittingEmptySubsequences: false)
    return words.count >= 2
      && words.allSatisfy { word in
        !word.isEmpty
          && word.utf8.allSatisfy {
            ($0 >= 0x61 && $0 <= 0x7A) || ($0 >= 0x41 && $0 <= 0x5A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x5F
              || $0 == 0x2D
          }
      }
  }

  // MARK: Ops

  private mutating func readOps(_ node: Node, into manifest: inout PluginManifest) {
    guard let ops = required("ops", in: node) else { return }
    for entry in entries(ops, "ops") {
      if !PluginReader.isName(entry.key) {
        problems.append(
          Diagnostic(
            "E0603", "`\(entry.key)` is no name of an op: words with a dot between them, such as `acme.face-crop`",
            at: Place(file: entry.value.file, mark: entry.keyMark)))
      }
      if let op = readOp(entry.key, entry.value, manifest) { manifest.ops.append(op) }
    }
    if ops.entries?.isEmpty ?? false { wrong(ops, "`ops` names at least one op") }
  }

  private mutating func readOp(_ name: String, _ node: Node, _ manifest: PluginManifest) -> PluginOp? {
    keys(of: node, among: PluginReader.opKeys, in: name)
    guard let kind = required("kind", in: node), let word = choice(kind, "kind", Role.allCases.map(\.rawValue)),
      let role = Role(rawValue: word)
    else { return nil }
    var op = PluginOp(
      name: name, kind: role, summary: node["summary"].flatMap { text($0, "summary") } ?? manifest.summary)
    op.takes = node["takes"].map { texts($0, "takes") } ?? []
    op.reads = node["reads"].map { texts($0, "reads") } ?? []
    if let gives = node["gives"] { readGives(gives, into: &op) }
    if let flag = node["deterministic"] { op.isDeterministic = boolean(flag, "deterministic") ?? true }
    if let per = node["per"] {
      let words = texts(per, "per").compactMap { choiceText($0, per, "per", ["leg", "item", "group", "run"]) }
      op.per = words.compactMap { Per(rawValue: $0) }
      if op.per.isEmpty { op.per = [.leg, .item] }
    }
    if let config = node["config"] {
      var schema = ConfigSchemaReader()
      op.fields = schema.fields(config)
      op.paths = Set((config["properties"]?.entries ?? []).filter { $0.value["format"]?.scalar == "path" }.map(\.key))
      problems += schema.problems
      let taken = SectionKeys.taken(by: role)
      for field in op.fields where taken.contains(field.name) {
        wrong(config, "`\(field.name)` is a key of every \(role.rawValue), and cannot be one of `\(name)`")
      }
    }
    if let shorthand = node["shorthand"], let key = text(shorthand, "shorthand") {
      if op.fields.contains(where: { $0.name == key }) {
        op.shorthand = key
      } else {
        wrong(shorthand, "`shorthand` is one of the keys of `config`, and `\(key)` is none")
      }
    }
    return op
  }

  private mutating func readGives(_ node: Node, into op: inout PluginOp) {
    keys(of: node, among: ["media", "set"], in: "gives")
    if let media = node["media"].flatMap({ text($0, "media") }), media != "same" { op.gives = media }
    for entry in node["set"].map({ entries($0, "set") }) ?? [] {
      let types: [(String, ValueType)] = [
        ("string", .string), ("integer", .integer), ("number", .number), ("boolean", .bool), ("list", .list(.any)),
        ("map", .map), ("any", .any),
      ]
      guard let word = choice(entry.value, entry.key, types.map(\.0)), let type = types.first(where: { $0.0 == word })
      else { continue }
      op.sets.append(ItemField(entry.key, type.1))
    }
  }

  // MARK: Limits and permissions

  private mutating func readLimits(_ node: Node, into limits: inout PluginLimits) {
    keys(of: node, among: ["instances", "window", "start", "item", "memory", "idle_exit"], in: "limits")
    if let count = node["instances"] { limits.instances = integer(count, "instances", 1...256) ?? 1 }
    if let count = node["window"] { limits.window = integer(count, "window", 1...10_000) ?? 8 }
    if let time = node["start"] { limits.start = interval(time, "start") ?? limits.start }
    if let time = node["item"] { limits.item = interval(time, "item") ?? limits.item }
    if let time = node["idle_exit"] { limits.idleExit = interval(time, "idle_exit") ?? limits.idleExit }
    if let memory = node["memory"] {
      limits.memory = memory.scalar.flatMap { ByteCount(parsing: $0)?.bytes }
      if limits.memory == nil { wrong(memory, "`memory` is a size such as 1GB") }
    }
  }

  private mutating func readPermissions(_ node: Node, into permissions: inout PluginPermissions) {
    keys(of: node, among: ["network", "env", "write"], in: "permissions")
    if let flag = node["network"] { permissions.network = boolean(flag, "network") ?? false }
    if let names = node["env"] { permissions.environment = texts(names, "env") }
    guard let places = node["write"] else { return }
    permissions.writable = texts(places, "write")
    for place in permissions.writable where place != "workdir" && !place.hasPrefix("/") {
      wrong(places, "`\(place)` is neither `workdir` nor an absolute path")
    }
  }

  // MARK: Pieces

  mutating func wrong(_ node: Node, _ message: String) {
    problems.append(Diagnostic("E0603", message, at: node.place))
  }

  mutating func keys(of node: Node, among known: [String], in owner: String) {
    for entry in entries(node, owner) where !known.contains(entry.key) {
      problems.append(
        Diagnostic(
          "E0602", "unknown key `\(entry.key)` in `\(owner)`", at: Place(file: node.file, mark: entry.keyMark),
          hint: Suggestion.nearest(to: entry.key, among: known).map { "did you mean `\($0)`?" },
          notes: ["keys: \(known.joined(separator: " "))"]))
    }
  }

  private mutating func required(_ key: String, in node: Node) -> Node? {
    if let value = node[key], !value.isNull { return value }
    problems.append(Diagnostic("E0604", "`\(key)` is missing", at: node.place))
    return nil
  }

  private mutating func entries(_ node: Node, _ owner: String) -> [Node.Entry] {
    if let entries = node.entries { return entries }
    wrong(node, "`\(owner)` is a map")
    return []
  }

  private mutating func text(_ node: Node, _ key: String) -> String? {
    if let text = node.scalar, !text.isEmpty { return text }
    wrong(node, "`\(key)` is a text")
    return nil
  }

  private mutating func texts(_ node: Node, _ key: String) -> [String] {
    if let text = node.scalar { return [text] }
    let texts = (node.elements ?? []).compactMap(\.scalar)
    if node.elements == nil || texts.count != node.elements?.count { wrong(node, "`\(key)` is a list of texts") }
    return texts
  }

  private mutating func choice(_ node: Node, _ key: String, _ words: [String]) -> String? {
    guard let text = text(node, key) else { return nil }
    return choiceText(text, node, key, words)
  }

  private mutating func choiceText(_ text: String, _ node: Node, _ key: String, _ words: [String]) -> String? {
    if words.contains(text) { return text }
    problems.append(
      Diagnostic(
        "E0603", "`\(key)` is one of \(words.joined(separator: ", ")), and this is `\(text)`", at: node.place,
        hint: Suggestion.nearest(to: text, among: words).map { "did you mean `\($0)`?" }))
    return nil
  }

  private mutating func boolean(_ node: Node, _ key: String) -> Bool? {
    if node.scalar == "true" { return true }
    if node.scalar == "false" { return false }
    wrong(node, "`\(key)` is true or false")
    return nil
  }

  private mutating func integer(_ node: Node, _ key: String, _ range: ClosedRange<Int>) -> Int? {
    if let number = node.scalar.flatMap({ Int($0) }), range.contains(number) { return number }
    wrong(node, "`\(key)` is a whole number from \(range.lowerBound) to \(range.upperBound)")
    return nil
  }

  private mutating func interval(_ node: Node, _ key: String) -> Interval? {
    if let span = node.scalar.flatMap({ Interval(parsing: $0) }), span > .zero { return span }
    wrong(node, "`\(key)` is a duration such as 10s")
    return nil
  }
}

/// The keys that stand beside an op, which no op may have itself.
enum SectionKeys {
  static func taken(by role: Role) -> Set<String> {
    switch role {
    case .source: ["id", "where", "sample", "take", "note"]
    case .stage:
      [
        "id", "needs", "after", "per", "if", "matrix", "on_error", "concurrency", "interval", "retry", "timeout",
        "deadline", "pool", "note",
      ]
    case .sink: ["id", "events", "required", "note"]
    }
  }
}
