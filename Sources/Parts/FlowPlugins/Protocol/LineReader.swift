internal import FlowBase

/// Cuts what a plugin writes into messages, and sorts out what is none.
struct LineReader: Sendable {
  /// The longest line of the protocol.
  static let longest = 1 << 20
  private static let recordSeparator: UInt8 = 0x1E

  /// What a line is.
  enum Line: Sendable {
    case message(PluginMessage)
    /// Something that is no message, as it was written, cut where it is long.
    case noise(String)
  }

  private var buffer: [UInt8] = []
  /// How far the buffer has been searched for an end of line.
  private var searched = 0
  /// Whether the rest of a line that was too long is being passed over.
  private var isSkipping = false

  /// Takes in bytes and gives the lines that they complete.
  mutating func take(_ bytes: [UInt8]) -> [Line] {
    var lines: [Line] = []
    if buffer.isEmpty { buffer = bytes } else { buffer += bytes }
    var start = 0
    while let end = buffer[max(start, searched)...].firstIndex(of: 0x0A) {
      if isSkipping { isSkipping = false } else { LineReader.read(buffer[start..<end], into: &lines) }
      start = end + 1
      searched = start
    }
    buffer.removeFirst(start)
    if buffer.count > LineReader.longest {
      if !isSkipping {
        lines.append(.noise("a line of more than 1 MiB: \(LineReader.shown(buffer[..<80]))"))
      }
      isSkipping = true
      buffer.removeAll()
    }
    searched = buffer.count
    return lines
  }

  /// What is left when nothing more will come: half a line, which is no message.
  mutating func finish() -> [Line] {
    defer { buffer = [] }
    return buffer.isEmpty || isSkipping ? [] : [.noise(LineReader.shown(buffer[...]))]
  }

  private static func read(_ line: ArraySlice<UInt8>, into lines: inout [Line]) {
    var line = line
    if line.last == 0x0D { line.removeLast() }
    if line.isEmpty { return }
    guard line.count <= longest else {
      return lines.append(.noise("a line of more than 1 MiB: \(shown(line.prefix(80)))"))
    }
    // What a `print` too many has glued to the front of a message ends where the message's separator stands.
    if let separator = line.lastIndex(of: recordSeparator) {
      if separator > line.startIndex { lines.append(.noise(shown(line[..<separator]))) }
      line = line[(separator + 1)...]
      if line.isEmpty { return }
    }
    if let value = try? JSONReader.read(line), let message = PluginMessage(value) {
      lines.append(.message(message))
    } else {
      lines.append(.noise(shown(line)))
    }
  }

  private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes.prefix(200), as: UTF8.self) + (bytes.count > 200 ? "…" : "")
  }
}
