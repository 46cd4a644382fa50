internal import FlowBase
internal import FlowEvents
internal import FlowExpressions
internal import FlowParts
internal import FlowPlan
internal import FlowYAML

/// Finds what can be said of a word: an op, a key, a code, an event, a mistake.
struct Explainer: Sendable {
  let catalog: Catalog

  /// The lists that can be asked for.
  static let lists = ["ops", "codes", "events", "diagnostics", "exit", "keys", "expressions"]

  /// What can be explained, for `explain` alone.
  var overview: Topic {
    var topic = Topic(.list, "imgflow explain THING", "Explains a word of manifests, of the event stream or of errors.")
    topic.tables = [
      Topic.Table(
        "things",
        [
          ("ops", "all sources, stages and sinks; `explain fetch` is one"),
          ("OP.KEY", "one key of an op, such as fetch.accept"),
          ("keys", "the keys of the manifest and its sections; `explain hosts`, `explain stage` are some"),
          ("SECTION.KEY", "one of these keys, such as hosts.rate or stage.retry.attempts"),
          ("expressions", "names, operators and filters of ${…}"),
          ("item.FIELD", "which ops set a field of items, such as item.width"),
          ("codes", "all error codes; `explain http.429` is one"),
          ("events", "all types of events; `explain item.end` is one"),
          ("diagnostics", "all mistakes that validate finds; `explain E0103` is one"),
          ("exit", "the exit codes; `explain 124` is one"),
        ])
    ]
    return topic
  }

  /// All topics that answer to a word.
  func topics(_ word: String) -> [Topic] {
    if let list = list(word) { return [list] }
    var topics = ops.filter { $0.name == word }
    topics += sections.filter { $0.name == word }
    if let code = CodeReference.entry(word) { topics.append(self.code(code)) }
    if let type = EventType(rawValue: word) { topics.append(event(type)) }
    if let kind = diagnosticKinds.first(where: { $0.code == word.uppercased() }) { topics.append(diagnostic(kind)) }
    if let number = Int(word), let code = ExitCode(rawValue: number) { topics.append(exit(code)) }
    if topics.isEmpty { topics = fields(word) }
    if word.hasPrefix("item.") { topics += item(String(word.dropFirst(5))) }
    if topics.isEmpty, let filter = Filter.named(word) { topics.append(self.filter(filter)) }
    return topics
  }

  /// Every word that has a topic, for suggestions.
  var words: [String] {
    var words = Explainer.lists + ops.map(\.name) + sections.map(\.name) + CodeReference.all.map(\.code)
    words += EventType.allCases.map(\.rawValue) + diagnosticKinds.map(\.code) + Filter.all.map(\.name)
    for role in Role.allCases {
      for spec in catalog.specs(for: role) { words += spec.fields.map { "\(spec.name).\($0.name)" } }
    }
    for section in Explainer.sectionFields { words += section.fields.map { "\(section.name).\($0.name)" } }
    return words
  }

  // MARK: lists

  private func list(_ word: String) -> Topic? {
    var topic = Topic(.list, word, "")
    switch word {
    case "ops":
      topic.summary = "What the entries of sources, stages and sinks can be."
      topic.tables = Role.allCases.map { role in
        Topic.Table(role.rawValue + "s", catalog.specs(for: role).map { ($0.name, $0.summary) })
      }
    case "codes":
      topic.summary = "Why items, hosts and sinks fail. A code never carries values."
      topic.tables = FaultClass.allCases.map { kind in
        Topic.Table(
          "\(kind.rawValue): \(CodeReference.words(for: kind))",
          CodeReference.all.filter { $0.kind == kind }.map { ($0.code, $0.meaning) })
      }
    case "events":
      topic.summary = "What the event stream tells, one JSON object a line."
      topic.tables = [
        Topic.Table("every line", EventReference.envelope),
        Topic.Table("types", EventType.allCases.map { ($0.rawValue, $0.summary) }),
      ]
    case "diagnostics":
      topic.summary = "What validate finds in manifests."
      topic.tables = [Topic.Table("", diagnosticKinds.map { ($0.code, $0.title) })]
    case "exit":
      topic.summary = "How imgflow ends, as a number. Where several hold, the worst one counts."
      topic.tables = [Topic.Table("", ExitCode.shown.map { (String($0.rawValue), $0.meaning) })]
      topic.paragraphs = [
        "Other commands than run: 0 yes, 1 no, 2 wrong usage; verify ends with 3 where something is not as it was."
      ]
    case "keys":
      topic.summary = "What stands in a manifest beside the ops."
      topic.tables = Explainer.sectionFields.map { section in
        Topic.Table(section.name, section.fields.map { ($0.name, $0.summary) })
      }
    case "expressions":
      topic = expressions
    default: return nil
    }
    return topic
  }

  private var expressions: Topic {
    var topic = Topic(.list, "expressions", "What may stand in ${…}, and in keys that are conditions.")
    topic.paragraphs = ["`$${` stands for a literal `${`. A text that is one expression alone keeps its type."]
    topic.tables = [
      Topic.Table(
        "names",
        [
          ("vars.NAME", "a value that the command line can change"), ("env.NAME", "a listed environment variable"),
          ("secret.NAME", "a listed secret; in `hosts` and sinks only"), ("output.dir", "the folder of the results"),
          ("row.COLUMN", "a cell of the item's row; row[\"A B\"] for names that are no words"),
          ("for.NAME", "a value of the template that made the item"),
          ("item.FIELD", "a field of the item; `explain item.width` says who sets it"),
          ("matrix.AXIS", "where the leg is on an axis"), ("group", "the group's value"),
          ("from.STAGE.FIELD", "a result of a stage that is needed"),
          (
            "run.FIELD",
            "of the run so far: items ok failed filtered cancelled cached failed_ratio bytes_in elapsed id name"
          ),
        ]),
      Topic.Table("fields of items", itemFields.map { ("item." + $0.name, "set by " + $0.setters) }),
      Topic.Table(
        "operators",
        [
          ("== != < <= > >=", "comparisons; a text compared with a number is a mistake"), ("and or not", "truth"),
          ("in", "whether a list holds a value, or a text a text"), ("+ - * / %", "numbers; + joins texts too"),
          ("??", "the right side where the left is null"), ("matches", "whether a text fits a pattern"),
          ("|", "hands a value to a filter"),
        ]),
      Topic.Table("filters", Filter.all.map { ($0.form, $0.summary) }),
    ]
    topic.example =
      "- filter: item.width >= 256 and item.media != 'image/gif'\n- store: \"${item.source}/${item.key | slug}.webp\"\n"
    return topic
  }

  // MARK: ops and keys

  /// Every op.
  var ops: [Topic] { Role.allCases.flatMap { role in catalog.specs(for: role).map { op($0) } } }

  private func op(_ spec: PartSpec) -> Topic {
    var topic = Topic(.op, spec.name, spec.summary)
    topic.fact("role", spec.role.rawValue)
    topic.fact("shorthand", spec.shorthand.map { "a bare value is `\($0)`" })
    if spec.role == .stage {
      topic.fact(
        "per",
        spec.per.map(\.rawValue).joined(separator: ", ") + (spec.per.count > 1 ? " (the first unless named)" : ""))
      let sets = spec.sets(Config()).map { "item." + $0.name }
      topic.fact("sets", sets.isEmpty ? nil : sets.joined(separator: " "))
      topic.fact("reads", spec.reads.isEmpty ? nil : spec.reads.map { "item." + $0 }.joined(separator: " "))
    }
    topic.tables = [
      Topic.Table("keys", spec.fields.map { ($0.name, Explainer.words(for: $0)) }),
      Topic.Table("beside it", SectionFields.beside(spec.role).map { ($0.name, $0.summary) }),
    ]
    topic.example = spec.example
    return topic
  }

  /// A key's sentence, with its type and default.
  private static func words(for field: FieldSpec) -> String {
    var words = field.summary + " \(Explainer.sentence(field.type.words))"
    if field.isRequired { words += " Required." }
    if let fallback = field.fallback { words += " Default: `\(fallback)`." }
    return words
  }

  private static func sentence(_ words: String) -> String { words.prefix(1).uppercased() + words.dropFirst() + "." }

  /// The sections of the manifest, by the names under which they are explained.
  static let sectionFields: [(name: String, summary: String, fields: [FieldSpec])] = [
    ("manifest", "The keys of the top level.", SectionFields.top),
    ("source", "What stands beside the op of a source.", SectionFields.source),
    ("stage", "What stands beside the op of a stage.", SectionFields.stage),
    ("sink", "What stands beside the op of a sink.", SectionFields.sink),
    ("output", "Where files go.", SectionFields.output),
    ("limits", "What the run may use.", SectionFields.limits),
    ("hosts", "How to treat each host: speed, courtesy, credentials, permission.", SectionFields.host),
    ("state", "What is remembered between runs.", SectionFields.state),
    ("vars", "Values that the command line can change, each a name with these keys.", SectionFields.variable),
    (
      "env", "The environment variables that are read, each a name or a map with these keys.", SectionFields.environment
    ),
    ("secrets", "Texts that are never written anywhere, each a name with these keys.", SectionFields.secret),
  ]

  /// Every section.
  var sections: [Topic] {
    Explainer.sectionFields.map { section in
      var topic = Topic(.section, section.name, section.summary)
      topic.tables = [Topic.Table("keys", section.fields.map { ($0.name, Explainer.words(for: $0)) })]
      return topic
    }
  }

  private func fields(_ word: String) -> [Topic] {
    let steps = word.split(separator: ".").map(String.init)
    var topics: [Topic] = []
    for role in Role.allCases {
      // The name of an op may have dots of its own.
      for spec in catalog.specs(for: role) where word.hasPrefix(spec.name + ".") {
        let path = word.dropFirst(spec.name.count + 1).split(separator: ".").map(String.init)
        if let field = Explainer.field(path[...], among: spec.fields + SectionFields.beside(role)) {
          topics.append(self.field(field, named: word, of: "the \(role.rawValue) \(spec.name)"))
        }
      }
    }
    for section in Explainer.sectionFields where steps.first == section.name && steps.count > 1 {
      if let field = Explainer.field(steps.dropFirst(), among: section.fields) {
        topics.append(self.field(field, named: word, of: section.name))
      }
    }
    // A key alone, as it stands in a manifest: `retry`, `fail_if`, `retry.attempts`.
    if topics.isEmpty {
      for section in Explainer.sectionFields {
        if let field = Explainer.field(steps[...], among: section.fields) {
          topics.append(self.field(field, named: "\(section.name).\(word)", of: section.name))
        }
      }
    }
    return topics
  }

  private static func field(_ path: ArraySlice<String>, among fields: [FieldSpec]) -> FieldSpec? {
    guard let name = path.first, let field = fields.first(where: { $0.name == name }) else { return nil }
    return path.count == 1 ? field : self.field(path.dropFirst(), among: inner(field.type))
  }

  private static func inner(_ type: FieldType) -> [FieldSpec] {
    switch type {
    case .object(let fields): fields
    case .list(let element), .map(let element): inner(element)
    case .either(let types): types.flatMap { inner($0) }
    default: []
    }
  }

  private func field(_ field: FieldSpec, named name: String, of owner: String) -> Topic {
    var topic = Topic(.field, name, field.summary)
    topic.fact("of", owner)
    topic.fact("takes", field.type.words)
    topic.fact("default", field.fallback)
    topic.fact("required", field.isRequired ? "yes" : nil)
    let names =
      switch field.phase {
      case .load: "vars env output"
      case .axes: "vars env output matrix"
      case .row: "vars env output row for"
      case .leg: "vars env output row for item matrix from"
      }
    topic.fact("may use", names)
    let keys = Explainer.inner(field.type)
    topic.tables = [Topic.Table("keys", keys.map { ($0.name, Explainer.words(for: $0)) })]
    return topic
  }

  private func item(_ name: String) -> [Topic] {
    guard let field = itemFields.first(where: { $0.name == name }) else { return [] }
    var topic = Topic(.item, "item." + name, "A field of items.")
    topic.fact("set by", field.setters)
    return [topic]
  }

  /// The fields that items have of their own, or that a stage gives them whatever stands in it, and who sets each.
  private var itemFields: [(name: String, setters: String)] {
    let given = ["key", "url", "name", "stem", "ext", "host", "index", "source"]
    var fields = given.map { (name: $0, setters: "the source") }
    let stages = catalog.specs(for: .stage).map { (name: $0.name, sets: $0.sets(Config()).map(\.name)) }
    for name in stages.flatMap(\.sets) where !fields.contains(where: { $0.name == name }) {
      fields.append((name, stages.filter { $0.sets.contains(name) }.map(\.name).joined(separator: ", ")))
    }
    return fields
  }

  private func filter(_ filter: Filter) -> Topic {
    var topic = Topic(.item, filter.form, filter.summary)
    topic.fact("used as", "${… | \(filter.form)}")
    return topic
  }

  // MARK: codes, events, mistakes

  func code(_ entry: CodeReference.Entry) -> Topic {
    var topic = Topic(.code, entry.code, entry.meaning)
    topic.fact("class", entry.kind.rawValue)
    topic.fact("then", CodeReference.words(for: entry.kind))
    topic.paragraphs = [entry.remedy]
    topic.example = entry.example
    return topic
  }

  func event(_ type: EventType) -> Topic {
    var topic = Topic(.event, type.rawValue, type.summary)
    topic.fact("slow readers", EventReference.words(for: type.delivery))
    topic.tables = [Topic.Table("data", EventReference.data(type))]
    return topic
  }

  /// Every kind of mistake, in the order of the codes.
  var diagnosticKinds: [DiagnosticKind] {
    (YAMLProblems.all + LanguageProblems.all + ExpressionProblems.all).sorted { $0.code < $1.code }
  }

  func diagnostic(_ kind: DiagnosticKind) -> Topic {
    var topic = Topic(.diagnostic, kind.code, kind.title.prefix(1).uppercased() + kind.title.dropFirst() + ".")
    topic.paragraphs = [kind.explanation]
    topic.example = kind.example
    return topic
  }

  private func exit(_ code: ExitCode) -> Topic {
    var topic = Topic(.exit, String(code.rawValue), code.meaning)
    topic.fact("among", "exit codes")
    return topic
  }
}
