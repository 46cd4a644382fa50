internal import FlowBase
internal import FlowExpressions

/// The columns of rows, or the names of a generator, as far as they are known.
struct ColumnTypes: Hashable {
  /// The types that are declared, by name.
  var declared: [String: ValueType] = [:]
  /// The names that there are, where they are known.
  var names: Set<String>?
  /// The type of what is not declared.
  var others: ValueType = .any

  /// What is known where items of both kinds arrive.
  func joined(with other: ColumnTypes) -> ColumnTypes {
    var joined = ColumnTypes(others: [others, other.others].common)
    for name in Set(declared.keys).union(other.declared.keys) {
      joined.declared[name] = [declared[name] ?? others, other.declared[name] ?? other.others].common
    }
    if let names, let theirs = other.names { joined.names = names.union(theirs) }
    return joined
  }
}

/// The names that may stand at one place of the manifest, and their types.
struct PlaceTypes: TypeScope {
  /// What the place belongs to, for messages: "stage `filter`".
  var subject: String
  var load: LoadScope
  /// Whether a secret may stand here.
  var allowsSecrets = false
  /// `row.*`; nil where there is no row.
  var row: ColumnTypes?
  /// `for.*`; nil where there is no generator.
  var loop: ColumnTypes?
  /// `item.*`; nil where there is no single item.
  var item: [String: ValueType]?
  /// `matrix.*`; nil where there is no leg.
  var axes: [String: ValueType]?
  /// `from.<stage>.*`, by stage.
  var from: [String: [String: ValueType]]?
  /// Whether fields may be there that nobody knows, because a stage before is not known.
  var isOpen = false
  var hasGroup = false
  var hasRun = false
  var hasOut = false
  /// Whether ratios are refused, because they go up and down while results come in.
  var refusesRatios = false
  /// Why there is no single item, for messages.
  var absence = "is known only while items are worked on"
  /// The ops that set a field of items.
  var setters: (_ field: String) -> [String] = { _ in [] }
  /// The line above which a missing stage would be added.
  var line: Int?

  static let runFields: [String: ValueType] = [
    "items": .integer, "ok": .integer, "failed": .integer, "filtered": .integer, "cancelled": .integer,
    "cached": .integer, "failed_ratio": .number, "bytes_in": .integer, "elapsed": .number, "id": .string,
    "name": .string,
  ]

  func resolve(_ reference: Reference) -> Resolution {
    switch reference.namespace {
    case .vars: variable(reference)
    case .env: environment(reference)
    case .secret: secret(reference)
    case .output: output(reference)
    case .row: column(reference, of: row, kind: "row")
    case .for: column(reference, of: loop, kind: "for")
    case .item: field(reference)
    case .matrix: axis(reference)
    case .group: hasGroup ? .known(.any) : misplaced(reference, "only a stage with `per: { group: … }` has a group")
    case .from: needed(reference)
    case .out: hasOut ? .known(.string) : misplaced(reference, "only a stage that runs a program has `out.path`")
    case .run: total(reference)
    }
  }

  private func misplaced(_ reference: Reference, _ reason: String, notes: [String] = []) -> Resolution {
    .unknown(
      code: "E0301", message: "`\(reference.text)` cannot be used in \(subject): \(reason)", hint: nil, notes: notes)
  }

  private func variable(_ reference: Reference) -> Resolution {
    guard let name = reference.path.first else { return .known(.map) }
    if let type = load.varTypes[name] { return .known(reference.path.count > 1 ? .any : type) }
    return .unknown(
      code: "E0302", message: "there is no variable `\(name)`",
      hint: Suggestion.nearest(to: name, among: load.varTypes.keys.sorted()).map { "did you mean `vars.\($0)`?" },
      notes: ["declare it under `vars:`, as in `vars: { \(name): { default: … } }`"])
  }

  private func environment(_ reference: Reference) -> Resolution {
    guard let name = reference.path.first else { return misplaced(reference, "name one variable, as in `env.HOME`") }
    switch load.environment[name] {
    case .value: return .known(.string)
    case .missing(let remedy):
      return .unknown(
        code: "E0304", message: "the environment variable `\(name)` is not set", hint: nil, notes: [remedy])
    case nil:
      return .unknown(
        code: "E0303", message: "the environment variable `\(name)` is not listed",
        hint: Suggestion.nearest(to: name, among: load.environment.keys.sorted()).map { "did you mean `env.\($0)`?" },
        notes: ["list it, as in `env: [\(name)]`: a manifest says which variables it reads"])
    }
  }

  private func secret(_ reference: Reference) -> Resolution {
    let name = reference.path.first ?? ""
    guard allowsSecrets else {
      return .unknown(
        code: "E0307", message: "a secret cannot stand in \(subject)", hint: nil,
        notes: [
          "a secret belongs to one host: put it under `hosts:`, in `auth`, `headers` or `query` of a named host",
          "else it may stand only in the signing key and the headers of a sink",
        ])
    }
    switch load.secrets[name] {
    case .value: return .known(.string)
    case .missing(let remedy):
      return .unknown(code: "secret.missing", message: "the secret `\(name)` has no value", hint: nil, notes: [remedy])
    case nil:
      return .unknown(
        code: "E0303", message: "the secret `\(name)` is not listed",
        hint: Suggestion.nearest(to: name, among: load.secrets.keys.sorted()).map { "did you mean `secret.\($0)`?" },
        notes: ["list it, as in `secrets: { \(name): {} }`"])
    }
  }

  private func output(_ reference: Reference) -> Resolution {
    guard reference.path == ["dir"] else {
      return .unknown(
        code: "E0302", message: "there is no `\(reference.text)`", hint: "`output.dir` there is", notes: [])
    }
    return load.outputFolder == nil ? misplaced(reference, "it is what is being worked out here") : .known(.string)
  }

  private func column(_ reference: Reference, of columns: ColumnTypes?, kind: String) -> Resolution {
    guard let columns else { return misplaced(reference, item == nil ? absence : "no source gives `\(kind)`") }
    guard let name = reference.path.first else { return .known(.map) }
    if let type = columns.declared[name] { return .known(reference.path.count > 1 ? .any : type) }
    if let names = columns.names, !names.contains(name) {
      return .unknown(
        code: "E0302", message: "there is no `\(reference.text)`",
        hint: Suggestion.nearest(to: name, among: names.sorted()).map { "did you mean `\(kind).\($0)`?" },
        notes: [names.isEmpty ? "no source gives `\(kind).*`" : "there is: \(names.sorted().joined(separator: ", "))"])
    }
    return .known(reference.path.count > 1 ? .any : columns.others)
  }

  private func field(_ reference: Reference) -> Resolution {
    guard let item else { return misplaced(reference, absence) }
    guard let name = reference.path.first else { return .known(.map) }
    if let type = item[name] { return .known(reference.path.count > 1 ? .any : type) }
    if isOpen { return .known(.any) }
    let ops = setters(name)
    guard let op = ops.first else {
      return .unknown(
        code: "E0214", message: "`item.\(name)` is set by no stage and no source",
        hint: Suggestion.nearest(to: name, among: item.keys.sorted()).map { "did you mean `item.\($0)`?" },
        notes: ["fields here: \(item.keys.sorted().joined(separator: " "))"])
    }
    let above = line.map { " above line \($0)" } ?? ""
    return .unknown(
      code: "E0214", message: "`item.\(name)` is not set before \(subject)", hint: nil,
      notes: ["it is set by: \(ops.sorted().joined(separator: ", ")).  Add `- \(op)`\(above)."])
  }

  private func axis(_ reference: Reference) -> Resolution {
    guard let axes else { return misplaced(reference, absence) }
    guard let name = reference.path.first else { return .known(.map) }
    if let type = axes[name] { return .known(reference.path.count > 1 ? .any : type) }
    return .unknown(
      code: "E0305", message: "there is no matrix axis `\(name)` at \(subject)",
      hint: Suggestion.nearest(to: name, among: axes.keys.sorted()).map { "did you mean `matrix.\($0)`?" },
      notes: [
        axes.isEmpty
          ? "neither it nor a stage that it needs has a `matrix`"
          : "axes here: \(axes.keys.sorted().joined(separator: " "))"
      ])
  }

  private func needed(_ reference: Reference) -> Resolution {
    guard let from else { return misplaced(reference, absence) }
    guard let stage = reference.path.first else { return .known(.map) }
    guard let fields = from[stage] else {
      return .unknown(
        code: "E0306", message: "`\(stage)` is not among the stages that \(subject) needs",
        hint: Suggestion.nearest(to: stage, among: from.keys.sorted()).map { "did you mean `from.\($0)`?" },
        notes: from.isEmpty ? [] : ["it needs: \(from.keys.sorted().joined(separator: ", "))"])
    }
    guard let name = reference.path.dropFirst().first else { return .known(.map) }
    if let type = fields[name] { return .known(type) }
    return .unknown(
      code: "E0306", message: "`\(name)` is not set behind stage `\(stage)`",
      hint: Suggestion.nearest(to: name, among: fields.keys.sorted()).map { "did you mean `from.\(stage).\($0)`?" },
      notes: [])
  }

  private func total(_ reference: Reference) -> Resolution {
    guard hasRun else { return misplaced(reference, "`run.*` may stand in conditions and in stages per group or run") }
    guard let name = reference.path.first else { return .known(.map) }
    if refusesRatios, name == "failed_ratio" {
      return misplaced(reference, "it is judged as results come in and takes counts", notes: ["use `run.failed` here"])
    }
    if let type = PlaceTypes.runFields[name] { return .known(type) }
    return .unknown(
      code: "E0302", message: "there is no `\(reference.text)`",
      hint: Suggestion.nearest(to: name, among: PlaceTypes.runFields.keys.sorted()).map { "did you mean `run.\($0)`?" },
      notes: ["there is: \(PlaceTypes.runFields.keys.sorted().map { "run." + $0 }.joined(separator: " "))"])
  }
}
