import FlowBase
import FlowCLI

/// A console that keeps what is written to it.
struct CapturedConsole {
  private let written = Guarded<(output: [UInt8], errors: [UInt8])>(([], []))
  var input = ""
  var environment: [String: String] = [:]

  var output: String { String(decoding: written.withLock { $0.output }, as: UTF8.self) }
  var errors: String { String(decoding: written.withLock { $0.errors }, as: UTF8.self) }

  var console: Console {
    let written = written
    let input = Array(input.utf8)
    return Console(
      output: { bytes in written.withLock { $0.output += bytes } },
      errors: { bytes in written.withLock { $0.errors += bytes } },
      input: { () throws(Fault) in input }, environment: environment)
  }

  /// Runs a command line and gives its exit code.
  func run(_ words: String...) async -> Int { await CommandLineTool(console: console).run(words) }
}
