import FlowBase
import FlowYAML
import Testing

/// Reads a text and tells its problems, each as `code line:column+length message; hint; notes`.
private func problems(_ bytes: [UInt8]) -> [String] {
  YAMLReader.read(bytes, file: "f.yaml").problems.map { problem in
    let mark = problem.place?.mark ?? Mark(line: 0, column: 0)
    let words = [problem.message, problem.hint ?? ""] + problem.notes
    return "\(problem.code) \(mark.line):\(mark.column)+\(mark.length) " + words.joined(separator: "; ")
  }
}

struct ProblemTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var text: String
    /// The beginning of each problem, and words that it holds.
    var expected: [(start: String, words: String)]
    var testDescription: String { text }

    init(_ text: String, _ expected: (String, String)...) {
      self.text = text
      self.expected = expected.map { (start: $0.0, words: $0.1) }
    }
  }

  static let cases = [
    Case("", ("E0005 1:1", "empty")), Case("# c\n\n", ("E0005 1:1", "empty")), Case("---\n", ("E0005 1:1", "empty")),
    Case("a: 1\n---\nb: 2\n", ("E0006 2:1+3", "second document")),
    Case("a:\n\tb: 1\n", ("E0007 2:1+1", "use spaces")),
    Case("a:\n  b: 1\n  \t\tc: 1\nd:\n\te: 1\n", ("E0007 3:3+2", "also line 5")),
    Case("a: 1\nb: 2\na: 3\n", ("E0008 3:1+1", "first at f.yaml:1:1")),
    Case("a: 1\na: 2\nb: {c: 1, 'c': 2}\n", ("E0008 2:1+1", "`a`"), ("E0008 3:11+3", "f.yaml:3:5")),
    Case("x: &x {a: 1}\nb: {<<: *x, <<: *x}\n", ("E0008 2:13+2", "<<: [*a, *b]")),
    Case("[a]: 1\n", ("E0009 1:1+3", "a list")), Case("{a: 1}: 1\n", ("E0009 1:1+6", "a map")),
    Case("x: &x a\n*x : 1\n", ("E0009 2:1", "an alias")), Case("? \n: 1\n", ("E0009 1:2+1", "nothing")),
    Case("r: { width: ${matrix.w} }\n", ("E0010 1:13+11", "quote it: \"${matrix.w}\"")),
    Case(
      "r: { a: ${x}, b: pre-${y | f('}')} }\nl: [${z}]\na: 1\na: 2\n", ("E0010 1:9+4", "\"${x}\""),
      ("E0010 1:22+13", "quote it: "), ("E0010 2:5+4", "\"${z}\""), ("E0008 4:1", "first at")),
    Case("r: [a \"b\" ${x}]\n", ("E0010 1:11+4", "'a \"b\" ${x}'")),
    Case("a: *b\nc: *d\n", ("E0011 1:4+2", "`*b`"), ("E0011 2:4+2", "&d")),
    Case("x: &x 1\na: *b\n", ("E0011 2:4+2", "&x")), Case("a: &a [*a]\n", ("E0011 1:8+2", "inside")),
    Case("a: {<<: 1}\n", ("E0017 1:9+1", "a map or a list of maps")), Case("a: {<<: [{b: 1}, 2]}\n", ("E0017 1:9", "")),
    Case("a: !date x\nb: !!binary y\n", ("E0018 1:4+5", "`!date` is unknown"), ("E0018 2:4+8", "`!!binary`")),
    Case("a: !!str [x]\nb: &b !!seq x\n", ("E0018 1:4+5", "cannot stand on a list"), ("E0018 2:7+5", "on a text")),
    Case(
      "title: Part 1: begin\n",
      ("E0019 1:14+1", "a `:` follows a value; quote the text or start a new line".prefix(25).description)),
    Case("a: 1\n b: 2\n", ("E0019 2:3", "start a new line")),
    Case("a:\n  b: 1\n c: 2\n", ("E0020 3:2", "line 1")),
    Case("- a\n b: 1\n", ("E0019 2:3", "")), Case("l:\n  - a\n  b: 1\n", ("E0020 3:3", "same indentation")),
    Case("a: - b\n", ("E0020 1:4", "new line")),
    Case("a: [1, 2\nb: 3\n", ("E0021 1:4", "`]`")), Case("a: {b: 1\n", ("E0021 1:4", "`}`")),
    Case("a: \"open\nb: 1\n", ("E0022 1:4", "never closed")), Case("a: 'open\n", ("E0022 1:4", "never closed")),
    Case("a: \"c:\\data\"\n", ("E0023 1:7", "single quotes")), Case("a: @x\n", ("E0024 1:4+1", "`@`")),
    Case("a: `x`\n", ("E0024 1:4+1", "quotes")), Case("a: 1\nrubbish\nb: 2\n", ("E0025 2:1", "`key: value`")),
    Case("a: |x\n  text\n", ("E0026 1:5", "next line")), Case("a: * \n", ("E0027 1:5", "quote")),
    Case("a: 1\na: 2\nb: [\n", ("E0008 2:1", ""), ("E0021 3:4", "never closed")),
    Case("{a: 1}\nb: 2\n", ("E0029 2:1", "ended above")), Case("a: 1\n...\n%x\n", ("E0028 3:3", "directive")),
    Case("a: é\u{0}\n", ("E0004 1:5+1", "NUL")), Case("a: \u{7}\n", ("E0004 1:4+1", "U+0007")),
    Case("a: 1\r\nb: \u{85}\u{9F}\n", ("E0004 2:5+1", "U+009F")),
  ]

  @Test(arguments: cases) func `a mistake is told with its place and a remedy`(mistake: Case) {
    let found = problems(Array(mistake.text.utf8))
    #expect(found.count == mistake.expected.count, "\(found)")
    for (problem, expected) in zip(found, mistake.expected) {
      #expect(problem.hasPrefix(expected.start) && problem.contains(expected.words), "\(problem)")
    }
  }

  @Test func `foreign encodings and broken characters are named`() {
    #expect(problems([0xFF, 0xFE, 0x61, 0]).first?.hasPrefix("E0002 1:1+1 this file is written in UTF-16") == true)
    #expect(problems([0xFE, 0xFF, 0, 0x61]).first?.hasPrefix("E0002 1:1") == true)
    #expect(problems([0x61, 0, 0x3A, 0, 0x20, 0]).first?.hasPrefix("E0002 1:1") == true)
    #expect(problems([0xFF, 0xFE, 0, 0]).first?.contains("UTF-32") == true)
    for broken: [UInt8] in [[0xC3], [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]] {
      let found = problems(Array("a: 1\nü: ".utf8) + broken + [0x0A])
      #expect(found.count == 1 && found[0].hasPrefix("E0003 2:4+1 "), "\(found)")
    }
  }

  @Test func `after a mistake in one place the rest is still there`() throws {
    let (node, problems) = YAMLReader.read(Array("a: 1\na: 2\n[x]: 1\nb: !odd 3\n".utf8), file: "f")
    #expect(problems.map(\.code) == ["E0008", "E0009", "E0018"])
    #expect(outline(try #require(node)) == "{a: 1, b: 3}")
  }

  @Test func `every kind has a code of its own, words and an example`() {
    let codes = YAMLProblems.all.map(\.code)
    #expect(Set(codes).count == codes.count && codes == codes.sorted())
    for kind in YAMLProblems.all { #expect(!kind.title.isEmpty && !kind.explanation.isEmpty && !kind.example.isEmpty) }
  }
}
