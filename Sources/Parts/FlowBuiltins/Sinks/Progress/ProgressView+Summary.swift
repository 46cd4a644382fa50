internal import FlowBase
internal import FlowEvents

extension ProgressView {
  /// What came of the run: counts, where the results are, what failed, and what to type next; nothing for a run that
  /// never started, of which the diagnostics say all.
  func summary(folder: String, hasColor: Bool) -> [String] {
    guard let end, hasStarted else { return [] }
    var lines = [headline(end, hasColor: hasColor)]
    if let output {
      lines.append("  results  \(TextWidth.printable(ProgressView.shown(output, from: folder)))" + filesText)
    }
    lines += labelled("failed", failureLines)
    lines += labelled("next", nextLines(end))
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
    files == 0 ? "" : "  (\(files) new file\(files == 1 ? "" : "s"), \(ByteCount(fileBytes).text))"
  }

  /// A line a code and host, most frequent first.
  private var failureLines: [String] {
    let groups = failures.sorted { ($0.count, $1.code) > ($1.count, $0.code) }
    var lines = groups.prefix(8).map { group in
      let host = group.host.map { " at \($0)" } ?? ""
      return TextWidth.printable("\(group.count) × \(group.code)\(host)  such as \(group.example): \(group.message)")
    }
    if groups.count > 8 { lines.append("and \(groups.count - 8) more kinds") }
    return lines
  }

  private func nextLines(_ end: Payload.RunEnd) -> [String] {
    var steps: [(command: String, why: String)] = []
    let run =
      "imgflow run"
      + (manifest.map { $0 == "imgflow.yaml" ? "" : " \(ProgressView.quoted(TextWidth.printable($0)))" } ?? "")
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
    if end.result != .success { steps.append(("imgflow status", "what failed, what is left, and why")) }
    if let code = codes.first?.code { steps.append(("imgflow explain \(code)", "what it means and what to do")) }
    let width = steps.map { TextWidth.columns(of: $0.command) }.max() ?? 0
    return steps.map { "\($0.command.padding(to: width))   \($0.why)" }
  }

  private func labelled(_ label: String, _ lines: [String]) -> [String] {
    lines.enumerated().map { place, line in "  " + (place == 0 ? label : "").padding(to: 9) + line }
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
