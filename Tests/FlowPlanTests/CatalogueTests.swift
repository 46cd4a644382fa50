import FlowBase
import FlowBuiltins
import FlowParts
import FlowPlan
import Testing

/// What holds for every part in the box.
@Suite struct CatalogueTests {
  static let specs = Role.allCases.flatMap { Catalog.builtins.specs(for: $0) }

  @Test func `No op has a key with the name of one of its role's keys`() {
    for spec in Self.specs {
      let beside = Set(SectionFields.beside(spec.role).map(\.name))
      #expect(beside.intersection(spec.fields.map(\.name)) == [], "\(spec.role) \(spec.name)")
    }
  }

  @Test func `Every key says what it means`() {
    let sections =
      Role.allCases.flatMap { SectionFields.beside($0) } + SectionFields.top + SectionFields.variable
    for field in Self.specs.flatMap(\.fields) + sections {
      for inner in Self.all(in: field) {
        #expect(inner.summary.hasSuffix("."), "\(field.name): \(inner.name): \(inner.summary)")
      }
    }
    for spec in Self.specs { #expect(!spec.summary.isEmpty && !spec.example.isEmpty, "\(spec.name)") }
  }

  @Test func `A shorthand is one of the op's keys`() {
    for spec in Self.specs {
      guard let shorthand = spec.shorthand else { continue }
      #expect(spec.fields.contains { $0.name == shorthand }, "\(spec.name)")
    }
  }

  @Test func `Every example becomes a plan`() {
    for spec in Self.specs {
      let reading = Reading(Self.manifest(showing: spec), catalog: .builtins) { $0.environment["HOOK"] = "c2VjcmV0" }
      #expect(reading.text == "", "\(spec.name)")
      #expect(reading.plan != nil, "\(spec.name)")
    }
  }

  /// A manifest around an example, which holds its section or one entry of it.
  private static func manifest(showing spec: PartSpec) -> String {
    let section = spec.role.rawValue + "s:\n"
    var example = spec.example.hasSuffix("\n") ? spec.example : spec.example + "\n"
    if !example.hasPrefix(section) {
      let isElement = example.hasPrefix("- ")
      let lines = example.split(separator: "\n").enumerated()
      example =
        section
        + lines.map { ($0.offset > 0 && !isElement ? "    " : isElement ? "  " : "  - ") + $0.element + "\n" }.joined()
    }
    if spec.role == .stage, !example.contains("fetch") {
      example = section + "  - fetch\n" + example.dropFirst(section.count)
    }
    let sources = spec.role == .source ? "" : "sources:\n  - https://example.com/a.jpg\n"
    let stages = spec.role == .stage ? "" : "stages:\n  - fetch\n"
    let secrets = example.contains("${secret.HOOK}") ? "secrets: { HOOK: {} }\n" : ""
    return "imgflow: 1\n" + secrets + sources + stages + example
  }

  /// A key and the keys within.
  private static func all(in field: FieldSpec) -> [FieldSpec] { [field] + inner(field.type).flatMap(all) }

  private static func inner(_ type: FieldType) -> [FieldSpec] {
    switch type {
    case .object(let fields): fields
    case .list(let element), .map(let element): inner(element)
    case .either(let types): types.flatMap(inner)
    default: []
    }
  }
}
