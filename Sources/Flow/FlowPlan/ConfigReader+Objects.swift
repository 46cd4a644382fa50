internal import FlowBase
internal import FlowManifest
internal import FlowParts
internal import FlowYAML

extension ConfigReader {
  /// A map with known keys, its defaults put in; nil where the node is no map.
  ///
  /// `elsewhere` says of an unknown key where it belongs, if anywhere.
  mutating func object(
    _ node: Node, fields: [FieldSpec], at site: Site, elsewhere: (String) -> String? = { _ in nil }
  ) -> Config? {
    if node.isNull { return object(entries: [], of: node, fields: fields, at: site) }
    guard let entries = node.entries else {
      add(
        "E0104", "`\(site.owner)` is a map, and this is \(node.kindName)", at: node.place,
        notes: ["keys of `\(site.owner)`: \(fields.map(\.name).joined(separator: " "))"])
      return nil
    }
    for entry in entries where !fields.contains(where: { $0.name == entry.key }) {
      unknownKey(entry, in: site.owner, fields: fields, elsewhere: elsewhere(entry.key))
    }
    return object(entries: entries, of: node, fields: fields, at: site)
  }

  private mutating func object(
    entries: [Node.Entry], of node: Node, fields: [FieldSpec], at site: Site
  ) -> Config {
    var config = Config()
    for field in fields {
      if let entry = entries.first(where: { $0.key == field.name }) {
        config[field.name] = read(entry.value, as: field.type, at: site.naming(field.name).at(field.phase))
      } else if let fallback = field.fallback {
        config[field.name] = self.fallback(fallback, of: field, at: node, site: site)
      } else if field.isRequired {
        add("E0111", "`\(field.name)` is missing in `\(site.owner)`", at: node.place, notes: [field.summary])
      }
    }
    return config
  }

  /// The value that a key has where it is not there.
  mutating func fallback(_ text: String, of field: FieldSpec, at node: Node, site: Site) -> ConfigValue? {
    let isList = text.hasPrefix("[") && text.hasSuffix("]")
    let inner = text.dropFirst().dropLast().split(separator: ",").map { String($0.trimmed) }
    let content: Node.Content =
      isList
      ? .list(inner.map { Node(.scalar($0, .plain), mark: node.mark, file: node.file) })
      : .scalar(text, text.isEmpty ? .quoted : .plain)
    return read(
      Node(content, mark: node.mark, file: node.file), as: field.type, at: site.naming(field.name).at(field.phase))
  }

  /// Tells of a key that nobody knows at its place.
  mutating func unknownKey(_ entry: Node.Entry, in owner: String, fields: [FieldSpec], elsewhere: String? = nil) {
    let names = fields.map(\.name)
    let near = Suggestion.nearest(to: entry.key, among: names).map { "did you mean `\($0)`?" }
    add(
      "E0103", "unknown key `\(entry.key)` in `\(owner)`", at: Place(file: entry.value.file, mark: entry.keyMark),
      hint: near ?? elsewhere,
      notes: [names.isEmpty ? "`\(owner)` has no keys" : "keys of `\(owner)`: \(names.joined(separator: " "))"])
  }
}

extension ConfigReader.Site {
  /// The same place, with only the names that have their values in a phase.
  func at(_ phase: Phase) -> Self {
    var site = self
    if phase < .leg {
      site.types.item = nil
      if phase != .axes { site.types.axes = nil }
      site.types.from = nil
      site.types.hasGroup = false
      site.types.hasRun = false
      site.types.hasOut = false
    }
    if phase < .row {
      site.types.row = nil
      site.types.loop = nil
      site.types.absence = "this is decided before there are items"
    }
    return site
  }
}

extension Substring {
  /// The text without blanks around it.
  var trimmed: Substring {
    var text = drop { $0 == " " }
    while text.last == " " { text = text.dropLast() }
    return text
  }
}
