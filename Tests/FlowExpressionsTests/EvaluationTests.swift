import FlowBase
import FlowExpressions
import Testing

@Suite struct Evaluation {
  @Test(
    arguments: [
      ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("7 / 2", 3.5), ("6 / 2", 3), ("-7 % 3", -1), ("7.5 % 2", 1.5),
      ("1 + 0.5", 1.5), ("-(-3)", 3), ("2 - 3 - 4", -5), ("'a' + \"b\"", "ab"), ("1e3", 1000.0), ("010", 10),
      ("1 == 1.0", true), ("'1' == 1", false), ("null == null", true), ("1 < 2 and 2 <= 2", true),
      ("'a' < 'b'", true), ("true and false", false), ("true or 1 / 0 > 1", true), ("false and 1 / 0 > 1", false),
      ("not true or true", true), ("not (true or true)", false), ("not 1 == 2", true), ("null and true", false),
      ("2 in [1, 2.0]", true), ("2 not in [1, 3]", true), ("'b' in 'abc'", true), ("'x' in null", false),
      ("'width' in item", true), ("null ?? null ?? 3", 3), ("item.nothing ?? 0 > 1", false), ("1 ?? 2 + 3", 1),
      ("item.width >= 256 and item.media != 'image/gif'", true), ("item.missing > 3", false), ("item.nothing", nil),
      ("row[\"Image URL\"]", "u"), ("row['Image URL']", "u"), ("row.in", "keyword"), ("vars.sizes[1]", 256),
      ("vars.sizes[-1]", 256), ("vars.sizes[5]", nil), ("item.list | first", "x"), ("row.n | number > 41", true),
      ("'a\\n\\'\\u00e9\\d'", "a\n'é\\d"), ("[1, 'a', [true, null]]", [1, "a", [true, nil]]), ("[]", []),
      ("  ${ 1 + 1 }  ", 2), ("'photo.JPG' matches '(?i)\\.jpe?g$'", true), ("'abc' matches 'x' + ''", false),
      ("item.media matches '^image/(png|webp)$'", true), ("item.nothing matches 'x'", false),
    ] as [(String, Value)])
  func `computes`(_ text: String, _ expected: Value) throws {
    #expect(try Expression(parsing: text).evaluate(in: sample) == expected, "\(text)")
  }

  @Test(
    arguments: [
      ("'Ärger & Café’s No. 7!' | slug", "ärger-cafés-no-7"), ("'Ab' | lower", "ab"), ("'Ab' | upper", "AB"),
      ("'  a b \\n' | trim", "a b"), ("item.url | ext", "GZ"), ("item.url | stem", "My File.tar"),
      ("item.url | basename", "My File.tar.GZ"), ("item.url | host", "example.com"), ("'x/y.z' | basename", "y.z"),
      ("'http://u:p@H:80/x' | host", "h"), ("'http://[::1]:8/x' | host", "[::1]"), ("'plain' | host", ""),
      ("item.url | path", "dir/My File.tar.GZ"), ("'../a//..b/./c' | path", "_/a/b/_/c"),
      ("7 | pad(3)", "007"), ("-7 | pad(3)", "-07"), ("'abcd' | pad(2)", "abcd"), ("'abcd' | trunc(2)", "ab"),
      ("'' | default('x')", "x"), ("null | default(3)", 3), ("0 | default(3)", 0),
      ("'a-b-c' | replace('-', '+')", "a+b+c"),
      ("'aaa' | replace('', 'x')", "aaa"), ("[1, 'b'] | join(', ')", "1, b"), ("'héé' | len", 3), ("[1,2] | len", 2),
      ("[] | first", nil), ("'abc' | sha256 | trunc(8)", "ba7816bf"),
      ("'2026-01-31' | date('%Y/%m/%d %j')", "2026/01/31 031"),
      ("'2024-12-31T23:30:00-01:00' | date('%Y-%m-%d %H:%M:%S')", "2025-01-01 00:30:00"),
      ("0 | date('%Y%m%d')", "19700101"),
      ("'1769860800' | date('%F' | replace('%F', '%Y-%m-%d'))", "2026-01-31"), ("-1 | date('%H%%')", "23%"),
      ("'42' | int", 42), ("' 4.9 ' | int", 4), ("-4.9 | int", -4), ("'2.5' | number", 2.5), ("'yes' | bool", true),
      ("0 | bool", false), ("'a b/ü' | urlencode", "a%20b%2F%C3%BC"), ("'x' | raw", "x"), ("null | upper", nil),
      ("'a' | upper | lower | pad(2)", "0a"), ("'a' + 'b' | upper", "aB"), ("('a' + 'b') | upper", "AB"),
    ] as [(String, Value)])
  func `filters`(_ text: String, _ expected: Value) throws {
    #expect(try Expression(parsing: text).evaluate(in: sample) == expected, "\(text)")
  }

  @Test(arguments: [
    ("9223372036854775807 + 1", "expression.overflow"), ("-9223372036854775807 - 2", "expression.overflow"),
    ("4611686018427387904 * 2", "expression.overflow"), ("-(-9223372036854775807 - 1)", "expression.overflow"),
    ("(-9223372036854775807 - 1) / -1", "expression.overflow"), ("1 / 0", "expression.division"),
    ("1 % 0", "expression.division"), ("1.5 / 0", "expression.division"), ("1e308 * 10", "expression.overflow"),
    ("1 + 'a'", "expression.type"), ("1 < 'a'", "expression.type"), ("1 + null", "expression.null"),
    ("not 'a'", "expression.type"), ("1 and true", "expression.type"), ("1 in 2", "expression.type"),
    ("'x' | number", "expression.convert"), ("'nan' | number", "expression.convert"),
    ("'x' | int", "expression.convert"),
    ("1e30 | int", "expression.convert"), ("'maybe' | bool", "expression.convert"),
    ("'x' | date('%Y')", "expression.convert"), ("(-9223372036854775807 - 1) | date('%Y')", "expression.convert"),
    ("'2026-02-30' | date('%Y')", "expression.convert"), ("0 | date('%Q')", "expression.format"),
    ("[1] | upper", "expression.type"), ("'a' | pad(99999)", "expression.range"),
    ("'a' | trunc(-1)", "expression.range"),
    ("'a' matches '(' + ''", "expression.pattern"), ("width", "expression.unknown"), ("1 | nope", "expression.unknown"),
  ])
  func `fails`(_ text: String, _ code: String) throws {
    let expression = try Expression(parsing: text)
    let fault = #expect(throws: Fault.self) { try expression.evaluate(in: sample) }
    #expect(fault?.code == code, "\(text)")
    #expect(fault?.kind == .permanent)
    #expect(fault?.message.contains("in `") == true)
  }

  @Test func `only true is true, null is false, everything else is a fault`() throws {
    #expect(try Expression(parsing: "item.on").isTrue(in: sample))
    #expect(try !Expression(parsing: "item.nothing").isTrue(in: sample))
    #expect(throws: Fault.self) { try Expression(parsing: "item.width").isTrue(in: sample) }
  }

  @Test func `names are listed once, in order`() throws {
    let expression = try Expression(parsing: "row.b + item.a * row.b + (vars['x y'] | default(item.c))")
    #expect(expression.references.map(\.text) == ["row.b", "item.a", "vars.x y", "item.c"])
  }

  @Test func `folding replaces what is known and leaves the rest`() throws {
    let scope = MapScope(fields: [.vars: ["n": 0, "s": "x"]])
    let folded = try Expression(parsing: "vars.n + 1 == item.width").folded(in: scope)
    #expect(folded.constant == nil)
    #expect(folded.references.map(\.text) == ["item.width"])
    #expect(try Expression(parsing: "vars.n == 0 or item.x / vars.n > 1").folded(in: scope).constant == true)
    #expect(try Expression(parsing: "vars.s | upper").folded(in: scope).constant == "X")
    #expect(try Expression(parsing: "1 + 1").constant == 2)
    #expect(throws: Fault.self) { try Expression(parsing: "1 / vars.n + item.x").folded(in: scope) }
    let guarded = try Expression(parsing: "item.on or 1 / vars.n > 2").folded(in: scope)
    #expect(guarded.references.map(\.text) == ["item.on"])
    #expect(try guarded.isTrue(in: MapScope(fields: [.item: ["on": true]])))
    #expect(throws: Fault.self) { try guarded.isTrue(in: MapScope(fields: [.item: ["on": false]])) }
  }
}
