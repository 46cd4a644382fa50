import FlowBase
import FlowPlan
import FlowTesting
import Testing

/// Numbers that look random and are the same in every run.
private struct Dice: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }
}

@Suite struct HostileTests {
  private static let words = [
    "[]", "{}", "~", "\"\"", "- x", "${", "${item.x}", "${matrix.w}", "1..9999999999", "-1", "99999999999999999999",
    "a: b",
    "[[[[]]]]", "{ group: x }", "stages:", "needs: [fetch, fetch]", "matrix: { w: 1..5000, v: 1..5000 }", "|", ">-",
    "*a",
    "&a x", "<<: *a", "?", "\u{1F600}", "\t", "é", "'", "\"", "per: run", "if: always", "http://[::1", "0x",
    "${secret.A}",
  ]

  /// A manifest with a few of its lines and words changed.
  private func mutant(of text: String, _ dice: inout Dice) -> String {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    for _ in 0..<Int.random(in: 1...4, using: &dice) {
      guard let place = lines.indices.randomElement(using: &dice) else { break }
      let word = Self.words.randomElement(using: &dice) ?? ""
      switch Int.random(in: 0..<6, using: &dice) {
      case 0: lines.remove(at: place)
      case 1: lines.insert(lines[place], at: place)
      case 2: lines[place] = "  " + lines[place]
      case 3: lines[place] = String(lines[place].prefix { $0 != ":" }) + ": " + word
      case 4: lines[place] = lines[place].prefix { $0 == " " } + word
      default: lines[place] = String(lines[place].dropLast(Int.random(in: 0...9, using: &dice)))
      }
    }
    return lines.joined(separator: "\n")
  }

  @Test(arguments: 0..<8)
  func `Whatever becomes of a manifest, there is a plan or an error, and every error has a place`(seed: Int) {
    var dice = Dice(state: UInt64(seed) &* 7919 &+ 1)
    let fixtures = ManifestFixture.all(in: "good") + ManifestFixture.all(in: "bad")
    for fixture in fixtures {
      for _ in 0..<4 {
        let text = mutant(of: fixture.text, &dice)
        let reading = Reading(text)
        let errors = reading.diagnostics.filter { $0.severity == .error }
        #expect(reading.plan != nil || !errors.isEmpty, "\(text)")
        #expect(errors.allSatisfy { ($0.place?.mark.line ?? 0) >= 1 && ($0.place?.mark.column ?? 0) >= 1 }, "\(text)")
        if let plan = reading.plan { _ = PlanGraph(plan).text() }
      }
    }
  }

  @Test func `Thousands of mistakes are told in a moment`() {
    let urls = (0..<5000).map {
      "  - { urls: [{ url: \"https://a.example/${vars.x\($0)}\", size: lots }], id: s\($0) }\n"
    }
    // The thread's own time: what else the machine does is not meant.
    let start = ThreadTime.now
    let reading = Reading("imgflow: 1\nsources:\n\(urls.joined())stages: [fetch]\n")
    #expect(reading.diagnostics.count == 10_000)
    #expect(ThreadTime.now - start < .seconds(30))
  }

  @Test func `A quoted text full of mistakes is walked once`() {
    let holes = (0..<3000).map { "${vars.x\($0)}" }.joined()
    let reading = Reading(
      "imgflow: 1\nsources: [https://a.example/b]\nstages:\n  - set: { a: \"\\t\(holes)\" }\n")
    #expect(reading.diagnostics.count == 3000)
    #expect(reading.diagnostics.first?.place?.mark.column == 20)
  }
}
