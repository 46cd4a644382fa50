import FlowBase
import FlowExpressions
import FlowParts
import Testing

@testable import FlowBuiltins

struct GlobPatternTests {
  static let paths: [(glob: String, path: String, isMeant: Bool)] = [
    ("*", "a.png", true), ("*", "d/a.png", false), ("*", ".hidden", false), (".*", ".hidden", true),
    ("*.png", "a.png", true), ("*.png", "a.jpg", false), ("*.{png,jpg}", "a.jpg", true),
    ("*.{png,jpg}", "a.gif", false),
    ("**", "a", true), ("**", "d/e/a", true), ("**/*.png", "a.png", true), ("**/*.png", "d/e/a.png", true),
    ("**/*.png", "d/.h/a.png", false), ("d/**/a", "d/a", true), ("d/**/a", "d/x/y/a", true), ("d/**/a", "e/a", false),
    ("d/*/a", "d/x/a", true), ("d/*/a", "d/a", false), ("?.png", "é.png", true), ("?.png", "ab.png", false),
    ("[a-c]x", "bx", true), ("[!a-c]x", "bx", false), ("[^a-c]x", "dx", true), ("[]]x", "]x", true),
    ("[a-]", "-", true),
    ("{a,b/{c,d}}", "b/d", true), ("{a,b/{c,d}}", "a", true), ("{a,b/{c,d}}", "b/e", false), ("\\*", "*", true),
    ("\\*", "a", false), ("./a", "a", true), ("a*b*c", "axxbyyc", true), ("a*b*c", "axxbyy", false),
    ("{,x}a", "a", true),
    ("**/**/a", "a", true), ("a{1,2}{3,4}", "a14", true),
  ]

  @Test(arguments: paths) func `a pattern means the paths that it should`(glob: String, path: String, isMeant: Bool)
    throws
  {
    let pattern = try #require(GlobPattern(glob))
    var progress = pattern.start
    let names = path.split(separator: "/").map(String.init)
    for (place, name) in names.enumerated() {
      progress = pattern.advance(progress, by: name)
      if place < names.count - 1 && isMeant { #expect(progress.canContinue) }
    }
    #expect(progress.isComplete == isMeant)
  }

  @Test(arguments: ["", "/a", "../a", "a/../b", "[a", "{a", "a}", "[b-a]", "a//b", "a\\"])
  func `what is no pattern is refused`(glob: String) { #expect(GlobPattern(glob) == nil) }

  @Test func `hostile patterns end`() throws {
    let pattern = try #require(GlobPattern(String(repeating: "*a", count: 50) + "b"))
    #expect(!pattern.advance(pattern.start, by: String(repeating: "a", count: 255)).isComplete)
    #expect(GlobPattern(String(repeating: "{a,b}", count: 20)) == nil)
  }
}

struct DirectorySourceTests {
  private func read(_ glob: String?, _ files: [String], key: String? = nil) async throws -> [SourceItem] {
    let folder = try freshFolder()
    for file in files {
      try FileSystem.makeDirectories(PathText.parent(of: folder + "/pics/" + file))
      try FileSystem.replace(folder + "/pics/" + file, with: [1, 2, 3])
    }
    try? FileSystem.makeLink(folder + "/pics/link.png", to: "b.png")
    try? FileSystem.makeLink(folder + "/pics/loop", to: ".")
    var entries: [Config.Entry] = [.init("path", .value("pics"))]
    if let glob { entries.append(.init("glob", .value(.string(glob)))) }
    if let key { entries.append(try template("key", key, .string)) }
    let found = try await items(DirectorySource.part, entries, in: folder)
    for item in found { #expect(item.path == folder + "/pics/" + (item.row["path"]?.text ?? "")) }
    return found
  }

  private let files = ["b.png", "a.jpg", "d/z.png", "d/e/y.png", "c.tar.gz", ".hidden", "d/.git/x.png"]

  @Test func `files of the folder come in the order of their names`() async throws {
    let found = try await read(nil, files)
    #expect(found.map { $0.row["path"] } == ["a.jpg", "b.png", "c.tar.gz", "link.png"])
    #expect(found[2].row == ["path": "c.tar.gz", "name": "c.tar.gz", "stem": "c.tar", "ext": "gz", "size": 3])
    #expect(found.allSatisfy { $0.url == nil && $0.key == nil && $0.fault == nil })
  }

  @Test func `folders below are walked where the pattern leads there`() async throws {
    #expect(try await read("**/*.png", files).map { $0.row["path"] } == ["b.png", "d/e/y.png", "d/z.png", "link.png"])
    #expect(try await read("d/*", files).map { $0.row["path"] } == ["d/z.png"])
    #expect(try await read("{a,c}*", files, key: "${row.stem}-${row.size}").map(\.key) == ["a-3", "c.tar-3"])
  }

  @Test func `a folder that is not there, and a pattern that is none, are told`() async throws {
    let missing = await #expect(throws: Fault.self) {
      _ = try await items(DirectorySource.part, [.init("path", .value("none"))])
    }
    #expect(missing?.message == "cannot read the folder none: No such file or directory")
    let broken = await #expect(throws: Fault.self) {
      _ = try await items(DirectorySource.part, [.init("path", .value("/tmp")), .init("glob", .value("[a"))])
    }
    #expect(broken?.code == "source.glob")
  }
}
