internal import FlowBase
internal import FlowEvents

extension ProgressView {
  /// What came of the run: counts, where the results are, what failed, and what to type next; nothing for a run that
  /// never started, of which the diagnostics say all.
  ///
  /// What does not fit beside something goes below it; commands are never broken, so that they can be copied.
  func summary(folder: String, hasColor: Bool, width: Int = .max) -> [String] {
    guard let end, hasStarted else { return [] }
    var lines = [headline(end, hasColor: hasColor)]
    if let output {
      let place = TextWidth.printable(ProgressView.shown(output, from: folder))
      lines += labelled("results", [(place, filesText)], width: width)
    }
    lines += labelled("why", troubles.map { (TextWidth.printable($0), "") }, width: width)
    lines += labelled("warned", warningLines, width: width)
    lines += labelled("failed", failureLines, width: width)
    lines += labelled("next", nextLines(end, width: width), width: width)
    return lines
  }

  private func headline(_ end: Payload.RunEnd, hasColor: Bool) -> String {
    let word =
      switch end.result {
      case .success: Paint.green("done", hasColor)
      case .failure: Paint.red("failed", hasColor)
      case .error: Paint.red("error", hasColor)
      case .timeout: Paint.red("out of time", hasColor)
      case .cancelled: Paint.yellow("cancelled", hasColor)
      }
    return "\(word): \(end.items.words) in \(elapsed.words), \(ByteCount(end.bytesIn).text) received"
  }

  private var filesText: String {
    files == 0 ? "" : "(\(files) new file\(files == 1 ? "" : "s"), \(ByteCount(fileBytes).text))"
  }

  private var warningLines: [(String, String)] {
    var lines = warnings.map { (TextWidth.printable($0), "") }
    if warningCount > lines.count { lines.append(("and \(warningCount - lines.count) more, in the events", "")) }
    return lines
  }

  /// A line a code and host, most frequent first.
  private var failureLines: [(String, String)] {
    let groups = failures.sorted { ($0.count, $1.code) > ($1.count, $0.code) }
    var lines = groups.prefix(8).map { group in
      let host = group.host.map { " at \($0)" } ?? ""
      let example = TextWidth.printable("such as \(group.example): \(group.message)")
      return (TextWidth.printable("\(group.count) × \(group.code)\(host)"), example)
    }
    if groups.count > 8 { lines.append(("and \(groups.count - 8) more kinds", "")) }
    return lines
  }

  private func nextLines(_ end: Payload.RunEnd, width: Int) -> [(String, String)] {
    var steps: [(command: String, why: String)] = []
    let name = manifest.map { $0 == "imgflow.yaml" ? "" : " \(ProgressView.quoted(TextWidth.printable($0)))" } ?? ""
    let run = "imgflow run" + name
    // What `get` builds from its options stands in no file.
    let isFromOptions = manifest == "get"
    let codes = failures.sorted { $0.count > $1.count }
    if isFromOptions {
      if end.result != .success { steps.append(("the same command again", "does what is left")) }
    } else if end.exit == 5 {
      steps.append((run, "what is left may pass now"))
    } else if end.result == .cancelled || end.result == .timeout {
      steps.append((run, "goes on from here"))
    } else if end.items.failed > 0 {
      steps.append(("\(run) --failed", "once the reasons are gone"))
    }
    // By other names, none that a file of YAML has, runs are not found.
    let isPath = manifest.map { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") || $0.contains("/") } ?? false
    let status = "imgflow status" + (isPath ? name : "")
    if end.result != .success { steps.append((status, "what failed, what is left, and why")) }
    if let code = codes.first?.code ?? end.errors.first?.code {
      steps.append(("imgflow explain \(code)", "what it means and what to do"))
    }
    let longest = steps.map { TextWidth.columns(of: $0.command) }.max() ?? 0
    let reason = steps.map { TextWidth.columns(of: $0.why) }.max() ?? 0
    let isNarrow = width < ProgressView.indent + longest + 3 + reason
    return steps.map { (isNarrow ? $0.command : $0.command.padding(to: longest + 1), $0.why) }
  }

  private static let indent = 11

  /// Lines behind a label, each with what is said of it beside it, or below it where the window is too narrow.
  private func labelled(_ label: String, _ lines: [(text: String, note: String)], width: Int) -> [String] {
    lines.enumerated().flatMap { place, line -> [String] in
      let front = "  " + (place == 0 ? label : "").padding(to: 9) + line.text
      if line.note.isEmpty { return [front] }
      let whole = front + "  " + line.note
      if TextWidth.columns(of: whole) <= width { return [whole] }
      let margin = String(repeating: " ", count: min(ProgressView.indent + 2, width / 5))
      return [front] + ProgressView.wrapped(line.note, to: max(8, width - margin.count)).map { margin + $0 }
    }
  }

  /// A text in lines of so many columns, broken between words where that can be.
  private static func wrapped(_ text: String, to width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if line.isEmpty {
        line = String(word)
      } else if TextWidth.columns(of: line) + 1 + TextWidth.columns(of: String(word)) <= width {
        line += " " + word
      } else {
        lines.append(line)
        line = String(word)
      }
    }
    return lines + [line]
  }

  /// A path as one would type it in `folder`.
  private static func shown(_ path: String, from folder: String) -> String {
    path.hasPrefix(folder + "/") ? "./" + path.dropFirst(folder.count + 1) : path
  }

  /// A text as a shell's word.
  private static func quoted(_ text: String) -> String {
    let plain = text.utf8.allSatisfy { byte in
      byte >= 0x80 || "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+@%,:".utf8.contains(byte)
    }
    guard !plain || text.isEmpty else { return text }
    return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
