internal import FlowBase
internal import FlowStore

/// The report of a run that is under way, again and again until the run is over.
struct StatusWatch {
  private let arguments: ParsedArguments
  private let console: Console
  private static let span = Interval.seconds(1)

  init(_ arguments: ParsedArguments, _ console: Console) {
    self.arguments = arguments
    self.console = console
  }

  /// Shows the run until it is over, and gives the exit code.
  func run(_ first: RunLookup.Found) async throws -> Int {
    var entry = first
    var shown = ""
    var rows = 0
    while true {
      let report = try StatusReport(entry)
      let text = arguments.has("json") ? report.json : report.text
      if text != shown {
        rows = draw(text, over: rows)
        shown = text
      }
      guard entry.isUnderWay else { return 0 }
      try await Task.sleep(nanoseconds: UInt64(StatusWatch.span.nanoseconds))
      entry = try RunLookup(arguments).renewed(entry)
    }
  }

  /// Writes the report, on a terminal in the place of the one before; gives the rows that it takes.
  private func draw(_ text: String, over rows: Int) -> Int {
    guard console.outputIsTerminal, !arguments.has("json") else {
      console.write(text)
      return 0
    }
    let window = StandardStream.output.window ?? (80, 24)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .prefix(max(1, window.rows - 1))
      .map { TextWidth.cut(TextWidth.printable(String($0)), to: max(1, window.columns - 1)) }
    let erasure = rows == 0 ? "" : "\u{1B}[\(rows)A\r\u{1B}[J"
    console.write(erasure + lines.map { $0 + "\n" }.joined())
    return lines.count
  }
}
