public import FlowBase

/// Writes diagnostics for people: the place, the line of the file, a caret, the remedy.
public struct DiagnosticText: Sendable {
  private let paint: Paint

  /// A writer of diagnostics.
  public init(paint: Paint) { self.paint = paint }

  /// All diagnostics in order of their places; `lines` gives the lines of a file, nil where they cannot be shown.
  public func text(_ diagnostics: [Diagnostic], lines: (_ file: String) -> [String]?) -> String {
    var sources: [String: [String]?] = [:]
    var blocks: [String] = []
    for diagnostic in diagnostics.sorted(by: DiagnosticText.comesFirst) {
      var line: String?
      if let place = diagnostic.place {
        if sources[place.file] == nil { sources[place.file] = .some(lines(place.file)) }
        if let source = sources[place.file] ?? nil, source.indices.contains(place.mark.line - 1) {
          line = source[place.mark.line - 1]
        }
      }
      blocks.append(block(diagnostic, line: line))
    }
    return blocks.joined(separator: "\n")
  }

  /// Whether a diagnostic stands before another: by file, then place, errors first.
  public static func comesFirst(_ left: Diagnostic, _ right: Diagnostic) -> Bool {
    let ordered = { (diagnostic: Diagnostic) in
      (
        diagnostic.place?.file ?? "", diagnostic.place?.mark.line ?? 0, diagnostic.place?.mark.column ?? 0,
        diagnostic.severity == .error ? 0 : 1, diagnostic.code
      )
    }
    return ordered(left) < ordered(right)
  }

  private func block(_ diagnostic: Diagnostic, line: String?) -> String {
    let word = "\(diagnostic.severity.rawValue)[\(diagnostic.code)]"
    let label = diagnostic.severity == .error ? paint.red(word) : paint.yellow(word)
    var lines: [String] = []
    let place = diagnostic.place.map { paint.bold("\($0.file):\($0.mark.line):\($0.mark.column)") + ": " } ?? ""
    lines.append("\(place)\(label): \(diagnostic.message)")
    var hint = diagnostic.hint
    if let line, let mark = diagnostic.place?.mark {
      let number = String(mark.line)
      let bar = String(repeating: " ", count: number.count) + " |"
      lines.append(paint.dim(bar))
      lines.append(paint.dim("\(number) |") + " " + DiagnosticText.printable(line))
      let before = String(repeating: " ", count: mark.column - 1)
      let carets = String(repeating: "^", count: max(1, min(mark.length, line.unicodeScalars.count - mark.column + 1)))
      lines.append(paint.dim(bar) + " " + before + paint.red(carets) + (hint.map { " " + $0 } ?? ""))
      hint = nil
    }
    for note in (hint.map { [$0] } ?? []) + diagnostic.notes { lines.append("   = \(note)") }
    return lines.joined(separator: "\n")
  }

  /// A line without what a terminal would obey.
  private static func printable(_ line: String) -> String {
    var shown = ""
    for scalar in line.unicodeScalars {
      let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      shown.unicodeScalars.append(scalar == "\t" ? " " : isControl ? "\u{FFFD}" : scalar)
    }
    return shown
  }
}
