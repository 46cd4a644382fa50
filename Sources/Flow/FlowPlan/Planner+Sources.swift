internal import FlowBase
internal import FlowExpressions
internal import FlowManifest
internal import FlowParts
internal import FlowYAML

/// A source of the plan, and what is known of its items.
struct DraftSource {
  var planned: PlannedSource
  var row: ColumnTypes
  var loop: ColumnTypes
  var item: [String: ValueType]
}

// Sources and sinks.
extension Planner {
  /// What every source says of an item.
  static let sourceFields: [String: ValueType] = [
    "key": .string, "url": .string, "name": .string, "stem": .string, "ext": .string, "host": .string,
    "index": .integer, "source": .string,
  ]

  mutating func planSources(of entries: [ResolvedEntry]) -> [DraftSource] {
    var drafts: [DraftSource] = []
    for resolved in entries {
      guard let part = catalog.sources[resolved.spec.name] else { continue }
      let draft = draftSource(resolved, part)
      if inputs.onlySources.isEmpty || inputs.onlySources.contains(resolved.id) { drafts.append(draft) }
    }
    for only in inputs.onlySources where !entries.contains(where: { $0.id == only }) {
      let ids = entries.map(\.id)
      reader.add(
        "E0119", "there is no source `\(only)`", at: nil,
        hint: Suggestion.nearest(to: only, among: ids).map { "did you mean `\($0)`?" },
        notes: ["sources: \(ids.joined(separator: " "))"])
    }
    return drafts
  }

  private mutating func draftSource(_ resolved: ResolvedEntry, _ part: SourcePart) -> DraftSource {
    let node = expanded(resolved)
    let (row, loop) = SourceColumns.columns(of: resolved.spec, node: node, load: load)
    var types = loadTypes("source `\(resolved.id)`")
    types.row = row
    types.loop = loop
    types.absence = "a source is asked before there are items"
    let config = readConfig(of: resolved, types: types)
    meetAddresses(in: node, fields: resolved.spec.fields)
    checkLoop(of: config, node: node, spec: resolved.spec)
    checkPart(resolved, [config])
    var planned = PlannedSource(id: resolved.id, op: resolved.spec.name, part: part, config: config)
    planned.place = resolved.place
    var item = Planner.sourceFields
    for field in resolved.spec.sets(config) { item[field.name] = field.type }
    if let entry = resolved.entry["where"] {
      types.item = item
      let site = ConfigReader.Site(name: "where", owner: resolved.id, types: types)
      planned.condition = reader.condition(entry.value, at: site)
    }
    planned.sample = resolved.entry["sample"].flatMap { readSample($0.value) }
    planned.take = readKey("take", of: resolved)?.asInt
    return DraftSource(planned: planned, row: row, loop: loop, item: item)
  }

  mutating func planSinks(of entries: [ResolvedEntry]) -> [PlannedSink] {
    var sinks: [PlannedSink] = []
    for resolved in entries {
      guard let part = catalog.sinks[resolved.spec.name] else { continue }
      let known = reader.diagnostics.count
      let config = readSinkConfig(resolved)
      meetAddresses(in: expanded(resolved), fields: resolved.spec.fields)
      checkPart(resolved, [config])
      var sink = PlannedSink(id: resolved.id, op: resolved.spec.name, part: part, config: config)
      sink.place = resolved.place
      sink.events = (readKey("events", of: resolved)?.asList ?? []).map(\.text)
      sink.isRequired = readKey("required", of: resolved)?.asBool ?? false
      sinks.append(sink)
      if !reader.diagnostics.dropFirst(known).contains(where: { $0.severity == .error }) { soundSinks.append(sink) }
    }
    return sinks
  }

  /// A sink's configuration; secrets may stand in its signing key and its headers alone.
  private mutating func readSinkConfig(_ resolved: ResolvedEntry) -> Config {
    let node = expanded(resolved)
    let holders = ["secret", "secrets", "headers"]
    var allowing = loadTypes("sink `\(resolved.id)`", allowsSecrets: true)
    allowing.absence = "a sink is made before there are items"
    var refusing = allowing
    refusing.allowsSecrets = false
    guard let entries = node.entries, entries.contains(where: { holders.contains($0.key) }) else {
      return readConfig(of: resolved, types: refusing)
    }
    // Two readings, each with its own part of the keys and of the defaults.
    var open = resolved
    var sealed = resolved
    open.op.value = Node(.map(entries.filter { !holders.contains($0.key) }), mark: node.mark, file: node.file)
    sealed.op.value = Node(.map(entries.filter { holders.contains($0.key) }), mark: node.mark, file: node.file)
    open.spec.fields.removeAll { holders.contains($0.name) }
    sealed.spec.fields.removeAll { !holders.contains($0.name) }
    open.spec.shorthand = nil
    sealed.spec.shorthand = nil
    let first = readConfig(of: open, types: refusing)
    let second = readConfig(of: sealed, types: allowing)
    return Config(
      resolved.spec.fields.compactMap { field in
        (first[field.name] ?? second[field.name]).map { Config.Entry(field.name, $0) }
      })
  }

  /// The value of a key beside an op, read as the language says.
  mutating func readKey(_ name: String, of resolved: ResolvedEntry) -> Value? {
    guard let entry = resolved.entry[name],
      let field = SectionFields.beside(resolved.spec.role).first(where: { $0.name == name })
    else { return nil }
    let types = loadTypes("\(resolved.spec.role.rawValue) `\(resolved.id)`")
    return reader.read(
      entry.value, as: field.type, at: ConfigReader.Site(name: name, owner: resolved.id, types: types))?.plain
  }
}

/// What is known beforehand of a source's rows.
enum SourceColumns {
  /// The columns of `row.*` and the names of `for.*`, from what stands in the manifest.
  static func columns(of spec: PartSpec, node: Node, load: LoadScope) -> (row: ColumnTypes, loop: ColumnTypes) {
    var row = ColumnTypes()
    var loop = ColumnTypes(names: [])
    if let names = node["for"]?.entries {
      loop.names = Set(names.map(\.key))
      row.names = []
    }
    for entry in node["types"]?.entries ?? [] { row.declared[entry.key] = type(named: entry.value.scalar ?? "") }
    let format = node["format"]?.scalar ?? node["path"]?.scalar.map(PathText.name) ?? ""
    let bare = format.hasSuffix(".gz") ? String(format.dropLast(3)) : format
    if ["csv", "tsv"].contains(bare) || bare.hasSuffix(".csv") || bare.hasSuffix(".tsv") { row.others = .string }
    return (row, loop)
  }

  private static func type(named word: String) -> ValueType {
    switch word {
    case "integer": .integer
    case "number": .number
    case "boolean": .bool
    case "string": .string
    default: .any
    }
  }
}
