import FlowBase
import FlowYAML
import Testing

struct BombTests {
  private func codes(_ text: String) -> [String] {
    YAMLReader.read(Array(text.utf8), file: "f").problems.map(\.code)
  }

  private func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

  @Test func `aliases that multiply end at ten thousand values`() {
    var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in 1..<12 { text += "a\(level): &a\(level) [" + repeated("*a\(level - 1), ", 10) + "]\n" }
    #expect(codes(text) == ["E0012"])
  }

  @Test func `aliases cannot be stacked beyond the depth`() {
    var text = "a0: &a0 [x]\n"
    for level in 1..<70 { text += "a\(level): &a\(level) [*a\(level - 1)]\n" }
    #expect(codes(text) == ["E0013"])
  }

  @Test func `depth is cut while reading`() {
    #expect(codes(repeated("[", 64) + repeated("]", 64)) == [])
    #expect(codes(repeated("[", 65) + repeated("]", 65)) == ["E0013"])
    #expect(codes(repeated("[", 1_000_000)) == ["E0013"])
    #expect(codes(repeated("{a: ", 1_000_000)) == ["E0013"])
    #expect(codes(repeated("- ", 1_000_000)) == ["E0013"])
    #expect(codes(repeated("? ", 1_000_000)) == ["E0013"])
    #expect(codes((0..<2000).map { repeated(" ", $0) + "a:\n" }.joined()) == ["E0013"])
  }

  @Test func `sizes are bounded`() {
    #expect(codes(repeated("#", 16 << 20 | 1)) == ["E0001"])
    #expect(codes("a: " + repeated("x", 1 << 20)) == [])
    #expect(codes("a: " + repeated("x", 1 << 20 | 1)) == ["E0014"])
    #expect(codes(repeated("x", 1 << 20 | 1)) == ["E0014"])
    #expect(codes(repeated("- a\n", 10_000)) == [])
    #expect(codes(repeated("- a\n", 10_001)) == ["E0015"])
    #expect(codes((0...10_000).map { "k\($0): 1\n" }.joined()) == ["E0015"])
    #expect(codes(repeated("- [" + repeated("a,", 9_000) + "]\n", 100)) == ["E0016"])
    #expect(codes(repeated("a: 1\n", 10_000)).count == 100)
  }

  /// Each of these is made to be slow; at this size work that grows with its square would take hours.
  static let slow: [(name: String, unit: String)] = [
    ("flow lists", "["), ("flow maps", "{"), ("flow pairs", "[{"), ("questions", "? "), ("dashes", "- "),
    ("quotes", "\"\\\n"),
    ("words", "a "), ("commas", "[a,"), ("tags", "[!!str\"\","), ("anchors", "[&a\"\","), ("colons", "a: "),
    ("comments", "#\n"), ("wide keys", "{é:é,"), ("lines", "é\n"), ("expressions", "[${x},"), ("tabs", "\t"),
  ]

  @Test(arguments: slow) func `a hostile document ends soon`(name: String, unit: String) {
    let prefix = ["commas", "tags", "anchors", "wide keys"].contains(name) ? String(unit.prefix(1)) : ""
    let text =
      prefix + repeated(String(unit.dropFirst(prefix.count)), (2 << 20) / max(1, unit.utf8.count - prefix.count) - 2)
    let duration = ContinuousClock().measure { _ = YAMLReader.read(Array(text.utf8), file: "f") }
    #expect(duration < .seconds(20), "\(name) took \(duration)")
  }
}
