import FlowBase
import FlowTesting
import Testing

/// What the program grew from, as far as pictures go, and where each of it shows.
///
/// A row names its idea, the example that is it, and the tests that hold it.
@Suite struct PictureIdeasTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var idea: String
    var example: String?
    var tests: [(file: String, name: String)] = []
    var testDescription: String { idea }
  }

  static let rows = [
    // Two queues: download, then filter.
    Row(
      idea: "a download queue, then a filter queue that starts when the first has emptied",
      example: "examples/monochrome.yaml",
      tests: [
        (
          "CLITests/IdeasTests.swift",
          "a second queue starts when the first has emptied, and a failed download never reaches it"
        ),
        ("FlowGraphTests/GateTests.swift", "Nothing goes through a gate before the last item has passed the stage"),
      ]),
    Row(
      idea: "the same as a pipeline, where each picture is filtered as soon as it is there",
      example: "examples/monochrome-pipelined.yaml"),
    Row(
      idea: "a filter in the shades of one grey, at full intensity",
      tests: [("FlowImageTests/MonochromeTests.swift", "each pixel is what was computed by hand")]),
    Row(
      idea: "a notice at the end of each queue, after the last of its operations",
      tests: [("CLITests/PictureIdeasTests.swift", "each queue tells its begin and its end, with what came of it")]),
    Row(
      idea: "what has ended, also by being cancelled, is in no table of what is under way",
      tests: [
        ("FlowRunTests/ControlTests.swift", "A cancelled run tells the end of every item that had begun"),
        ("CLITests/ControlTests.swift", "one item is cancelled, and the others arrive"),
      ]),
    // A group of tasks for each item that depend on one another.
    Row(
      idea: "load, decompress, tilt-shift with rounded corners, hand over: in order, for each row",
      example: "examples/tilt-shift.yaml",
      tests: [
        ("FlowImageTests/MaskTests.swift", "the band stays as it is, to the pixel"),
        ("FlowImageTests/MaskTests.swift", "corners become transparent and nothing else does"),
        ("CLITests/PictureTests.swift", "the same pictures give the same bytes at any concurrency"),
      ]),
    Row(
      idea: "tasks that are synchronous and tasks that are not, in one group",
      tests: [("CLITests/PictureTests.swift", "a chain of stages makes pictures, with the right names and facts")]),
    Row(
      idea: "the whole group of one item is cancelled at any point, and the others go on",
      tests: [("FlowRunTests/ControlTests.swift", "One item is cancelled while the others go on")]),
    Row(
      idea: "to start what has been started does nothing",
      tests: [("CLITests/IdeasTests.swift", "equal items are fetched once, and each gets its file")]),
    Row(
      idea: "a network simulator in place of a slow network",
      tests: [
        ("CLITests/IdeasTests.swift", "progress rises to 1 for each item, with its place, the total and its address")
      ]),
  ]

  @Test(arguments: rows)
  func `each idea has its example or its test`(row: Row) throws {
    let file = PathText.absolute("\(#filePath)", from: "/")
    let root = PathText.parent(of: PathText.parent(of: PathText.parent(of: file)))
    #expect(row.example != nil || !row.tests.isEmpty)
    if let example = row.example {
      #expect(SmallFiles.exists(PathText.join(root, example)))
      // Examples run whole in the checks.
      let name = String(PathText.name(of: example).dropLast(".yaml".count))
      let checks = try SmallFiles.read(PathText.join(root, "tools/check-examples"))
      #expect(String(decoding: checks, as: UTF8.self).contains("\"\(name) "))
    }
    for test in row.tests {
      let text = String(decoding: try SmallFiles.read(PathText.join(root, "Tests/" + test.file)), as: UTF8.self)
      #expect(text.contains("func `\(test.name)`"), "\(test.file) has no such test")
    }
  }

  @Test func `each queue tells its begin and its end, with what came of it`() async throws {
    let photo = Painter.photo("one")
    let work = try Workplace { request in
      request.path.hasPrefix("/photo") ? .ok(photo) : .status(404)
    }
    try work.manifest(
      ["/photo1", "/photo2", "/gone", "/photo3"],
      fetch: "fetch\n  - monochrome: { color: \"#a6a6a6\", intensity: 1.0 }\n    after: fetch", path: "${item.key}.png")
    let end = try await work.tool.run("run", "m.yaml", "--json")
    expectEnd(end, 1)
    let told = end.stream.lines.compactMap { line -> String? in
      guard let map = line.asMap, let type = map["type"]?.asString, type.hasPrefix("stage.") else { return nil }
      return "\(type) \(map["data"]?.asMap?["stage"]?.asString ?? "")"
    }
    let order = ["stage.start fetch", "stage.end fetch", "stage.start monochrome", "stage.end monochrome"]
    #expect(told.filter(order.contains) == order)
    let ends = Dictionary(
      uniqueKeysWithValues: end.stream.all("stage.end").compactMap { data in data["stage"]?.asString.map { ($0, data) }
      })
    #expect(ends["fetch"]?["ok"] == 3 && ends["fetch"]?["failed"] == 1)
    #expect(ends["monochrome"]?["ok"] == 3 && ends["monochrome"]?["failed"] == 0)
    #expect(work.files() == ["photo1.png", "photo2.png", "photo3.png"])
  }
}
