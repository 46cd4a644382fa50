import FlowBase
import FlowExpressions
import Testing

@Suite struct Patterns {
  private func fits(_ pattern: String, _ text: String) throws -> Bool {
    let scope = MapScope(fields: [.vars: ["p": .string(pattern), "t": .string(text)]])
    return try Expression(parsing: "vars.t matches vars.p").isTrue(in: scope)
  }

  @Test(arguments: [
    ("abc", "xabcx", true), ("^abc$", "abc", true), ("^abc$", "abcd", false), ("a.c", "a\nc", false),
    ("a.c", "aéc", true),
    ("^(a|bc)+$", "abcbca", true), ("^(a|bc)+$", "abcb", false), ("^a{2,3}$", "aa", true), ("^a{2,3}$", "aaaa", false),
    ("^a{2}$", "aa", true), ("^a{2,}$", "aaaaa", true), ("^a{0}$", "", true), ("^[a-c_-]+$", "a-_c", true),
    ("^[^a-c]+$", "xyz", true),
    ("^[^a-c]+$", "xaz", false), ("^[]a]+$", "]a", true), ("^\\d+$", "0123", true), ("^\\w+$", "aé_1", true),
    ("^\\S+$", "a b", false),
    ("^[\\d.]+$", "1.5", true), ("\\bcat\\b", "a cat!", true), ("\\bcat\\b", "concat", false),
    ("\\Bcat", "concat", true),
    ("(?i)^ÀB[A-Z]$", "àbz", true), ("(?i)x", "X", true), ("", "", true), ("", "x", true), ("x*", "", true),
    ("^(?:ab)?$", "ab", true),
    ("a+?b", "aab", true), ("\\.jpe?g$", "x.jpg", true), ("\\/\\-\\{", "/-{", true), ("{", "{", true),
    ("a{x", "a{x", true),
    ("^(|a)$", "a", true), ("^((a*)*)*$", "aaab", false), ("[a\\]b]", "]", true), ("\\t", "\t", true), ("$^", "", true),
    ("a|", "b", true),
  ])
  func `fit`(_ pattern: String, _ text: String, _ expected: Bool) throws {
    #expect(try fits(pattern, text) == expected, "\(pattern) in \(text)")
  }

  @Test(arguments: [
    "(", ")", "[", "a**", "+", "a{3,2}", "\\", "\\1", "\\q", "(?<n>x)", "(?=x)", "[z-a]", "a{99999}",
    "((((a{1000}){1000}){1000}))", "a{1,",
  ])
  func `that are bad are refused`(_ pattern: String) {
    #expect(throws: Fault.self) { try fits(pattern, "x") }
  }

  @Test func `take time in proportion to the text`() throws {
    let text = String(repeating: "a", count: 20_000) + "b"
    #expect(try !fits("^(a+)+$", text))
    #expect(try !fits("^(a|a)*c", text))
  }
}
