import FlowBase
import FlowExpressions
import Testing

@Suite struct Mistakes {
  @Test(
    arguments: [
      ("", "E0200", 0, 1), ("   ", "E0200", 0, 1), ("1 +", "E0200", 3, 1), ("(1", "E0200", 2, 1), ("1)", "E0200", 1, 1),
      ("[1 2]", "E0200", 3, 1), ("a b", "E0200", 2, 1), ("row.", "E0200", 4, 1), ("row.1", "E0200", 4, 1),
      ("1 < 2 < 3", "E0200", 6, 1), ("a == b == c", "E0200", 7, 2), ("and", "E0200", 0, 3), ("1 | ", "E0200", 4, 1),
      ("'abc", "E0202", 0, 1), ("é + \"x", "E0202", 4, 1), ("'\\u12'", "E0202", 1, 2), ("'\\ud800'", "E0202", 1, 2),
      ("12px", "E0204", 0, 4), ("99999999999999999999", "E0204", 0, 20), ("1e999", "E0204", 0, 5),
      ("row.a matches '('", "E0205", 14, 3), ("row.a matches '*x'", "E0205", 14, 4),
      ("row.a matches '(?=x)'", "E0205", 14, 7),
      ("a && b", "E0206", 2, 2), ("a || b", "E0206", 2, 2), ("a = b", "E0206", 2, 1), ("!a", "E0206", 0, 1),
      ("a # b", "E0206", 2, 1),
      ("row.a == ${vars.b}", "E0207", 9, 2), ("${row.a} == 1", "E0207", 9, 4), ("${row.a", "E0201", 0, 2),
      ("len(row.a)", "E0208", 0, 3),
      ("not", "E0200", 3, 1), ("1 not 2", "E0200", 2, 3), ("{}", "E0206", 0, 1), ("${}", "E0200", 0, 3),
      ("1 +\n+ 2", "E0200", 4, 1),
    ] as [(String, String, Int, Int)])
  func `have their place`(_ text: String, _ code: String, _ offset: Int, _ length: Int) {
    do {
      _ = try Expression(parsing: text)
      Issue.record("`\(text)` was accepted")
    } catch {
      #expect(error.code == code, "\(text): \(error.message)")
      #expect(error.offset == offset, "\(text): \(error.message)")
      #expect(error.length == length, "\(text): \(error.message)")
    }
  }

  @Test(
    arguments: [
      ("a${", "E0201", 1), ("a${row.x", "E0201", 1), ("ab${}c", "E0200", 2), ("x${row.a +}y", "E0200", 10),
      ("${'}", "E0202", 2),
      ("é${1 $}", "E0206", 5), ("${row.a} ${row.b", "E0201", 9),
    ] as [(String, String, Int)])
  func `in templates have their place in the whole text`(_ text: String, _ code: String, _ offset: Int) {
    do {
      _ = try Template(parsing: text)
      Issue.record("`\(text)` was accepted")
    } catch {
      #expect(error.code == code, "\(text): \(error.message)")
      #expect(error.offset == offset, "\(text): \(error.message)")
    }
  }

  @Test func `hostile depth and length are refused, not survived by luck`() {
    for text in [
      String(repeating: "(", count: 10_000), String(repeating: "[", count: 10_000),
      String(repeating: "not ", count: 10_000),
      String(repeating: "-", count: 10_000) + "1", "1" + String(repeating: "+1", count: 20_000),
      "row" + String(repeating: "[0]", count: 10_000), "1" + String(repeating: "|raw", count: 10_000),
      "1" + String(repeating: "??1", count: 10_000), String(repeating: "a", count: 70_000),
    ] {
      do {
        _ = try Expression(parsing: text)
        Issue.record("`\(text.prefix(20))…` was accepted")
      } catch {
        #expect(error.code == "E0203")
      }
    }
    #expect(throws: Never.self) {
      try Expression(parsing: String(repeating: "(", count: 60) + "1" + String(repeating: ")", count: 60))
    }
    #expect(throws: Never.self) { try Expression(parsing: "1" + String(repeating: " + 1", count: 200)) }
  }

  @Test func `every code is explained, once`() throws {
    let codes = ExpressionProblems.all.map(\.code)
    #expect(Set(codes).count == codes.count)
    #expect(codes == codes.sorted())
    #expect(ExpressionProblems.all.allSatisfy { !$0.title.isEmpty && !$0.explanation.isEmpty && !$0.example.isEmpty })
    #expect(Set(Filter.all.map(\.name)).count == 23)
    #expect(Filter.named("replace")?.form == "replace(old, new)")
  }
}
