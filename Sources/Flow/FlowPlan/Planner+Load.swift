internal import FlowBase
internal import FlowExpressions
internal import FlowManifest
internal import FlowParts
internal import FlowYAML

// Names whose values are known when the manifest is loaded: `env`, `secrets`, `vars`, in this order.
extension Planner {
  mutating func readLoadScope() {
    readEnvironment()
    readSecrets()
    readVariables()
  }

  private mutating func readEnvironment() {
    guard let node = manifest[.env], !node.isNull else { return }
    guard let elements = node.elements ?? (node.scalar == nil ? nil : [node]) else {
      reader.add(
        "E0104", "`env` is a list of names, and this is \(node.kindName)", at: node.place,
        hint: "such as `[HOME, { name: REGION, default: eu }]`")
      return
    }
    for element in elements {
      if let name = element.scalar {
        list(name, fallback: nil, at: element.place)
      } else if let config = reader.object(element, fields: SectionFields.environment, at: site("env")) {
        list(config.text("name") ?? "", fallback: config.text("default"), at: element.place)
      }
    }
  }

  private mutating func list(_ name: String, fallback: String?, at place: Place) {
    let letters = name.unicodeScalars
    let isName =
      letters.first.map { !("0"..."9").contains($0) } ?? false
      && letters.allSatisfy {
        $0 == "_" || ($0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil))
      }
    guard isName else {
      if !name.isEmpty { reader.add("E0110", "`\(name)` is no name of an environment variable", at: place) }
      return
    }
    if let value = inputs.environment[name] ?? fallback {
      load.environment[name] = .value(value)
    } else {
      load.environment[name] = .missing(
        remedy: "set it, or give it a default: `env: [{ name: \(name), default: … }]`")
    }
  }

  private mutating func readSecrets() {
    guard let node = manifest[.secrets], !node.isNull else { return }
    guard let entries = node.entries else {
      reader.add(
        "E0104", "`secrets` is a map from names to where they come from, and this is \(node.kindName)", at: node.place,
        hint: "such as `{ TOKEN: {}, HOOK: { file: /run/secrets/hook } }`")
      return
    }
    for entry in entries {
      guard let config = reader.object(entry.value, fields: SectionFields.secret, at: site("secrets.\(entry.key)"))
      else { continue }
      load.secrets[entry.key] = secret(entry.key, file: config.text("file"))
    }
  }

  private func secret(_ name: String, file: String?) -> LoadScope.Listed {
    guard let file else {
      return inputs.environment[name].map(LoadScope.Listed.value)
        ?? .missing(remedy: "set the environment variable `\(name)`, or name its file: `\(name): { file: … }`")
    }
    guard var text = inputs.readFile(absolute(file)) else {
      return .missing(remedy: "its file `\(file)` cannot be read")
    }
    while text.last?.isNewline == true { text.removeLast() }
    return text.isEmpty ? .missing(remedy: "its file `\(file)` is empty") : .value(text)
  }

  private mutating func readVariables() {
    let node = manifest[.vars]
    if let node, !node.isNull, node.entries == nil {
      reader.add(
        "E0104", "`vars` is a map from names to variables, and this is \(node.kindName)", at: node.place,
        hint: "such as `{ season: { type: string, default: spring } }`")
    }
    let entries = node?.entries ?? []
    for entry in entries { readVariable(entry) }
    for (name, value) in manifest.variables.sorted(by: { $0.key < $1.key })
    where !entries.contains(where: { $0.key == name }) {
      let mark = Mark(line: 1, column: 1, length: name.unicodeScalars.count)
      reader.add(
        "E0302", "the manifest has no variable `\(name)`", at: Place(file: "--var \(name)=\(value)", mark: mark),
        hint: Suggestion.nearest(to: name, among: entries.map(\.key)).map { "did you mean `\($0)`?" },
        notes: [entries.isEmpty ? "it has no `vars`" : "variables: \(entries.map(\.key).joined(separator: " "))"])
    }
  }

  private mutating func readVariable(_ entry: Node.Entry) {
    let name = entry.key
    let site = site("vars.\(name)")
    guard Manifest.Entry.isVariableName(name) else {
      reader.add(
        "E0106", "`\(name)` is no name of a variable", at: Place(file: entry.value.file, mark: entry.keyMark),
        hint: "use letters, digits and `_`")
      return
    }
    var type: FieldType = .anything
    var allowed: [Node] = []
    var node: Node? = entry.value
    if entry.value.entries != nil {
      let before = reader.diagnostics.count
      for key in entry.value.entries ?? [] where !SectionFields.variable.contains(where: { $0.name == key.key }) {
        reader.unknownKey(
          key, in: "vars.\(name)", fields: SectionFields.variable,
          elsewhere: "a map as a value stands under `default:`")
      }
      if let word = entry.value["type"] { type = variableType(word, at: site) }
      allowed = entry.value["enum"]?.elements ?? []
      node = entry.value["default"]
      if node == nil, manifest.variables[name] == nil, reader.diagnostics.count > before {
        load.varTypes[name] = .any
        return
      }
    }
    if let given = manifest.variables[name] {
      let file = "--var \(name)=\(given)"
      node =
        type.takesScalars ? Node(.scalar(given, .plain), mark: .start, file: file) : YAMLText.value(given, file: file)
    }
    // Its type is known even where its value is wrong, so that one mistake is told once.
    load.varTypes[name] = type.valueType
    guard let node else {
      reader.add(
        "E0308", "the variable `\(name)` has no value", at: Place(file: entry.value.file, mark: entry.keyMark),
        hint: "give it a `default`, or say `--var \(name)=…`")
      return
    }
    guard let value = reader.read(node, as: type, at: site.naming(name))?.plain else { return }
    let values = allowed.compactMap { reader.read($0, as: type, at: site.naming("enum"))?.plain }
    if !values.isEmpty, !values.contains(value) {
      reader.add(
        "E0110", "`\(name)` is one of \(values.map(\.text).joined(separator: ", ")), and this is `\(value.text)`",
        at: node.place,
        hint: Suggestion.nearest(to: value.text, among: values.map(\.text)).map { "did you mean `\($0)`?" })
      return
    }
    load.vars[name] = value
    if type == .anything { load.varTypes[name] = value.type }
  }

  private mutating func variableType(_ node: Node, at site: ConfigReader.Site) -> FieldType {
    let words = SectionFields.variable[0].type
    guard case .value(let word)? = reader.read(node, as: words, at: site.naming("type")) else { return .anything }
    switch word.asString {
    case "string": return .string
    case "integer": return .integer(Int.min...Int.max)
    case "number": return .number(-Double.infinity...Double.infinity)
    case "boolean": return .boolean
    case "list": return .list(.anything)
    case "map": return .map(.anything)
    default: return .anything
    }
  }
}

extension Manifest.Entry {
  /// Whether a text can be the name of a variable: a word of letters, digits and `_`.
  static func isVariableName(_ text: String) -> Bool { isID(text.lowercased()) || text.hasPrefix("_") }
}

/// Small pieces of YAML that do not stand in a file.
enum YAMLText {
  /// The value that a text stands for.
  static func value(_ text: String, file: String) -> Node {
    let (node, problems) = YAMLReader.read(Array(text.utf8), file: file)
    guard let node, problems.isEmpty else { return Node(.scalar(text, .plain), mark: .start, file: file) }
    return node
  }
}

extension FieldType {
  /// The type of the values that a field of this type holds, as expressions see it.
  var valueType: ValueType {
    switch self {
    case .string, .url, .path, .choice: .string
    case .integer, .byteCount, .interval, .bandwidth: .integer
    case .number, .rate: .number
    case .boolean, .condition: .bool
    case .list(let element): .list(element.valueType)
    case .map, .object: .map
    case .anything, .either: .any
    }
  }
}
