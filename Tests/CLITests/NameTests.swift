import FlowBase
import FlowTesting
import Testing

/// Names that would lead somewhere else, and links that do.
@Suite(.serialized) struct NameTests {
  private func work(_ names: [String]) throws -> Workplace {
    let work = try Workplace()
    var table = "name,url\r\n"
    for (place, name) in names.enumerated() {
      table += "\"\(name.replacing("\"", with: "\"\""))\",\(work.server.url)/small/\(place)\r\n"
    }
    try work.write("names.csv", table)
    try work.write(
      "m.yaml",
      """
      imgflow: 1
      output: { dir: ./out }
      hosts: { 127.0.0.1: { allow: true } }
      sources: [{ file: { path: names.csv, url: "${row.url}", key: "${row.url | stem}" } }]
      stages: [fetch, { store: "${row.name}.bin" }]
      """)
    return work
  }

  @Test func `hostile names stay below the folder, each the same in every run`() async throws {
    let long = String(repeating: "é", count: 400)
    let names = ["../../evil", "/etc/evil", "a\\b", "..", ".hidden", "new\nline", "\u{202E}flip", long, "CON", "-rf"]
    let work = try work(names)
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    let files = work.files()
    #expect(files.count == names.count)
    #expect(files.allSatisfy { !$0.contains("/") && !$0.hasPrefix(".") && $0.utf8.count <= 255 })
    let others = work.files(".").filter { !$0.hasPrefix("out/") && !$0.hasPrefix(".imgflow/") }
    #expect(others == ["m.yaml", "names.csv"])
    try FileSystem.removeTree(work.place.file("out"))
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    #expect(work.files() == files)
  }

  @Test(arguments: [["a", "A"], ["\u{e9}", "e\u{301}"], ["x/y", "xy"], ["same", "same"]])
  func `two items that want one path, also on another file system, are an error of one`(names: [String]) async throws {
    let work = try work(names)
    let end = try await work.tool.run("run", "m.yaml")
    expectEnd(end, 1)
    #expect(end.stream.items("ok").count == 1 && end.stream.items("failed").count == 1)
    #expect(end.output.contains("path.collision"))
    #expect(work.files().count == 1)
  }

  @Test func `links in the way are replaced or refused, and what they lead to is untouched`() async throws {
    let work = try Workplace()
    try SmallFiles.makeFolder(work.place.file("out/small"))
    try SmallFiles.makeFolder(work.place.file("elsewhere"))
    try work.write("treasure", "gold")
    try FileSystem.makeLink(work.place.file("out/small/a.bin"), to: work.place.file("treasure"))
    try work.manifest(["/small/a"], path: "small/a.bin")
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    #expect(try work.read("treasure") == "gold")
    #expect(try SmallFiles.read(work.place.file("out/small/a.bin")) == Workplace.body("/small/a"))
    // A folder that is a link is not gone through.
    try FileSystem.removeTree(work.place.file("out/small"))
    try FileSystem.makeLink(work.place.file("out/small"), to: work.place.file("elsewhere"))
    let refused = try await work.tool.run("run", "m.yaml")
    expectEnd(refused, 1)
    #expect(refused.output.contains("path.escapes"))
    #expect(work.files("elsewhere") == [])
  }
}
