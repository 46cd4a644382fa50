import FlowBase
import Testing

/// A text that is kept in Tests/Fixtures and compared with what the program says now.
///
/// With UPDATE_SNAPSHOTS=1 in the environment the files are written anew, to be looked at in the diff.
func expectSnapshot(
  _ text: String, _ name: String, file: String = #filePath, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let parts = file.split(separator: "/", omittingEmptySubsequences: false)
  let tests = try #require(parts.lastIndex(of: "Tests"))
  let path = parts[...tests].joined(separator: "/") + "/Fixtures/\(name)"
  if ProcessFacts.environment["UPDATE_SNAPSHOTS"] == "1" {
    try SmallFiles.makeFolder(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]))
    try SmallFiles.replace(path, Array(text.utf8))
  }
  let kept = String(decoding: try SmallFiles.read(path), as: UTF8.self)
  #expect(
    text == kept, "Tests/Fixtures/\(name) differs; UPDATE_SNAPSHOTS=1 writes it anew", sourceLocation: sourceLocation)
}
