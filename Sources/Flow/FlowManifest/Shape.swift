public import FlowBase
public import FlowYAML

extension Manifest {
  /// Reads the shape of a document that is complete: no `extends` is followed and no profile laid over it.
  ///
  /// There is a manifest even where something is wrong, so that the mistakes of its parts can be found as well; there
  /// is none only where the document is no map.
  public static func read(_ document: Node) -> (manifest: Manifest?, diagnostics: [Diagnostic]) {
    var shape = ShapeReader()
    return (shape.manifest(document), shape.diagnostics)
  }
}

/// Turns a document into a manifest and collects what is wrong with its shape.
struct ShapeReader {
  var diagnostics: [Diagnostic] = []

  mutating func manifest(_ document: Node) -> Manifest? {
    guard let entries = document.entries else {
      diagnostics.append(
        Diagnostic(
          "E0104", "a manifest is a map, and this is \(document.kindName)", at: document.place,
          notes: ["it begins with `imgflow: 1`, then `sources:` and `stages:`"]))
      return nil
    }
    for entry in entries where Manifest.TopKey(rawValue: entry.key) == nil {
      diagnostics.append(unknownTopKey(entry))
    }
    version(of: document)
    for key in [Manifest.TopKey.sources, .stages] where document[key.rawValue] == nil {
      diagnostics.append(
        Diagnostic(
          "E0102", "`\(key.rawValue)` is missing", at: Place(file: document.file, mark: .start),
          notes: ["a manifest needs `imgflow: 1`, `sources:` and `stages:`"]))
    }
    return Manifest(
      file: document.file, document: document, sources: self.entries(in: document, of: .source),
      stages: self.entries(in: document, of: .stage), sinks: self.entries(in: document, of: .sink))
  }

  private mutating func version(of document: Node) {
    guard let node = document["imgflow"] else {
      diagnostics.append(
        Diagnostic(
          "E0102", "`imgflow` is missing", at: Place(file: document.file, mark: .start),
          notes: ["write `imgflow: 1` first: it names the version of the format"]))
      return
    }
    if node.scalar == "1" { return }
    diagnostics.append(
      Diagnostic(
        "E0101", "unknown version of the format: \(node.scalar.map { "`\($0)`" } ?? node.kindName)", at: node.place,
        hint: "this imgflow reads version 1"))
  }

  private func unknownTopKey(_ entry: Node.Entry) -> Diagnostic {
    let keys = Manifest.TopKey.allCases.map(\.rawValue)
    var hint = Suggestion.nearest(to: entry.key, among: keys).map { "did you mean `\($0)`?" }
    if hint == nil, let role = Manifest.Entry.Role.allCases.first(where: { $0.keys.contains(entry.key) }) {
      hint = "`\(entry.key)` belongs to a \(role.rawValue), not to the manifest as a whole"
    }
    return Diagnostic(
      "E0103", "unknown key `\(entry.key)` in the manifest",
      at: Place(file: entry.value.file, mark: entry.keyMark), hint: hint,
      notes: ["keys of the manifest: \(keys.joined(separator: " "))"])
  }

  private mutating func entries(in document: Node, of role: Manifest.Entry.Role) -> [Manifest.Entry] {
    guard let list = document[role.list], !list.isNull else { return [] }
    guard let elements = list.elements else {
      diagnostics.append(
        Diagnostic(
          "E0104", "`\(role.list)` is a list, and this is \(list.kindName)", at: list.place,
          hint: "begin each \(role.rawValue) with `- `"))
      return []
    }
    var entries: [Manifest.Entry] = []
    var addresses: [Node] = []
    var placeOfAddresses: Int?
    for element in elements {
      if role == .source, let text = element.scalar, Manifest.Entry.isAddress(text) {
        placeOfAddresses = placeOfAddresses ?? entries.count
        addresses.append(element)
      } else if let entry = self.entry(element, of: role) {
        entries.append(entry)
      }
    }
    if let place = placeOfAddresses, let first = addresses.first {
      entries.insert(gathered(addresses, first: first), at: place)
    }
    return entries
  }

  /// The one source that all bare URLs of the list stand for.
  private func gathered(_ addresses: [Node], first: Node) -> Manifest.Entry {
    let list = Node(.list(addresses), mark: first.mark, file: first.file)
    let op = Node.Entry(key: "urls", keyMark: first.mark, value: list)
    let node = Node(.map([op]), mark: first.mark, file: first.file)
    return Manifest.Entry(role: .source, node: node, candidates: [op], keys: [])
  }

  private mutating func entry(_ node: Node, of role: Manifest.Entry.Role) -> Manifest.Entry? {
    if let op = node.scalar, !node.isNull {
      let nothing = Node(.scalar("", .plain), mark: node.mark, file: node.file)
      let bare = Node.Entry(key: op, keyMark: node.mark, value: nothing)
      return Manifest.Entry(role: role, node: node, candidates: [bare], keys: [])
    }
    guard let entries = node.entries else {
      diagnostics.append(
        Diagnostic(
          "E0104", "a \(role.rawValue) is an op's name or a map with one op, and this is \(node.kindName)",
          at: node.place))
      return nil
    }
    let candidates = entries.filter { !role.keys.contains($0.key) }
    let keys = entries.filter { role.keys.contains($0.key) }
    if candidates.isEmpty {
      diagnostics.append(
        Diagnostic(
          "E0107", "this \(role.rawValue) names no op", at: node.place,
          notes: [
            "beside \(keys.map { "`\($0.key)`" }.joined(separator: ", ")) stands one op, such as `\(role.sample)`"
          ]))
      return nil
    }
    return Manifest.Entry(role: role, node: node, candidates: candidates, keys: keys)
  }
}

extension Manifest.Entry.Role {
  /// An op of this role, for messages.
  var sample: String {
    switch self {
    case .source: "file: list.txt"
    case .stage: "fetch:"
    case .sink: "log: { to: run.log }"
    }
  }
}

extension Node {
  /// The word for what this node is, as messages use it.
  public var kindName: String {
    switch content {
    case .scalar: isNull ? "nothing" : "a scalar"
    case .list: "a list"
    case .map: "a map"
    }
  }
}
