internal import FlowBase
internal import FlowExpressions
internal import FlowManifest
internal import FlowParts
internal import FlowYAML

/// An entry whose op is known.
struct ResolvedEntry {
  var entry: Manifest.Entry
  var id: String
  /// The op's key and what stands there.
  var op: Node.Entry
  var spec: PartSpec

  /// Where the op's name stands.
  var place: Place { Place(file: entry.node.file, mark: op.keyMark) }
}

// Which op an entry means, and what it is called.
extension Planner {
  /// The entries whose op is known, in order; the others are told of.
  mutating func resolve(_ entries: [Manifest.Entry], as role: Role) -> [ResolvedEntry] {
    var resolved: [ResolvedEntry] = []
    for entry in entries {
      guard let op = op(of: entry, as: role), let spec = catalog.spec(op.key, for: role) else { continue }
      for key in entry.candidates where key.key != op.key || key.keyMark != op.keyMark {
        strayKey(key, beside: op, of: entry, spec: spec)
      }
      let id = self.id(of: entry, op: op)
      if let first = resolved.first(where: { $0.id == id }) {
        let written = entry["id"] == nil
        reader.add(
          "E0105", "there is another \(role.rawValue) `\(id)` on line \(first.entry.idPlace.mark.line)",
          at: written ? Place(file: entry.node.file, mark: op.keyMark) : entry.idPlace,
          hint: written ? "give one of them an `id:`" : "choose another id")
      }
      resolved.append(ResolvedEntry(entry: entry, id: id, op: op, spec: spec))
    }
    return resolved
  }

  private mutating func id(of entry: Manifest.Entry, op: Node.Entry) -> String {
    guard let key = entry["id"] else { return Manifest.Entry.defaultID(op: op.key) }
    guard let text = key.value.scalar, Manifest.Entry.isID(text) else {
      reader.add(
        "E0106", "\(key.value.scalar.map { "`\($0)`" } ?? key.value.kindName) is no id", at: key.value.place,
        hint: "begin with a letter, then `a`-`z`, `0`-`9` and `_`")
      return key.value.scalar ?? Manifest.Entry.defaultID(op: op.key)
    }
    return text
  }

  /// The op of an entry: its only key beside the engine's, else the one that the catalog knows.
  private mutating func op(of entry: Manifest.Entry, as role: Role) -> Node.Entry? {
    let known = entry.candidates.filter { catalog.spec($0.key, for: role) != nil }
    if known.count == 1 { return known[0] }
    if known.count > 1 {
      reader.add(
        "E0107",
        "this \(role.rawValue) names \(known.count) ops: \(known.map { "`\($0.key)`" }.joined(separator: ", "))",
        at: Place(file: entry.node.file, mark: known[1].keyMark), hint: "begin another \(role.rawValue) with `- `")
      return nil
    }
    guard let candidate = entry.candidates.first else { return nil }
    unknownOp(candidate, of: entry, as: role)
    return nil
  }

  private mutating func unknownOp(_ candidate: Node.Entry, of entry: Manifest.Entry, as role: Role) {
    let name = candidate.key
    let place = Place(file: entry.node.file, mark: candidate.keyMark)
    let names = catalog.specs(for: role).map(\.name)
    let isKeyOfRole = Suggestion.nearest(to: name, among: entry.role.keys)
    var hint = Suggestion.nearest(to: name, among: names).map { "did you mean `\($0)`?" }
    if hint == nil, let other = Role.allCases.first(where: { $0 != role && catalog.spec(name, for: $0) != nil }) {
      hint = "`\(name)` is a \(other.rawValue): put it under `\(other.rawValue)s:`"
    }
    if hint == nil, entry.candidates.count == 1, let isKeyOfRole { hint = "did you mean `\(isKeyOfRole)`?" }
    let isPlugin = name.contains(".")
    reader.add(
      "E0108", isPlugin ? "no plugin gives the \(role.rawValue) `\(name)`" : "there is no \(role.rawValue) `\(name)`",
      at: place, hint: hint,
      notes: [
        isPlugin
          ? "name the plugin's folder under `plugins:`"
          : "\(role.rawValue)s: \(names.joined(separator: " "))  (imgflow explain ops)"
      ])
  }

  /// Tells of a key that stands beside an op and is none of the engine's.
  private mutating func strayKey(_ key: Node.Entry, beside op: Node.Entry, of entry: Manifest.Entry, spec: PartSpec) {
    guard catalog.spec(key.key, for: spec.role) == nil else { return }
    if spec.fields.contains(where: { $0.name == key.key }) {
      reader.add(
        "E0103", "unknown key `\(key.key)` beside `\(op.key)`", at: Place(file: entry.node.file, mark: key.keyMark),
        hint: "indent it under `\(op.key):`", notes: ["`\(key.key)` is a key of `\(op.key)` itself"])
      return
    }
    let fields = SectionFields.beside(spec.role)
    let inner = Suggestion.nearest(to: key.key, among: spec.fields.map(\.name))
    let near = Suggestion.nearest(to: key.key, among: fields.map(\.name)).map { "did you mean `\($0)`?" }
    reader.add(
      "E0103", "unknown key `\(key.key)` beside `\(op.key)`", at: Place(file: entry.node.file, mark: key.keyMark),
      hint: near ?? inner.map { "did you mean `\($0)`, indented under `\(op.key):`?" }
        ?? belonging(of: key.key, notIn: spec),
      notes: ["keys of a \(spec.role.rawValue): \(fields.map(\.name).joined(separator: " "))"])
  }

  /// Where a key belongs that stands inside or beside an op where nobody knows it.
  func belonging(of key: String, notIn spec: PartSpec) -> String? {
    for role in Role.allCases where SectionFields.beside(role).contains(where: { $0.name == key }) {
      return role == spec.role
        ? "`\(key)` belongs to the \(role.rawValue), not to `\(spec.name)`" : "`\(key)` belongs to a \(role.rawValue)"
    }
    if SectionFields.host.contains(where: { $0.name == key }) { return "`\(key)` belongs under a host in `hosts:`" }
    if let section = [
      ("limits", SectionFields.limits), ("output", SectionFields.output), ("state", SectionFields.state),
    ]
    .first(where: { $0.1.contains { $0.name == key } }) {
      return "`\(key)` belongs under `\(section.0):`"
    }
    if Manifest.TopKey(rawValue: key) != nil { return "`\(key)` belongs at the top of the manifest" }
    let owners = catalog.specs(for: spec.role).filter { other in other.fields.contains { $0.name == key } }.map(\.name)
    guard let owner = owners.first else { return nil }
    return owners.count <= 3
      ? "\(owners.map { "`\($0)`" }.joined(separator: ", ")) \(owners.count == 1 ? "has" : "have") it"
      : "`\(owner)` has it"
  }

  /// The configuration of an op, its shorthand written out, with defaults.
  mutating func readConfig(of resolved: ResolvedEntry, types: PlaceTypes) -> Config {
    let spec = resolved.spec
    let node = expanded(resolved)
    let site = ConfigReader.Site(name: spec.name, owner: spec.name, types: types)
    let before = reader.diagnostics.count
    let strays = (node.entries ?? []).filter { entry in !spec.fields.contains { $0.name == entry.key } }
    let homes = strays.map { ($0.key, belonging(of: $0.key, notIn: spec)) }
    let config =
      reader.object(node, fields: spec.fields, at: site) { key in homes.first { $0.0 == key }?.1 } ?? Config()
    for place in reader.diagnostics.indices.dropFirst(before)
    where reader.diagnostics[place].code == "E0103" && reader.diagnostics[place].message.hasSuffix("in `\(spec.name)`")
    {
      let keys = spec.fields.map(\.name).joined(separator: " ")
      reader.diagnostics[place].notes = [
        spec.fields.isEmpty
          ? "`\(spec.name)` has no keys  (imgflow explain \(spec.name))"
          : "keys of `\(spec.name)`: \(keys)   (imgflow explain \(spec.name))"
      ]
    }
    if reader.diagnostics.dropFirst(before).contains(where: { $0.severity == .error }) {
      misread.insert(resolved.place)
    }
    return config
  }

  /// The node of an op's configuration as a map of its fields.
  func expanded(_ resolved: ResolvedEntry) -> Node {
    let node = resolved.op.value
    guard let shorthand = resolved.spec.shorthand,
      let field = resolved.spec.fields.first(where: { $0.name == shorthand })
    else { return node }
    var isShort = node.entries == nil && !node.isNull
    // Where the op is nothing but a map with free keys, each map is that map.
    if resolved.spec.fields.count == 1, case .map = field.type, node.entries != nil { isShort = true }
    guard isShort else { return node.isNull ? Node(.map([]), mark: resolved.op.keyMark, file: node.file) : node }
    return Node(
      .map([Node.Entry(key: shorthand, keyMark: resolved.op.keyMark, value: node)]), mark: resolved.op.keyMark,
      file: node.file)
  }
}
