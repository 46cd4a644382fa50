internal import FlowBase

/// Hands out the lines of a source, without their ends.
struct LineCursor {
  let window: ByteWindow
  /// The number of the line that was read last.
  private(set) var number = 0
  private var consumed = 0

  init(_ window: ByteWindow) { self.window = window }

  /// Whether the next line is there already.
  var isReady: Bool { window.hasLine(behind: consumed) }

  /// The next line, which holds until the next call; nil at the end.
  mutating func next() throws(Fault) -> UnsafeBufferPointer<UInt8>? {
    window.drop(consumed)
    consumed = 0
    guard let (length, hasFeed) = try window.lengthOfLine(number: number + 1) else { return nil }
    number += 1
    consumed = length + (hasFeed ? 1 : 0)
    let bytes = unsafe window.bytes
    let isCRLF = unsafe length > 0 && bytes[length - 1] == 0x0D
    return unsafe UnsafeBufferPointer(rebasing: bytes[..<(isCRLF ? length - 1 : length)])
  }
}

/// A line is an address; blank lines and comments are skipped.
final class AddressRows: RowReader {
  private static let names = ["url"]
  private var lines: LineCursor

  var isReady: Bool { lines.isReady }

  init(_ window: ByteWindow) { lines = LineCursor(window) }

  func next() throws(Fault) -> Record? {
    while let line = try unsafe lines.next() {
      guard let text = unsafe String(utf8: line) else {
        return Record(line: lines.number, cells: [:], fault: .notUTF8(lines.window.source.name, lines.number))
      }
      let address = trimmed(text)
      if address.isEmpty || address.utf8.first == UInt8(ascii: "#") { continue }
      return Record(line: lines.number, cells: Fields(names: AddressRows.names, values: [.string(address)]))
    }
    return nil
  }
}

/// A line is a JSON object; blank lines are skipped.
final class JSONRows: RowReader {
  private var lines: LineCursor
  /// The names of the object before, shared by all objects that have the same ones.
  private var names: [String] = []

  var isReady: Bool { lines.isReady }

  init(_ window: ByteWindow) { lines = LineCursor(window) }

  func next() throws(Fault) -> Record? {
    while let line = try unsafe lines.next() {
      if unsafe line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
      do throws(JSONProblem) {
        guard case .map(let cells) = try unsafe JSONReader.read(line) else {
          return bad("this is no object", column: 1, hint: "each line must be one `{…}`")
        }
        if cells.names != names { names = cells.names }
        return Record(line: lines.number, cells: Fields(names: names, values: cells.values))
      } catch {
        let before = unsafe line[..<min(line.count, error.offset)]
        let column = unsafe before.reduce(1) { count, byte in byte & 0xC0 == 0x80 ? count : count + 1 }
        return bad(error.message, column: column, hint: "each line must be one JSON object")
      }
    }
    return nil
  }

  private func bad(_ message: String, column: Int, hint: String) -> Record {
    Record(
      line: lines.number, cells: [:],
      fault: Fault(
        "record.json", .permanent, "\(lines.window.source.name):\(lines.number):\(column): \(message); \(hint)"))
  }
}

extension Fault {
  /// A line whose bytes are no text.
  static func notUTF8(_ file: String, _ line: Int) -> Fault {
    Fault("record.encoding", .permanent, "\(file):\(line): the line is not UTF-8; save the file as UTF-8")
  }
}
