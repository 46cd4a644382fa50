import FlowBase
import FlowTesting

/// The public libraries in Python that some output is held against.
enum Python {
  /// The folder of the programs.
  static let folder = PathText.currentFolder + "/.build/python/bin"
  private static let path = folder + "/python"

  static var isThere: Bool { SmallFiles.exists(path) }

  /// Runs a script of the fixtures, fed with a file.
  static func run(_ script: String, _ words: [String] = [], input: String, in work: Workplace) async throws -> ToolEnd {
    var tool = work.tool
    tool.program = [path, PathText.currentFolder + "/Tests/Fixtures/python/\(script)"]
    tool.input = .file(work.place.file(input))
    return try await tool.start(words).end()
  }
}
