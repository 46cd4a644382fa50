import FlowBase
import FlowTesting
import Testing

/// Runs over a part of the items.
@Suite struct PartialRunTests {
  @Test func `What takes no part is neither removed nor taken out of tables`() async throws {
    let work = try Workplace()
    try work.manifest(
      ["/small/a", "/small/b", "/small/c"], more: "  - report: { path: all.csv, columns: [key] }")
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    let files = work.files()
    let table = try work.read("out/all.csv")
    #expect(files.count == 4 && table.split(whereSeparator: \.isNewline).count == 4)
    let end = try await work.tool.run("run", "m.yaml", "--take", "1", "--prune")
    expectEnd(end, 0)
    #expect(work.files() == files && end.output.contains("nothing was removed"))
    #expect(try work.read("out/all.csv") == table)
  }

  @Test func `Several sources may be named, and none that is not there`() async throws {
    let work = try Workplace()
    let sources = ["a", "b", "c"].map { "  - { id: \($0), urls: [\"\(work.server.url)/small/\($0)\"] }" }
    try work.write(
      "m.yaml",
      "imgflow: 1\nsources:\n\(sources.joined(separator: "\n"))\nstages: [fetch, { store: \"${item.source}.bin\" }]\n")
    expectEnd(try await work.tool.run("run", "m.yaml", "--only", "a", "--only", "c"), 0)
    #expect(work.files() == ["a.bin", "c.bin"])
    let wrong = try await work.tool.run("run", "m.yaml", "--only", "a", "--only", "d")
    #expect(wrong.code == 2 && wrong.errors.contains("there is no source `d`"))
  }
}
