import FlowBase
import FlowTesting
import ImgFlow
import Testing

/// Two pictures, or what passes for them.
private let server = Result {
  try LoopbackServer(script: ["/ace.png": [.ok("ace")], "/king.png": [.ok("king")]])
}
private var address: String { (try? server.get().url) ?? "" }

/// The example, with the server's address in place of the real one.
private enum Example {
  // example: begin
  struct Cards: URLBuildable {
    func buildURLs() -> [String] { ["ace", "king"].map { "\(address)/\($0).png" } }
  }

  static func run(_ folder: String, print: (String, ItemStatus) -> Void) async throws {
    let plan = try PlanBuilder("cards", folder: folder, allowsPrivate: true)
      .source(Cards())
      .stage("fetch", concurrency: 7)
      .stage("store", ["path": "cards/${item.name}"])
      .output("out")
      .build()
    let runner = Runner(plan)
    for await event in runner.start() {
      if case .itemEnd(let end) = event.payload { print(event.subject?.item ?? "", end.status) }
    }
  }
  // example: end
}

@Suite struct ExampleTests {
  @Test func `The example fetches its cards and says how each ended`() async throws {
    let place = try TempPlace()
    var lines: [String] = []
    try await Example.run(place.path) { lines.append("\($1) \($0.prefix(6))") }
    #expect(lines.sorted() == ["ok cards/", "ok cards/"])
    #expect(try SmallFiles.read(place.file("out/cards/ace.png")) == Array("ace".utf8))
    #expect(try SmallFiles.read(place.file("out/cards/king.png")) == Array("king".utf8))
  }

  @Test func `The example that is printed is the one that is tested`() throws {
    let printed = try text("examples/swift/cards.swift")
    let tested = try text("Tests/ImgFlowTests/ExampleTests.swift")
    #expect(code(printed) == code(excerpt(of: tested)))
    for block in swiftBlocks(try? text("README.md")) where block.contains("PlanBuilder(") {
      #expect(code(block) == code(printed))
    }
  }

  private func text(_ path: String) throws -> String {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    return String(decoding: try SmallFiles.read("/\(root)/\(path)"), as: UTF8.self)
  }

  private func excerpt(of source: String) -> String {
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    guard let start = lines.firstIndex(where: { $0.hasSuffix("// example: begin") }),
      let end = lines.firstIndex(where: { $0.hasSuffix("// example: end") })
    else { return "" }
    return lines[lines.index(after: start)..<end].joined(separator: "\n")
  }

  /// The lines of code without indentation, comments, imports and what the test has to put around them.
  private func code(_ source: String) -> [String] {
    let lines = source.split(separator: "\n").map { line in
      String(line.drop { $0 == " " }).cut(behind: "  //")
        .replacing("\\(address)", with: "https://example.com")
        .replacing(", folder: folder, allowsPrivate: true", with: "")
    }
    return lines.filter { $0 != "}" && !$0.isEmpty && !$0.hasPrefix("import ") && !$0.hasPrefix("static func run(") }
  }

  private func swiftBlocks(_ text: String?) -> [String] {
    var blocks: [String] = []
    var isInside = false
    for line in (text ?? "").split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        isInside = line.hasPrefix("```swift")
        if isInside { blocks.append("") }
      } else if isInside, let last = blocks.indices.last {
        blocks[last] += line + "\n"
      }
    }
    return blocks
  }
}

extension String {
  fileprivate func cut(behind mark: String) -> String {
    var text = firstRange(of: mark).map { String(self[..<$0.lowerBound]) } ?? self
    while text.last == " " { text.removeLast() }
    return text
  }
}
