import FlowBase
import FlowYAML
import Testing

/// Reads a text that is sound, as a node.
func sound(_ text: String, _ location: SourceLocation = #_sourceLocation) throws -> Node {
  let (node, problems) = YAMLReader.read(Array(text.utf8), file: "flow.yaml")
  #expect(problems.isEmpty, "\(problems)", sourceLocation: location)
  return try #require(node, sourceLocation: location)
}

/// What a node holds, without its places: scalars as they are, quoted ones in `'`, blocks in `|`.
func outline(_ node: Node) -> String {
  switch node.content {
  case .scalar(let text, .plain): text
  case .scalar(let text, .quoted): "'\(text)'"
  case .scalar(let text, .block): "|\(text)|"
  case .list(let elements): "[" + elements.map(outline).joined(separator: ", ") + "]"
  case .map(let entries): "{" + entries.map { "\($0.key): \(outline($0.value))" }.joined(separator: ", ") + "}"
  }
}

struct ReadingTests {
  static let documents: [(String, String)] = [
    ("a: 1\nb: [x, \"y\", 'z']\n", "{a: 1, b: [x, 'y', 'z']}"),
    ("---\na: 1\n...\n", "{a: 1}"),
    ("%YAML 1.2\n---\na: 1\n", "{a: 1}"),
    ("# only\n- a\n- b: c\n  d: e\n-\n", "[a, {b: c, d: e}, ]"),
    ("text: |\n  one\n  two\n", "{text: |one\ntwo\n|}"),
    ("text: >-\n  one\n  two\n", "{text: |one two|}"),
    ("text: one\n  two\n", "{text: one two}"),
    ("v: !!str 1.10\n", "{v: '1.10'}"),
    ("v: !!int \"5\"\n", "{v: 5}"),
    ("v: ! true\n", "{v: 'true'}"),
    ("v: !!seq [a]\nw: !!map {b: c}\n", "{v: [a], w: {b: c}}"),
    ("a: &x {k: 1}\nb: *x\n", "{a: {k: 1}, b: {k: 1}}"),
    ("a: &x 7\nb: [*x, *x]\n", "{a: 7, b: [7, 7]}"),
    ("a: &x 7\nb: &x 8\nc: *x\n", "{a: 7, b: 8, c: 8}"),
    ("{}", "{}"), ("[]", "[]"), ("a", "a"), ("\"\"", "''"), ("a:\n", "{a: }"),
    ("\"<<\": {a: 1}\n", "{<<: {a: 1}}"),
    ("? a\n: b\n", "{a: b}"),
    ("url: https://example.com/a?b=c#d\n", "{url: https://example.com/a?b=c#d}"),
    ("x: ${row.a}\ny: \"${row.b}\"\n", "{x: ${row.a}, y: '${row.b}'}"),
    ("x: { y: \"${row.b}\", z: '${a}' }\n", "{x: {y: '${row.b}', z: '${a}'}}"),
    ("x: { cost: a$, b: $ }\n", "{x: {cost: a$, b: $}}"),
    ("\u{FEFF}a: 1\n", "{a: 1}"),
    ("a: 1\r\nb: 2\r\n", "{a: 1, b: 2}"),
    ("größe: 😀\n", "{größe: 😀}"),
    ("a: \"\\x00\\u00e9\"\n", "{a: '\0é'}"),
  ]

  @Test(arguments: documents) func `a document reads as it is meant`(text: String, expected: String) throws {
    #expect(outline(try sound(text)) == expected)
  }

  static let merges: [(String, String)] = [
    ("d: &d {a: 1, b: 2}\ne: {<<: *d, b: 3}\n", "{a: 1, b: 3}"),
    ("d: &d {a: 1, b: 2}\ne: {b: 3, <<: *d, c: 4}\n", "{b: 3, a: 1, c: 4}"),
    ("x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\ne: {<<: [*x, *y]}\n", "{a: 1, b: 1, c: 2}"),
    ("e: {<<: {a: 1}, b: 2}\n", "{a: 1, b: 2}"),
    ("x: &x {a: 1}\ny: &y {<<: *x, b: 2}\ne: {<<: *y}\n", "{a: 1, b: 2}"),
    ("e: {<<: [], a: 1}\n", "{a: 1}"),
  ]

  @Test(arguments: merges) func `double angles merge, and what is written here wins`(text: String, merged: String)
    throws
  {
    #expect(outline(try #require(try sound(text)["e"])) == merged)
  }

  @Test func `merged entries keep the places where they are written`() throws {
    let root = try sound("d: &d {a: 1}\ne:\n  <<: *d\n  b: 2\n")
    let entries = try #require(root["e"]?.entries)
    #expect(entries.map(\.key) == ["a", "b"])
    #expect(entries[0].keyMark == Mark(line: 1, column: 8))
    #expect(entries[0].value.mark == Mark(line: 1, column: 11))
    #expect(entries[1].keyMark == Mark(line: 4, column: 3))
  }
}

struct MarkTests {
  /// The first line that a mark covers.
  private func covered(_ mark: Mark, in text: String) -> String {
    let line = text.split(separator: "\n", omittingEmptySubsequences: false)[mark.line - 1]
    return String(String.UnicodeScalarView(line.unicodeScalars.dropFirst(mark.column - 1).prefix(mark.length)))
  }

  static let values: [(String, String)] = [
    ("k: value # comment\n", "value"),
    ("k: \"quoted\"   \n", "\"quoted\""),
    ("k: 'it''s'\n", "'it''s'"),
    ("k: &anchor value\n", "value"),
    ("k: !!str value\n", "value"),
    ("k: &a !!str \"value\"\n", "\"value\""),
    ("k: {a: 1, b: 2} # c\n", "{a: 1, b: 2}"),
    ("k: &a [1, 2]\n", "[1, 2]"),
    ("k: [1,\n  2]\n", "[1"),
    ("k:\n  a: 1 # c\n  b: 2\n", "a: 1"),
    ("k: &a\n  a: 1\n", "a: 1"),
    ("k:\n  - a: b\n    c: d\n  - e\n", "- a: b"),
    ("k: one two \n  three\n", "one two"),
    ("k: |- # c\n  text\n", "|-"),
    ("é😀: ünï # c\n", "ünï"),
  ]

  @Test(arguments: values) func `a value's mark covers its first line exactly`(text: String, expected: String) throws {
    let entry = try #require(try sound(text).entries?.first)
    #expect(covered(entry.value.mark, in: text) == expected)
  }

  @Test func `columns count characters, not bytes`() throws {
    let root = try sound("é😀: {ü: [ñ, x]}\n")
    let entry = try #require(root.entries?.first)
    #expect(entry.keyMark == Mark(line: 1, column: 1, length: 2))
    #expect(entry.value.mark == Mark(line: 1, column: 5, length: 11))
    #expect(entry.value["ü"]?.elements?.map(\.mark) == [Mark(line: 1, column: 10), Mark(line: 1, column: 13)])
    #expect(root.file == "flow.yaml")
  }
}
