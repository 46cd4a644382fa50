internal import FlowBase
internal import FlowEvents

/// What a step of a workflow shows and hands on of a run.
struct GitHubText {
  var manifest: String
  var end: Payload.RunEnd
  var elapsed: Interval
  var groups: FailureGroups

  /// So many groups of failures are listed.
  private static let rows = 50

  /// The summary in Markdown.
  var summary: String {
    let items = end.items
    var text = "### imgflow: \(end.result.rawValue)"
    if !manifest.isEmpty { text += " – \(GitHubText.cell(manifest))" }
    text += "\n\n| items | ok | from before | filtered | failed | cancelled | received | time |\n"
    text += "|--:|--:|--:|--:|--:|--:|--:|--:|\n"
    let cells = [
      items.total.map(String.init) ?? "?", "\(items.ok)", "\(items.cached)", "\(items.filtered)", "\(items.failed)",
      "\(items.cancelled)", ByteCount(end.bytesIn).text, elapsed.words,
    ]
    text += "| " + cells.joined(separator: " | ") + " |\n\n"
    let failures = groups.sorted
    guard !failures.isEmpty else { return text }
    text += "| failures | code | host | such as |\n|--:|---|---|---|\n"
    for group in failures.prefix(GitHubText.rows) {
      let example = "\(GitHubText.cell(group.example)): \(GitHubText.cell(group.message))"
      text +=
        "| \(group.count) | \(GitHubText.cell(group.code)) | \(GitHubText.cell(group.host ?? "")) | \(example) |\n"
    }
    let rest = failures.dropFirst(GitHubText.rows).reduce(0) { $0 + $1.count } + groups.others
    if rest > 0 { text += "| \(rest) | others | | |\n" }
    return text + "\n"
  }

  /// The outputs of the step: words and numbers of ours alone.
  var outputs: String {
    let items = end.items
    return """
      result=\(end.result.rawValue)
      exit=\(end.exit)
      total=\(items.total ?? items.ended)
      ok=\(items.ok)
      cached=\(items.cached)
      filtered=\(items.filtered)
      failed=\(items.failed)
      cancelled=\(items.cancelled)
      bytes_in=\(end.bytesIn)

      """
  }

  /// A text as a cell of a table: it neither ends the cell nor becomes markup.
  static func cell(_ text: String) -> String {
    var cell = ""
    for character in TextWidth.cut(TextWidth.printable(text), to: 300) {
      switch character {
      case "&": cell += "&amp;"
      case "<": cell += "&lt;"
      case ">": cell += "&gt;"
      case "|", "\\", "`", "*", "_", "[", "]", "(", ")", "!", "#", "@", "~", "$", ":": cell += entity(of: character)
      default: cell.append(character)
      }
    }
    return cell
  }

  private static func entity(of character: Character) -> String {
    character.unicodeScalars.map { "&#\($0.value);" }.joined()
  }
}
