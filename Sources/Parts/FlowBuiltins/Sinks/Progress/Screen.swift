internal import FlowBase

/// What progress is drawn on.
struct Screen: Sendable {
  /// Whether lines can be drawn over.
  var isTerminal: Bool
  var hasColor: Bool
  /// The window's columns and rows, asked each time, so that a changed window is noticed.
  var size: @Sendable () -> (columns: Int, rows: Int)
  var write: @Sendable (String) -> Void

  /// Standard error.
  static var standardError: Screen {
    let stream = StandardStream.errors
    let isTerminal = stream.isTerminal && ProcessFacts.environment["TERM"] != "dumb"
    return Screen(
      isTerminal: isTerminal, hasColor: isTerminal && Paint.isWanted,
      size: { stream.window ?? (80, 24) },
      write: { stream.write($0) })
  }
}

/// Lines on a terminal that are drawn again in place.
struct LiveLines {
  /// The widths of the lines that stand there.
  private var drawn: [Int] = []

  /// The text that puts these lines where the ones before stand.
  mutating func redraw(_ lines: [String], columns: Int) -> String {
    let text = erase(columns: columns) + lines.map { $0 + "\n" }.joined()
    drawn = lines.map { TextWidth.columns(of: LiveLines.bare($0)) }
    return text
  }

  /// The text that takes the lines away.
  mutating func erase(columns: Int) -> String {
    // A window that has become narrower has wrapped the lines that stand there.
    let rows = drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / max(1, columns)) }
    drawn = []
    return rows == 0 ? "" : "\u{1B}[\(rows)A\r\u{1B}[J"
  }

  /// A line without its colours.
  private static func bare(_ line: String) -> String {
    var bare = ""
    var isCode = false
    for character in line {
      if character == "\u{1B}" {
        isCode = true
      } else if !isCode {
        bare.append(character)
      } else if character == "m" {
        isCode = false
      }
    }
    return bare
  }
}
