internal import FlowBase
internal import FlowEvents

extension ProgressView {
  /// The view as lines that fit a window: the run, the items at work, the last failures.
  func lines(width: Int, height: Int, hasColor: Bool) -> [String] {
    // The last column stays free: a terminal may wrap a line that fills it.
    let width = max(1, width - 1)
    let room = max(1, height - 1)
    var lines = [runLine(width: width)]
    let failed = recent.suffix(max(0, min(recent.count, (room - 1) / 3)))
    let left = room - 1 - failed.count
    let busy = busy
    let shown = busy.count > left ? max(0, left - 1) : busy.count
    lines += busy.prefix(shown).map { TextWidth.cut(TextWidth.printable(busyLine($0, width: width)), to: width) }
    if busy.count > shown && left > 0 { lines.append(TextWidth.cut("  and \(inFlight - shown) more", to: width)) }
    lines += failed.map { failure in
      // In a narrow window the reason counts for more than the name.
      let words =
        width < 50
        ? "  \(failure.error.fault.code) \(failure.name)" : "  failed: \(failure.name)  \(failure.error.words)"
      return Paint.red(TextWidth.cut(TextWidth.printable(words), to: width), hasColor)
    }
    return lines
  }

  /// The run in one line for what is no terminal.
  var plain: String {
    var parts = [countText]
    if let ratio { parts.insert("\(Int(ratio * 100)) %", at: 0) }
    if counts.failed > 0 { parts.append("\(counts.failed) failed") }
    parts += rateTexts
    if state == .paused || state == .draining { parts.append(state.rawValue) }
    return "\(elapsed.words): " + parts.joined(separator: ", ")
  }

  private var countText: String { "\(counts.ended)\(counts.total.map { " of \($0)" } ?? "") items" }

  private var rateTexts: [String] {
    guard let reading else { return [] }
    var parts = [ByteCount(reading.bytesIn).text]
    if reading.bytesPerSecond >= 1 { parts.append("\(ByteCount(Int(reading.bytesPerSecond)).text)/s") }
    if let eta = reading.eta { parts.append("\(eta.words) left") }
    return parts
  }

  /// The line of the run: what matters least goes first where the window is narrow.
  private func runLine(width: Int) -> String {
    // Higher numbers matter more; the order is that of the line.
    var parts: [(weight: Int, text: String)] = []
    if state == .paused || state == .draining { parts.append((9, state.rawValue)) }
    if let ratio { parts.append((8, "\(Int(ratio * 100))%")) }
    parts.append((7, "\(counts.ended)\(counts.total.map { "/\($0)" } ?? "")"))
    if counts.failed > 0 { parts.append((6, "\(counts.failed) failed")) }
    if let reading {
      if let eta = reading.eta { parts.append((5, "\(eta.words) left")) }
      if reading.bytesPerSecond >= 1 { parts.append((4, "\(ByteCount(Int(reading.bytesPerSecond)).text)/s")) }
      parts.append((3, ByteCount(reading.bytesIn).text))
      if reading.itemsPerSecond > 0 { parts.append((2, "\(decimal(reading.itemsPerSecond, digits: 1)) items/s")) }
    }
    parts.append((1, elapsed.words))
    func joined() -> String { parts.map(\.text).joined(separator: "  ") }
    while parts.count > 1, TextWidth.columns(of: joined()) > width,
      let least = parts.indices.min(by: { parts[$0].weight < parts[$1].weight })
    {
      parts.remove(at: least)
    }
    let text = TextWidth.cut(joined(), to: width)
    let room = width - TextWidth.columns(of: text) - 2
    guard room >= 10, let ratio else { return text }
    return ProgressView.bar(ratio, width: min(room, 30)) + "  " + text
  }

  private func busyLine(_ busy: Busy, width: Int) -> String {
    let progress = busy.progress
    let size = progress.map { ByteCount($0.bytes).text + ($0.size.map { " of \(ByteCount($0).text)" } ?? "") }
    let stage = busy.subject.stage.map { "\($0)  " } ?? ""
    let percent = progress?.ratio.map { "\(Int($0 * 100))%".padding(to: 4) + " " } ?? ""
    let bar = width >= 70 ? progress?.ratio.map { ProgressView.bar($0, width: 12) + " " } ?? "" : ""
    let front = "  \(bar)\(percent)\(stage)"
    guard let size, width >= 50 else { return front + busy.subject.label }
    let room = width - TextWidth.columns(of: front) - size.count - 2
    return front + TextWidth.cut(busy.subject.label, to: max(8, room)) + "  " + size
  }

  /// A bar of so many columns.
  static func bar(_ ratio: Double, width: Int) -> String {
    let full = Int((max(0, min(1, ratio)) * Double(width)).rounded(.down))
    return String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
  }
}

extension ItemSubject {
  /// What the item is called on a line: by its key, or by its address where the key is only a digest of that.
  var label: String {
    let key = item.dropFirst(source.count + 1)
    guard key.utf8.count == 16, key.utf8.allSatisfy({ Hex.value(of: $0) != nil }), let url,
      let address = try? WebAddress(parsing: url)
    else { return item }
    return "\(source)/\(address.fileName)"
  }
}
