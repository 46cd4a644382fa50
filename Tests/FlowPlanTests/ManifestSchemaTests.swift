import FlowBase
import FlowBuiltins
import FlowParts
import FlowPlan
import FlowYAML
import Testing

@Suite struct ManifestSchemaTests {
  static let schema = Result { try JSONReader.read(Array(ManifestSchema.json(catalog: .forTests).utf8)) }

  private func problems(_ fixture: ManifestFixture) throws -> [String] {
    let node = try #require(YAMLReader.read(Array(fixture.text.utf8), file: fixture.name).node)
    return DraftSeven(root: try Self.schema.get()).problems(node.asPlainYAML)
  }

  @Test(arguments: ManifestFixture.all(in: "good"))
  func `The schema takes every good manifest`(_ fixture: ManifestFixture) throws {
    #expect(try problems(fixture) == [])
  }

  @Test func `The schema takes the large manifest of the guide`() throws {
    let fixture = ManifestFixture(name: "large.yaml", text: LargeManifest.text)
    #expect(try problems(fixture) == [])
  }

  @Test(arguments: ManifestFixture.all(in: "bad"))
  func `The schema refuses what has a wrong shape`(_ fixture: ManifestFixture) throws {
    guard YAMLReader.read(Array(fixture.text.utf8), file: fixture.name).problems.isEmpty else { return }
    let found = try problems(fixture)
    if let reason = Self.beyond[fixture.name] {
      #expect(found == [], "\(reason)")
    } else {
      #expect(found != [])
    }
  }

  @Test func `What is said to be beyond the schema are fixtures`() {
    let names = Set(ManifestFixture.all(in: "bad").map(\.name))
    #expect(Set(Self.beyond.keys).subtracting(names) == [])
  }

  @Test func `The schema of the parts in the box is JSON, and each op is in it`() throws {
    let schema = try JSONReader.read(Array(ManifestSchema.json(catalog: .builtins).utf8))
    for role in Role.allCases {
      let map = schema.asMap?["definitions"]?.asMap?[role.rawValue]?.asMap?["else"]
      let keys = map?.asMap?["properties"]?.asMap
      for spec in Catalog.builtins.specs(for: role) {
        #expect(keys?[spec.name]?.asMap?["description"] == .string(spec.summary))
      }
    }
    #expect(
      DraftSeven(root: schema).problems(.map(["imgflow": 1, "sources": [], "stages": ["fetch", "store"]])) == [])
  }

  @Test(arguments: [Catalog.forTests, .builtins])
  func `Every schema within it is a map or a truth value`(_ catalog: Catalog) throws {
    func strays(_ value: Value, _ path: String) -> [String] {
      switch value {
      case .null: return [path]
      case .list(let elements): return elements.enumerated().flatMap { strays($1, "\(path)/\($0)") }
      case .map(let fields):
        return fields.flatMap { ["default", "enum", "type"].contains($0.0) ? [] : strays($0.1, "\(path)/\($0.0)") }
      default: return []
      }
    }
    #expect(strays(try JSONReader.read(Array(ManifestSchema.json(catalog: catalog).utf8)), "") == [])
  }

  @Test func `A slip in an entry is one error, at the key`() throws {
    let slip = Value.map(["fetch": .null, "max_bytes": "50MB"])
    let manifest = Value.map(["imgflow": 1, "sources": [], "stages": .list([slip])])
    let found = DraftSeven(root: try Self.schema.get()).problems(manifest)
    #expect(found.count == 1)
    #expect(found.first?.contains("max_bytes") == true, "\(found)")
  }

  @Test(arguments: [
    "4096", "50MB", "1.5 GiB", "5 mb", "MB", "30s", "500ms", "1.5m", "30", "20/s", "7/h", "1/d", "50MB/s",
  ])
  func `Quantities of the schema are those of the parser`(text: String) throws {
    let fields = ["max_bytes": ByteCount(parsing: text) != nil, "min_speed": Bandwidth(parsing: text) != nil]
    for (key, isGood) in fields {
      let stage = Value.map(["fetch": .map(Fields(names: [key], values: [.string(text)]))])
      #expect(try isTaken(stage) == isGood, "\(key)")
    }
    #expect(try isTaken(.map(["fetch": .null, "timeout": .string(text)])) == (Interval(parsing: text) != nil))
    let host = Value.map(["a.example": .map(["rate": .string(text)])])
    let manifest = Value.map(["imgflow": 1, "sources": [], "stages": [], "hosts": host])
    let isRate = DraftSeven(root: try Self.schema.get()).problems(manifest) == []
    #expect(isRate == (Rate(parsing: text) != nil))
  }

  private func isTaken(_ stage: Value) throws -> Bool {
    let manifest = Value.map(["imgflow": 1, "sources": [], "stages": .list([stage])])
    return DraftSeven(root: try Self.schema.get()).problems(manifest) == []
  }

  /// The mistakes that take more than shapes to find, each with the reason.
  static let beyond: [String: String] = {
    var reasons: [String: String] = [:]
    for (reason, names) in kinds {
      for name in names.split(separator: " ") { reasons[name + ".yaml"] = reason }
    }
    return reasons
  }()

  private static let kinds: [(reason: String, fixtures: String)] = [
    (
      "how stages hang together takes the whole list",
      """
      after-itself id-of-two-lists blocked circle item-in-run needs-itself per-below-group unknown-stage \
      unknown-stage-after duplicate-id
      """
    ),
    (
      "legs are counted and joined when the plan is made",
      "shared-path same-path axis-twice disjoint-axes matrix"
    ),
    (
      "expressions are read by a parser of their own",
      """
      columns condition-type field-not-set-yet field-unknown phases text-and-number stop-by-ratio \
      expression-call expression-fails expression-filter-count expression-filter-type expression-name expression-nested \
      expression-never-true expression-number expression-open expression-operand expression-operator expression-pattern \
      expression-quote expression-too-large expression-loop-name
      """
    ),
    (
      "the environment and files stand outside of the manifest",
      "env extends-circle extends-missing extends-no-manifest secret-missing unknown-plugin"
    ),
    (
      "an address is read by a parser of its own, and one that is none is no more than warned of",
      "no-address"
    ),
    (
      "options of the command line stand outside of the manifest",
      "profile-option set-option var-option"
    ),
    (
      "names are declared elsewhere in the manifest",
      "pool secret-unlisted"
    ),
    (
      "where a value goes decides whether it may stand there",
      "secret-in-stage path-escapes secret-in-sink-address secret-under-every-host"
    ),
  ]
}
