/// Turns diagnostics into what a terminal, a program or a code host reads.
public struct DiagnosticText {
  /// A line of a file, from 1; nil where it is not at hand.
  private let line: (_ file: String, _ number: Int) -> String?
  /// Whether colours are put in.
  private let isColoured: Bool

  /// A renderer that shows lines of the files where it can get them.
  public init(isColoured: Bool = false, line: @escaping (_ file: String, _ number: Int) -> String? = { _, _ in nil }) {
    self.isColoured = isColoured
    self.line = line
  }

  // MARK: Text

  /// All diagnostics, sorted by place, and how many there are; empty where there are none.
  public func text(_ diagnostics: [Diagnostic]) -> String {
    if diagnostics.isEmpty { return "" }
    let sorted = diagnostics.sortedByPlace()
    return sorted.map(text).joined() + DiagnosticText.count(sorted) + "\n"
  }

  /// One diagnostic: its line, then the line of the file with a caret, then the notes.
  public func text(_ diagnostic: Diagnostic) -> String {
    let shade = diagnostic.severity == .error ? "31" : "33"
    var text = diagnostic.place.map { "\($0.file):\($0.mark.line):\($0.mark.column): " } ?? ""
    text += paint("\(diagnostic.severity.rawValue)[\(diagnostic.code)]", "1;\(shade)")
    text += ": " + visible(diagnostic.message) + "\n"
    text += excerpt(diagnostic, shade: shade)
    for note in diagnostic.notes { text += "   = \(visible(note))\n" }
    return text
  }

  /// The line of the file with a caret and the hint; where notes say it all, they stand alone.
  private func excerpt(_ diagnostic: Diagnostic, shade: String) -> String {
    guard diagnostic.hint != nil || diagnostic.notes.isEmpty else { return "" }
    guard let place = diagnostic.place, let source = line(place.file, place.mark.line) else {
      return diagnostic.hint.map { "   = \(visible($0))\n" } ?? ""
    }
    let scalars = Array(source.unicodeScalars)
    let start = min(place.mark.column - 1, scalars.count)
    let length = max(1, min(place.mark.length, scalars.count - start))
    let window = DiagnosticText.window(of: scalars.count, around: start, length: length)
    let number = String(place.mark.line)
    let margin = String(repeating: " ", count: max(2, number.count))
    let shown = visible(String(String.UnicodeScalarView(scalars[window])))
    // Wide and combining characters take no single column; blanks stand for each scalar alike, tabs stay tabs.
    let lead = scalars[window.lowerBound..<max(window.lowerBound, min(start, window.upperBound))]
      .map { $0 == "\t" ? "\t" : " " }.joined()
    let caret = paint(String(repeating: "^", count: min(length, max(1, window.upperBound - start))), "1;\(shade)")
    let hint = diagnostic.hint.map { " " + visible($0) } ?? ""
    let padded = String(repeating: " ", count: margin.count - number.count) + number
    return "\(margin) |\n\(padded) | \(shown)\n\(margin) | \(lead)\(caret)\(hint)\n"
  }

  /// The part of a very long line that is shown.
  private static func window(of count: Int, around start: Int, length: Int) -> Range<Int> {
    guard count > 200 else { return 0..<count }
    let lower = max(0, min(start - 80, count - 200))
    return lower..<min(count, lower + 200)
  }

  /// `2 errors`, or `1 error, 1 warning`.
  public static func count(_ diagnostics: [Diagnostic]) -> String {
    let errors = diagnostics.count { $0.severity == .error }
    let warnings = diagnostics.count - errors
    func words(_ count: Int, _ word: String) -> String? {
      count == 0 ? nil : "\(count) \(word)\(count == 1 ? "" : "s")"
    }
    return [words(errors, "error"), words(warnings, "warning")].compactMap(\.self).joined(separator: ", ")
  }

  /// Text without control characters, which a terminal would obey.
  private func visible(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\t" || (0x7F...0x9F).contains($0.value) })
    else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if scalar.value < 0x20 && scalar != "\t" || (0x7F...0x9F).contains(scalar.value) {
        result += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private func paint(_ text: String, _ code: String) -> String {
    isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}

extension DiagnosticText {
  // MARK: JSON

  /// All diagnostics as one JSON document.
  public static func json(_ diagnostics: [Diagnostic]) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("format_version")
    writer.int(1)
    writer.key("diagnostics")
    writer.beginArray()
    for diagnostic in diagnostics.sortedByPlace() { writer.diagnostic(diagnostic) }
    writer.endArray()
    writer.endObject()
    return writer.text + "\n"
  }

  // MARK: GitHub

  /// All diagnostics as annotations of GitHub's workflows, a line each; nothing in them can begin another command.
  public static func github(_ diagnostics: [Diagnostic]) -> String {
    diagnostics.sortedByPlace().map { diagnostic in
      var parameters: [String] = []
      if let place = diagnostic.place {
        let end = place.mark.column + place.mark.length - 1
        parameters = [
          "file=\(WorkflowCommand.parameter(place.file))", "line=\(place.mark.line)", "col=\(place.mark.column)",
          "endColumn=\(end)",
        ]
      }
      parameters.append("title=\(WorkflowCommand.parameter(diagnostic.code))")
      let words = [diagnostic.message] + (diagnostic.hint.map { [$0] } ?? []) + diagnostic.notes
      let message = WorkflowCommand.message(words.joined(separator: "\n"))
      return "::\(diagnostic.severity.rawValue) \(parameters.joined(separator: ","))::\(message)\n"
    }.joined()
  }
}

extension JSONWriter {
  /// A diagnostic as an object with the keys `severity code message file line column length hint notes`.
  public mutating func diagnostic(_ diagnostic: Diagnostic) {
    beginObject()
    key("severity")
    string(diagnostic.severity.rawValue)
    key("code")
    string(diagnostic.code)
    key("message")
    string(diagnostic.message)
    key("file")
    if let place = diagnostic.place { string(place.file) } else { null() }
    key("line")
    if let place = diagnostic.place { int(place.mark.line) } else { null() }
    key("column")
    if let place = diagnostic.place { int(place.mark.column) } else { null() }
    key("length")
    if let place = diagnostic.place { int(place.mark.length) } else { null() }
    key("hint")
    if let hint = diagnostic.hint { string(hint) } else { null() }
    key("notes")
    beginArray()
    for note in diagnostic.notes { string(note) }
    endArray()
    endObject()
  }
}

extension [Diagnostic] {
  /// The diagnostics by file, line and column, each once; what has no place comes first.
  public func sortedByPlace() -> [Diagnostic] {
    var seen = Set<Diagnostic>()
    return filter { seen.insert($0).inserted }.enumerated().sorted { left, right in
      switch (left.element.place, right.element.place) {
      case (nil, nil): left.offset < right.offset
      case (nil, _): true
      case (_, nil): false
      case (let a?, let b?):
        a.file != b.file
          ? a.file < b.file
          : (a.mark.line, a.mark.column, left.offset) < (b.mark.line, b.mark.column, right.offset)
      }
    }.map(\.element)
  }
}
