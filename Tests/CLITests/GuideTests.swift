import FlowBase
import FlowTesting
import Testing

/// The commands of the guide, run as they stand there.
@Suite struct GuideTests {
  /// What a page writes down and runs, in its order.
  private enum Step {
    case file(String, String)
    case run(String)
  }

  private static let folder = PathText.currentFolder + "/docs/guide/"

  private static func steps(of page: String) throws -> [Step] {
    var steps: [Step] = []
    var file: String?
    var runs = false
    var block: [Substring]?
    let text = String(decoding: try SmallFiles.read(folder + page), as: UTF8.self)
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if let lines = block {
        guard line == "```" else {
          block = lines + [line]
          continue
        }
        let body = lines.joined(separator: "\n") + "\n"
        if let name = file { steps.append(.file(name, body)) }
        if runs { steps.append(.run(body)) }
        (block, file, runs) = (nil, nil, false)
      } else if line.hasPrefix("<!-- file: ") {
        file = String(line.dropFirst("<!-- file: ".count).prefix { $0 != " " })
      } else if line == "<!-- runs -->" {
        runs = true
      } else if line.hasPrefix("```") {
        block = []
      }
    }
    return steps
  }

  @Test(arguments: ["ci.md", "dashboard.md", "plugins.md", "scripts.md"])
  func `the commands of a page do what it says`(page: String) async throws { try await run(page) }

  @Test(.enabled(if: Python.isThere, "`tools/python-checks` has made no Python environment"))
  func `the receiver of the page on ingest jobs takes everything`() async throws { try await run("ingest.md") }

  private func run(_ page: String) async throws {
    let work = try Workplace { request in
      request.path.hasPrefix("/cards/") ? .ok(Painter.card(request.path), type: "image/png") : .status(404)
    }
    var shell = work.tool
    shell.program = ["/bin/bash"]
    shell.environment["GALLERY"] = work.server.url
    shell.environment["PATH"] = "\(PathText.parent(of: Tool.path)):\(Python.folder):/usr/bin:/bin"
    var ran = 0
    for step in try Self.steps(of: page) {
      switch step {
      case .file(let name, let text): try work.write(name, text)
      case .run(let commands):
        let end = try await shell.start(["-e", "-c", commands]).end()
        #expect(end.code == 0, "\(page): \(commands)\n\(end.output)\n\(end.errors)")
        ran += 1
      }
    }
    #expect(ran >= 2)
  }
}
