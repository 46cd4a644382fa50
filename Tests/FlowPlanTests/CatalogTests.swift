import FlowBase
import FlowBuiltins
import FlowParts
import FlowPlan
import FlowYAML
import Testing

/// What holds for every part that ships in the box.
@Suite struct CatalogTests {
  static let specs: [PartSpec] = Role.allCases.flatMap { Catalog.builtins.specs(for: $0) }

  @Test func `No op has a field with the name of one of its role's keys`() {
    for spec in Self.specs {
      let taken = Set(SectionFields.beside(spec.role).map(\.name))
      #expect(spec.fields.filter { taken.contains($0.name) }.map(\.name) == [], "\(spec.name)")
    }
  }

  @Test func `The roles' keys are the same for the reader of shapes and for the planner`() {
    #expect(SectionFields.source.map(\.name) == ["id", "where", "sample", "take", "note"])
    #expect(SectionFields.sink.map(\.name) == ["id", "events", "required", "note"])
    #expect(SectionFields.stage.count == 14)
  }

  @Test func `Built-in names and keys have no dot`() {
    for spec in Self.specs {
      #expect(!spec.name.contains("."), "\(spec.name)")
      #expect(spec.fields.allSatisfy { !$0.name.contains(".") }, "\(spec.name)")
    }
  }

  @Test func `Every shorthand is a field, and every field and part has its sentence`() {
    for spec in Self.specs {
      if let shorthand = spec.shorthand { #expect(spec.fields.contains { $0.name == shorthand }, "\(spec.name)") }
      #expect(spec.summary.hasSuffix("."), "\(spec.name)")
      for field in spec.fields { #expect(field.summary.hasSuffix("."), "\(spec.name).\(field.name)") }
    }
  }

  @Test(arguments: Self.specs.map(\.name))
  func `Every example is a manifest without mistakes`(_ name: String) {
    for spec in Self.specs where spec.name == name {
      let reading = Reading(Self.manifest(around: spec), catalog: .builtins) { inputs in
        inputs.environment = ["HOOK_SECRET": "x", "HOOK": "x", "TOKEN": "x"]
        inputs.readFile = { _ in "x" }
      }
      let errors = reading.diagnostics.filter {
        $0.severity == .error && !["E0304", "secret.missing"].contains($0.code)
      }
      #expect(errors.isEmpty, "\(reading.text)")
    }
  }

  /// The example with what a manifest needs beside it.
  private static func manifest(around spec: PartSpec) -> String {
    var text = spec.example
    if text.hasPrefix("- ") {
      text = "\(spec.role.rawValue)s:\n" + text.split(separator: "\n").map { "  \($0)\n" }.joined()
    }
    let keys = text.split(separator: "\n").filter { !$0.hasPrefix(" ") }.map { $0.prefix { $0 != ":" } }
    if text.contains("secret.HOOK") { text = "secrets: { HOOK: {} }\n" + text }
    if !keys.contains("imgflow") { text = "imgflow: 1\n" + text }
    if !keys.contains("sources") { text += "\nsources: [https://example.com/a.jpg]\n" }
    if !keys.contains("stages") { text += "\nstages: [fetch]\n" }
    return text
  }
}
