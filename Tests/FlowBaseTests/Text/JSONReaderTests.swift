import FlowBase
import Testing

struct JSONReaderTests {
  static let values: [(String, Value)] = [
    ("null", .null), ("true", true), (" false ", false), ("0", 0), ("-0", 0), ("42", 42),
    ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
    ("9223372036854775808", .double(9_223_372_036_854_775_808)), ("1e3", .double(1000)), ("-1.5E-2", .double(-0.015)),
    ("123456789012345678901234567890", .double(1.2345678901234568e29)),
    ("\"\"", ""), ("\"a\\n\\t\\\"\\\\\\/\\b\\f\\r\"", "a\n\t\"\\/\u{8}\u{C}\r"), ("\"\\u00e9\\u20AC\"", "é€"),
    ("\"\\ud83d\\ude00!\"", "😀!"), ("\"é😀\"", "é😀"), ("[]", []), ("[ ]", []), ("[1, [2] ,\"x\"]", [1, [2], "x"]),
    ("{}", .map([:])), ("{\"a\":1,\"b\":{\"c\":[]}}", .map(["a": 1, "b": .map(["c": []])])),
    ("{\"a\":1,\"a\":2}", .map(["a": 2])), ("\r\n\t 7", 7),
  ]

  @Test(arguments: values) func `a value reads as what it stands for`(json: String, value: Value) throws {
    #expect(try JSONReader.read(Array(json.utf8)) == value)
  }

  static let mistakes: [(String, Int, String)] = [
    ("", 0, "ends too early"), ("  ", 2, "ends too early"), ("[1,]", 3, "a value was expected"),
    ("{\"a\":1,}", 7, "a name in double quotes"), ("{a:1}", 1, "a name in double quotes"), ("[1 2]", 3, "`,` or `]`"),
    ("{\"a\" 1}", 5, "`:`"), ("{\"a\":1 \"b\"}", 7, "`,` or `}`"), ("01", 0, "needless 0"), ("-", 1, "ends too early"),
    ("1.", 2, "ends too early"), ("1.x", 2, "a digit"), ("1e+x", 3, "a digit"), ("+1", 0, "a value"),
    ("1e999", 0, "too large"),
    ("nul", 3, "ends too early"), ("nulL", 3, "`null`"), ("\"a", 0, "never closed"), ("\"\\", 2, "ends too early"),
    ("\"\\x\"", 2, "no such escape"), ("\"\\u12g4\"", 5, "hexadecimal"), ("\"a\nb\"", 2, "control character"),
    ("\"\\ud800\"", 1, "surrogate"), ("\"\\ud800\\u0041\"", 1, "surrogate"), ("\"\\udc00\"", 1, "surrogate"),
    ("1 2", 2, "something follows"), ("'a'", 0, "a value"), ("// x", 0, "a value"), ("NaN", 0, "a value"),
    ("\u{0}", 0, "a value"),
  ]

  @Test(arguments: mistakes) func `a mistake is named with its place`(json: String, offset: Int, words: String) {
    let problem = #expect(throws: JSONProblem.self) { try JSONReader.read(Array(json.utf8)) }
    #expect(problem?.offset == offset)
    #expect(problem?.message.contains(words) == true, "\(problem?.message ?? "")")
  }

  @Test func `broken UTF-8 is no text`() {
    for bytes: [UInt8] in [[0x22, 0xC3, 0x22], [0x22, 0x5C, 0x6E, 0xFF, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22]] {
      let problem = #expect(throws: JSONProblem.self) { try JSONReader.read(bytes) }
      #expect(problem?.message.contains("UTF-8") == true)
    }
  }

  @Test func `nesting is bounded`() throws {
    let deep = { (depth: Int) in
      Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    _ = try JSONReader.read(deep(128))
    #expect(throws: JSONProblem("nested more than 128 deep", offset: 128)) { try JSONReader.read(deep(129)) }
    let objects = String(repeating: "{\"a\":", count: 100_000)
    #expect(throws: JSONProblem.self) { try JSONReader.read(Array(objects.utf8)) }
  }

  @Test func `an object with many members keeps their order and the last of each name`() throws {
    let names = (0..<500).map { "n\($0)" }
    let members = (names + ["n3", "n499"]).enumerated().map { "\"\($1)\":\($0)" }.joined(separator: ",")
    let fields = try #require(try JSONReader.read(Array("{\(members)}".utf8)).asMap)
    #expect(fields.names == names)
    #expect(fields["n3"] == 500)
    #expect(fields["n499"] == 501)
    #expect(fields["n20"] == 20)
  }

  @Test func `a part of a buffer is read where it stands`() throws {
    let bytes = Array("xx[1]yy".utf8)
    #expect(try JSONReader.read(bytes[2..<5]) == [1])
    #expect(throws: JSONProblem("something follows the value", offset: 3)) { try JSONReader.read(bytes[2..<6]) }
  }

  @Test func `what the writer writes reads back as it was`() throws {
    let control = String(String.UnicodeScalarView((0..<0x80).compactMap { Unicode.Scalar($0) }))
    let value: Value = .map([
      "texts": [.string(control), "é€😀\u{2028}", ""], "numbers": [0, -1, .int(.max), .int(.min), 0.1, -2.5e-300, 1e21],
      "others": [.null, true, false, [], .map([:])], "": .map(["nested": [[[1]]]]),
    ])
    var writer = JSONWriter()
    writer.value(value)
    #expect(try JSONReader.read(writer.bytes) == value)
  }
}
