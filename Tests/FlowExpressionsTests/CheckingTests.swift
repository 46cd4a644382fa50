import FlowBase
import FlowExpressions
import Testing

@Suite struct Checking {
  static let table = TypeTable(types: [
    "item.width": .integer, "item.ratio": .number, "item.name": .string, "item.alpha": .bool,
    "item.tags": .list(.string),
    "row.weight": .string, "row.*": .any, "vars.sizes": .list(.integer), "item.meta": .map, "for.any": .any,
  ])

  @Test(
    arguments: [
      ("item.width", .integer), ("item.width + 1", .integer), ("item.width / 2", .number), ("item.ratio * 2", .number),
      ("-item.width", .integer), ("item.name + 'x'", .string), ("item.width > 1.5 and not item.alpha", .bool),
      ("item.width ?? 0", .integer), ("null ?? item.name", .string), ("vars.sizes[0]", .integer),
      ("item.tags | first", .string),
      ("item.tags | join(',')", .string), ("row.weight | number", .number), ("row.weight | int", .integer),
      ("[1, 2.5]", .list(.number)),
      ("item.name in item.tags", .bool), ("64 in vars.sizes", .bool), ("item.width | pad(4)", .string),
      ("item.name | raw", .string),
      ("item.name | default('x')", .string), ("for.any + 1", .number), ("for.any + 'x'", .any),
      ("item.name == null", .bool),
      ("'a' in item.meta", .bool), ("item.meta | len", .integer), ("for.any.x", .any),
    ] as [(String, ValueType)])
  func `finds types`(_ text: String, _ type: ValueType) throws {
    let result = try Expression(parsing: text).check(in: Checking.table)
    #expect(result.problems.filter { $0.code != "E0214" } == [])
    #expect(result.type == type, "\(text)")
  }

  @Test(
    arguments: [
      ("item.hight > 1", ["E0214@0+10"]), ("width > 1", ["E0210@0+5"]), ("itm.width > 1", ["E0210@0+3"]),
      ("item.name | slgu", ["E0215@12+4"]), ("item.name | pad", ["E0216@0+15"]),
      ("item.name | pad('3')", ["E0217@16+3"]),
      ("item.name | upper(1, 2)", ["E0216@0+23"]), ("row.weight > 0", ["E0220@0+14"]),
      ("0 == row.weight", ["E0220@0+15"]),
      ("row.weight in vars.sizes", ["E0220@0+24"]), ("item.alpha == 'yes'", ["E0221@0+19"]),
      ("item.name == true", ["E0221@0+17"]),
      ("item.tags > 1", ["E0222@0+9"]), ("item.name and item.width", ["E0222@0+9", "E0222@14+10"]),
      ("not item.name", ["E0222@4+9"]),
      ("item.width matches 'x'", ["E0222@0+10"]), ("item.name * 2", ["E0222@0+9"]), ("item.name + 2", ["E0220@0+13"]),
      ("item.tags | upper", ["E0222@0+9"]), ("item.name | join(',')", ["E0222@0+9"]), ("-item.name", ["E0222@1+9"]),
      ("1 in item.width", ["E0222@5+10"]),
      ("row.weight > 0 and nope | huh", ["E0220@0+14", "E0210@19+4", "E0215@26+3"]),
    ] as [(String, [String])])
  func `finds all mistakes, with their places`(_ text: String, _ expected: [String]) throws {
    let problems = try Expression(parsing: text).check(in: Checking.table).problems
    #expect(problems.map { "\($0.code)@\($0.offset)+\($0.length)" } == expected, "\(text)")
  }

  @Test(arguments: [
    ("width > 1", "did you mean `item.width`?"), ("itme.width > 1", "did you mean `item`?"),
    ("item.name == products", "a field is written `item.products`, a text `'products'`"),
    ("item.name | slgu", "did you mean `slug`?"),
    ("row.weight > 0", "declare `types: { weight: number }` on the source, or write `row.weight | number`"),
    ("item.name == 3", "write `item.name | number`, or give it the type with `types:` where it is declared"),
    ("item.width == '3'", "write `3` without quotes"),
    ("item.name | replace('a')", "it is written `replace(old, new)`"),
  ])
  func `says what to do`(_ text: String, _ hint: String) throws {
    #expect(try Expression(parsing: text).check(in: Checking.table).problems.first?.hint == hint)
  }

  @Test func `places in templates count from the text's beginning`() throws {
    let (type, problems) = try Template(parsing: "é/${item.nope}/${row.weight > 1}").check(in: Checking.table)
    #expect(type == .string)
    #expect(problems.map { "\($0.code)@\($0.offset)+\($0.length)" } == ["E0214@4+9", "E0220@17+14"])
    #expect(try Template(parsing: "${item.width}").check(in: Checking.table).type == .integer)
    #expect(try Template(parsing: "${item.width}", style: .path).check(in: Checking.table).type == .string)
  }

  @Test func `conditions must be true or false`() throws {
    #expect(try Expression(parsing: "item.width").checkCondition(in: Checking.table).map(\.code) == ["E0223"])
    #expect(try Expression(parsing: "item.alpha").checkCondition(in: Checking.table).isEmpty)
    #expect(try Expression(parsing: "for.any").checkCondition(in: Checking.table).isEmpty)
  }
}
