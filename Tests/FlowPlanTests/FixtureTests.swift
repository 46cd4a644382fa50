import FlowBase
import FlowManifest
import FlowPlan
import FlowYAML
import Testing

/// A manifest of `Tests/Fixtures/manifests`.
struct ManifestFixture: CustomTestStringConvertible {
  static let folder = PathText.absolute(PathText.parent(of: #filePath) + "/../Fixtures/manifests")

  var name: String
  var text: String
  /// What `validate` says of it; nil where it is good.
  var expected: String?

  var testDescription: String { name }

  static func all(in part: String) -> [ManifestFixture] {
    let folder = folder + "/" + part
    guard let names = try? SmallFiles.names(in: folder) else { return [] }
    return names.filter { $0.hasSuffix(".yaml") }.sorted().compactMap { name in
      guard let text = read(folder + "/" + name) else { return nil }
      return ManifestFixture(name: name, text: text, expected: read(folder + "/" + name.dropLast(5) + ".expected"))
    }
  }

  static func read(_ path: String) -> String? {
    (try? SmallFiles.read(path, limit: 1 << 20)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// What is found in it; a first comment `# vars:` and the like stands for options of the command line.
  var reading: Reading {
    var overlays = Overlays()
    for line in text.split(separator: "\n") where line.hasPrefix("#: ") {
      let words = line.dropFirst(3).split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2 else { continue }
      let pair = words[1].split(separator: "=", maxSplits: 1).map(String.init)
      switch words[0] {
      case "--profile": overlays.profiles.append(words[1])
      case "--set": overlays.settings.append(.init(path: pair[0], value: pair.count > 1 ? pair[1] : ""))
      case "--var": overlays.variables.append(.init(path: pair[0], value: pair.count > 1 ? pair[1] : ""))
      default: break
      }
    }
    return Reading(text, file: name, overlays: overlays, files: ManifestFixture.layers)
  }

  /// The manifests that fixtures extend.
  static let layers: [String: String] = [
    "base.yaml": "imgflow: 1\nsources:\n  - https://example.com/a.jpg\nstages:\n  - fetch\n  - store\n",
    "circle.yaml": "extends: extends-circle.yaml\n",
    "list.yaml": "- a\n- b\n",
  ]
}

@Suite struct FixtureTests {
  @Test(arguments: ManifestFixture.all(in: "bad"))
  func `Every mistake is told at its place with a remedy`(_ fixture: ManifestFixture) throws {
    let reading = fixture.reading
    if ProcessFacts.environment["IMGFLOW_RECORD"] == "1" {
      let path = ManifestFixture.folder + "/bad/" + fixture.name.dropLast(5) + ".expected"
      try SmallFiles.replace(path, Array(reading.text.utf8))
      return
    }
    #expect(reading.text == fixture.expected)
  }

  @Test(arguments: ManifestFixture.all(in: "good"))
  func `A good manifest has no mistakes`(_ fixture: ManifestFixture) {
    let reading = fixture.reading
    #expect(reading.text == fixture.expected ?? "")
    #expect(reading.plan != nil)
  }

  @Test func `There are fixtures`() {
    #expect(ManifestFixture.all(in: "bad").count > 40)
    #expect(ManifestFixture.all(in: "good").count > 5)
  }
}
