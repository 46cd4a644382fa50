internal import FlowBase
public import FlowParts

/// The JSON Schema (draft-07) of manifests, made from the specifications that the parser itself reads.
///
/// Editors complete and check with it while one writes. It sees shapes and types; what takes a plan to find, such as
/// a field that is not set yet, stays with `validate`. Each entry of a list is one flat object with all keys of its
/// role and all ops, so that one slip gives one message.
public enum ManifestSchema {
  /// The schema for the parts of a catalog, as JSON text.
  public static func json(catalog: Catalog) -> String { IndentedJSON.text(schema(catalog: catalog)) + "\n" }

  /// The schema as a value.
  static func schema(catalog: Catalog) -> Value {
    var definitions: [(String, Value)] = [("template", SchemaTypes.template)]
    for isLayer in [false, true] {
      for role in Role.allCases {
        let entries = EntrySchema(role: role, specs: catalog.specs(for: role), isLayer: isLayer)
        definitions.append((entries.name, entries.value))
      }
    }
    definitions.append(("layer", layer))
    return .object([
      ("$schema", "http://json-schema.org/draft-07/schema#"),
      ("title", "imgflow manifest"),
      ("type", "object"),
      ("additionalProperties", false),
      ("properties", .object(top() + lists(items: nil))),
      // What is laid over another manifest may leave out what that one says.
      ("if", .object([("required", ["extends"])])),
      ("then", .object([("properties", .object(lists(items: "_layer")))])),
      (
        "else",
        .object([
          ("required", ["imgflow", "sources", "stages"]), ("properties", .object(lists(items: ""))),
        ])
      ),
      ("definitions", .object(definitions)),
    ])
  }

  /// What a profile holds: everything but the keys that decide which layers there are.
  private static var layer: Value {
    let fixed = ["imgflow", "extends", "profiles"]
    return .object([
      ("type", ["object", "null"]),
      ("additionalProperties", false),
      ("properties", .object(top().filter { !fixed.contains($0.0) } + lists(items: "_layer"))),
    ])
  }

  /// The keys of the top level that are no lists of entries.
  private static func top() -> [(String, Value)] {
    SectionFields.top.map { field in
      switch field.name {
      case "imgflow": (field.name, SchemaTypes.described(field, [.object([("enum", [1, "1"])])]))
      case "vars": (field.name, SchemaTypes.described(field, [variables]))
      case "profiles":
        (
          field.name,
          SchemaTypes.described(
            field,
            [.object([("type", ["object", "null"]), ("additionalProperties", SchemaTypes.reference("layer"))])])
        )
      default: (field.name, SchemaTypes.property(field, isSection: true))
      }
    }
  }

  /// A variable is its value, or a map that declares it.
  private static var variables: Value {
    .object([
      ("type", ["object", "null"]),
      (
        "additionalProperties",
        .object([
          (
            "anyOf",
            .list([
              SchemaTypes.object(SectionFields.variable),
              .object([("type", ["string", "number", "boolean", "array", "null"])]),
            ])
          )
        ])
      ),
    ])
  }

  /// The lists of entries; without items where only the keys matter.
  private static func lists(items suffix: String?) -> [(String, Value)] {
    let summaries: [(Role, String)] = [
      (.source, "Where items come from."), (.stage, "What is done with each item, in order."),
      (.sink, "Who is told what happens."),
    ]
    return summaries.map { role, summary in
      let name = role.rawValue
      guard let suffix else {
        return (name + "s", .object([("description", .string(summary)), ("type", ["array", "null"])]))
      }
      return (name + "s", .object([("items", SchemaTypes.reference(name + suffix))]))
    }
  }
}

/// The schema of one entry of `sources`, `stages` or `sinks`.
struct EntrySchema {
  /// The names of ops that plugins bring: words with a dot between them.
  static let pluginOp = "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)+$"
  /// An address that stands as a source of its own.
  static let address = "[:/$]"

  let role: Role
  let specs: [PartSpec]
  /// Whether the entry is laid over another with its id, and may leave out what that one says.
  let isLayer: Bool

  /// Its name among the definitions.
  var name: String { role.rawValue + (isLayer ? "_layer" : "") }

  /// The shape of what stands there decides which form it is held to, so that a slip is told for that form alone.
  var value: Value {
    .object([("if", .object([("type", "string")])), ("then", bare), ("else", map)])
  }

  /// An op's name alone; of sources also an address.
  private var bare: Value {
    let names = specs.filter { spec in isLayer || !spec.fields.contains(where: \.isMissed) }.map {
      Value.string($0.name)
    }
    var forms: [Value] = names.isEmpty ? [] : [.object([("enum", .list(names))])]
    forms.append(.object([("type", "string"), ("pattern", .string(EntrySchema.pluginOp))]))
    if role == .source { forms.append(.object([("type", "string"), ("pattern", .string(EntrySchema.address))])) }
    return .object([("anyOf", .list(forms))])
  }

  private var map: Value {
    let keys = SectionFields.beside(role).map { ($0.name, SchemaTypes.property($0)) }
    let ops = specs.map { ($0.name, op($0)) }
    let isPlugin = Value.object([
      (
        "not",
        .object([
          ("propertyNames", .object([("not", .object([("pattern", .string(EntrySchema.pluginOp))]))]))
        ])
      )
    ])
    let choices = specs.map { Value.object([("required", .list([.string($0.name)]))]) } + [isPlugin]
    return .object(
      [
        ("type", "object"),
        ("additionalProperties", false),
        ("properties", .object(keys + ops)),
        ("patternProperties", .object([(EntrySchema.pluginOp, .object([]))])),
      ] + (isLayer ? [] : [("oneOf", .list(choices))]))
  }

  /// What stands behind an op's name: its keys, or what its shorthand takes.
  private func op(_ spec: PartSpec) -> Value {
    let description = ("description", Value.string(spec.summary))
    var forms = [SchemaTypes.object(spec.fields, isPartial: isLayer)]
    if let shorthand = spec.shorthand, let field = spec.fields.first(where: { $0.name == shorthand }) {
      let short = SchemaTypes.alternatives(field.type)
      if spec.fields.count == 1, case .map = field.type {
        // A map is the field itself: nothing else could be meant.
        forms = short + (field.isMissed ? [] : [.object([("type", "null")])])
      } else {
        forms = short.compactMap(SchemaTypes.withoutMaps) + forms
      }
    }
    return .object([description] + SchemaTypes.anyOf(forms))
  }
}

extension FieldSpec {
  /// Whether it is a mistake to leave it out.
  var isMissed: Bool { isRequired && fallback == nil }
}
