import FlowBase
import FlowParts
import Testing

@Suite struct AxesTests {
  private func rows(_ axes: Axes) -> [String] {
    axes.map { row in row.values.map(\.text).joined(separator: " ") }
  }

  @Test(
    arguments: [
      ("1..4", [1, 2, 3, 4]), ("4..1", [4, 3, 2, 1]), ("1..10 step 4", [1, 5, 9]), ("10..1 step 4", [10, 6, 2]),
      ("10..1 step -4", [10, 6, 2]),
      ("-2..1", [-2, -1, 0, 1]), ("5..5", [5]), (" 1 .. 3 ", [1, 2, 3]), ("0..2", [0, 1, 2]),
      ("008..011", ["008", "009", "010", "011"]),
      ("1..010 step 5", ["001", "006"]), ("11..09", ["11", "10", "09"]),
      ("2024-02-28..2024-03-01", ["2024-02-28", "2024-02-29", "2024-03-01"]),
      ("2026-01-02..2025-12-31", ["2026-01-02", "2026-01-01", "2025-12-31"]),
      ("2026-01-01..2026-01-20 step 7", ["2026-01-01", "2026-01-08", "2026-01-15"]),
    ] as [(String, [Value])])
  func `ranges`(_ text: String, _ expected: [Value]) throws {
    let range = try AxisRange(parsing: text)
    #expect(range.count == expected.count)
    #expect((0..<range.count).map(range.value) == expected)
    #expect(range.value(at: range.count) == .null)
    #expect(range.value(at: -1) == .null)
  }

  @Test(arguments: [
    "1..", "..4", "1..x", "1...4", "1..4 step 0", "1..4 step -1", "1..4 step", "1..4 step x", "1..4 step 2 3", "-01..5",
    "-9223372036854775808..9223372036854775807", "0..9223372036854775807", "1..99999999999999999999",
    "2026-02-30..2026-03-01", "2026-01-01..5", "1..+4",
  ])
  func `ranges that are none are refused`(_ text: String) {
    #expect(AxisRange.isMeant(by: text))
    #expect(throws: AxesProblem.self) { try AxisRange(parsing: text) }
  }

  @Test func `the first name is the slowest`() throws {
    let axes = try Axes(loop: ["slot": ["hero", "side"], "n": "1..3"])
    #expect(rows(axes) == ["hero 1", "hero 2", "hero 3", "side 1", "side 2", "side 3"])
    #expect(axes.count == 6)
    #expect(axes.names == ["slot", "n"])
  }

  @Test func `zip walks side by side, and wants equal lengths`() throws {
    #expect(rows(try Axes(loop: ["a": ["x", "y", "z"], "n": "3..1"], zip: true)) == ["x 3", "y 2", "z 1"])
    let problem = #expect(throws: AxesProblem.self) { try Axes(loop: ["a": ["x"], "n": "1..3"], zip: true) }
    #expect(problem?.message.contains("a has 1, n has 3") == true)
  }

  @Test func `exclusions leave out, inclusions add at the end`() throws {
    let axes = try Axes(matrix: [
      "w": [64, 256], "fmt": ["webp", "jpeg"], "exclude": [.map(["w": 64, "fmt": "jpeg"])],
      "include": [.map(["w": 1, "fmt": "png"])],
    ])
    #expect(rows(axes) == ["64 webp", "256 webp", "256 jpeg", "1 png"])
    #expect(axes.count == 4)
    #expect(rows(try Axes(loop: ["n": "001..003"], exclude: [["n": 2]])) == ["001", "003"])
    #expect(rows(try Axes(loop: ["n": "1..3"], exclude: [["n": 2.0]], include: [["m": "x"]])) == ["1 ", "3 ", " x"])
  }

  @Test func `counts are exact under overlapping exclusions`() throws {
    let exclude: [Fields] = [["a": 1], ["b": 2], ["a": 1, "c": 3], ["a": 2, "b": 2], ["c": 9], ["a": 1, "b": 1]]
    let axes = try Axes(loop: ["a": "1..4", "b": "1..3", "c": [1, 3, 3]], exclude: exclude)
    #expect(axes.count == Array(axes).count)
    let zipped = try Axes(loop: ["a": "1..4", "b": "4..1"], zip: true, exclude: [["a": 2], ["b": 2]])
    #expect(zipped.count == 2)
    #expect(rows(zipped) == ["1 4", "4 1"])
  }

  @Test func `huge products cost nothing and are counted`() throws {
    let axes = try Axes(loop: ["a": "1..1000000000", "b": "1..1000000000"])
    #expect(axes.count == 1_000_000_000_000_000_000)
    #expect(axes.prefix(2).map { $0["b"] } == [1, 2])
    #expect(throws: AxesProblem.self) { try Axes(loop: ["a": "1..10000000000", "b": "1..10000000000"]) }
    #expect(try Axes(loop: ["a": "1..10", "b": "1..9000000000000000000", "c": []]).count == 0)
  }

  @Test func `exclusions of huge parts are skipped, not walked through`() throws {
    let loop: Fields = ["a": "1..3", "b": "1..1000000000", "c": ["x", "y"]]
    let axes = try Axes(loop: loop, exclude: [["a": 1], ["a": 2, "c": "x"], ["a": 2, "c": "y"]])
    #expect(axes.count == 2_000_000_000)
    let all = try Axes(loop: ["b": "1..1000000000", "c": ["x", "y"]], exclude: [["c": "x"], ["c": "y"]])
    #expect(all.count == 0)
    #expect(rows(all) == [])
    let huge = try Axes(
      loop: ["a": "1..9000000000000000000", "c": ["x"]], exclude: [["c": "x"], ["c": "x"], ["c": "x"]])
    #expect(huge.count == 0)
    let first = try Axes(loop: loop, exclude: [["a": 1], ["a": 2]]).first { _ in true }
    #expect(first == ["a": 3, "b": 1, "c": "x"])
  }

  @Test func `what is empty makes nothing`() throws {
    #expect(rows(try Axes(loop: ["a": [], "b": "1..3"])) == [])
    #expect(rows(try Axes([])) == [])
    #expect(rows(try Axes(loop: [:], include: [["a": 1]])) == ["1"])
  }

  @Test func `a single value is a list of one`() throws {
    #expect(rows(try Axes(loop: ["a": "hero", "b": 3, "c": true])) == ["hero 3 true"])
    #expect(rows(try Axes(loop: ["a": "v1..2"])) == ["v1..2"])
  }

  @Test func `slips are answered`() throws {
    let problem = #expect(throws: AxesProblem.self) { try Axes(loop: ["width": [1]], exclude: [["widht": 1]]) }
    #expect(problem?.hint == "did you mean `width`?")
    #expect(throws: AxesProblem.self) { try Axes(loop: ["a": [1]], exclude: [[:]]) }
    #expect(throws: AxesProblem.self) { try Axes(loop: ["a": .map([:])]) }
    #expect(throws: AxesProblem.self) { try Axes(matrix: ["a": [1], "exclude": 3]) }
    #expect(throws: AxesProblem.self) { try Axes(matrix: ["a": [1], "zip": 3]) }
  }
}
