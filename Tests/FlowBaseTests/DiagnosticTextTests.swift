import FlowBase
import Testing

@Suite struct DiagnosticTextTests {
  private func diagnostic(
    _ line: Int, _ column: Int, length: Int = 1, hint: String? = nil, notes: [String] = [],
    severity: Diagnostic.Severity = .error
  ) -> Diagnostic {
    Diagnostic(
      "E0103", "unknown key `widht` in `resize`",
      at: Place(file: "m.yaml", mark: Mark(line: line, column: column, length: length)), hint: hint, notes: notes,
      severity: severity)
  }

  private func render(_ diagnostics: [Diagnostic], line: String) -> String {
    DiagnosticText { _, _ in line }.text(diagnostics)
  }

  @Test func `A mistake is shown with its line, a caret and the hint, then the notes`() {
    let text = render(
      [diagnostic(31, 15, length: 5, hint: "did you mean `width`?", notes: ["keys of `resize`: width height"])],
      line: "    resize: { widht: 1 }")
    #expect(
      text == """
        m.yaml:31:15: error[E0103]: unknown key `widht` in `resize`
           |
        31 |     resize: { widht: 1 }
           |               ^^^^^ did you mean `width`?
           = keys of `resize`: width height
        1 error

        """)
  }

  @Test func `Where notes say it all, the line is not shown`() {
    #expect(
      render([diagnostic(3, 1, notes: ["add it"])], line: "x")
        == "m.yaml:3:1: error[E0103]: unknown key `widht` in `resize`\n   = add it\n1 error\n")
  }

  @Test func `Mistakes are sorted by place, said once, and counted by severity`() {
    let text = render(
      [diagnostic(9, 1), diagnostic(10, 2, severity: .warning), diagnostic(2, 5), diagnostic(9, 1)], line: "abcdefgh")
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("m.yaml") }.map { $0.prefix { $0 != " " } }
    #expect(lines == ["m.yaml:2:5:", "m.yaml:9:1:", "m.yaml:10:2:"])
    #expect(text.hasSuffix("2 errors, 1 warning\n"))
  }

  @Test func `Tabs keep the caret in place, and control characters cannot reach the terminal`() {
    let text = render([diagnostic(1, 3, hint: "no")], line: "\t\tx\u{1B}[31m")
    #expect(text.contains(" 1 | \t\tx\\u{1b}[31m\n   | \t\t^ no\n"))
  }

  @Test func `A very long line is cut around the caret`() {
    let text = render([diagnostic(1, 5000, length: 3, hint: "here")], line: String(repeating: "x", count: 10_000))
    #expect(text.split(separator: "\n").allSatisfy { $0.count < 250 })
    #expect(text.contains("^^^ here"))
  }

  @Test func `A place behind the line's end, or a file that is not at hand, is no trouble`() {
    #expect(render([diagnostic(1, 80, length: 9, hint: "h")], line: "ab").contains("ab\n   |   ^ h\n"))
    let text = DiagnosticText().text([diagnostic(1, 1, hint: "did you mean `x`?")])
    #expect(text.contains("\n   = did you mean `x`?\n"))
  }

  @Test func `Nothing wrong is nothing said`() { #expect(DiagnosticText().text([Diagnostic]()) == "") }

  @Test func `As JSON each has all its keys`() throws {
    let json = try JSONReader.read(Array(DiagnosticText.json([diagnostic(3, 4, length: 5, hint: "h")]).utf8))
    #expect(json.asMap?["format_version"] == 1)
    let first = json.asMap?["diagnostics"]?.asList?.first?.asMap
    #expect(first?["severity"] == "error")
    #expect(first?["file"] == "m.yaml")
    #expect(first?["line"] == 3 && first?["column"] == 4 && first?["length"] == 5)
    #expect(first?["hint"] == "h")
  }

  @Test func `An annotation cannot begin another command`() {
    let evil = Diagnostic(
      "E0103", "a\n::set-output name=x::100%", at: Place(file: "a,b:c.yaml", mark: Mark(line: 1, column: 2, length: 3)))
    #expect(
      DiagnosticText.github([evil])
        == "::error file=a%2Cb%3Ac.yaml,line=1,col=2,endColumn=4,title=E0103::a%0A::set-output name=x::100%25\n")
  }
}
