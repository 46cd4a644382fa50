internal import FlowBase

/// A row with quotes in it, taken byte by byte.
struct QuotedRow {
  /// What can be wrong with a row whose end is still known.
  enum Mistake {
    case notUTF8(column: Int)
    case textBehindQuote(column: Int, line: Int)
  }

  private enum State {
    case cellStart, plain, insideQuotes, behindQuote
  }

  private(set) var cells: [Value] = []
  private(set) var mistake: Mistake?
  /// The line of the byte that was taken last.
  private(set) var line = 0
  /// Whether the row ended with a line feed, and not with the file.
  private(set) var endedWithFeed = false
  private var quoteLine = 0
  private var cell: [UInt8] = []
  private var state = State.cellStart
  private var delimiter = UInt8(ascii: ",")

  /// The line where the quote stands that is still open.
  var openedAt: Int? { state == .insideQuotes ? quoteLine : nil }

  /// Forgets the row before.
  mutating func begin(delimiter: UInt8, line: Int) {
    cells.removeAll(keepingCapacity: false)
    cell.removeAll(keepingCapacity: true)
    mistake = nil
    endedWithFeed = false
    state = .cellStart
    self.delimiter = delimiter
    self.line = line
  }

  /// Takes the next byte; true if it ends the row.
  mutating func take(_ byte: UInt8) -> Bool {
    if byte == 0x0A { line += 1 }
    switch state {
    case .insideQuotes:
      if byte == UInt8(ascii: "\"") { state = .behindQuote } else { cell.append(byte) }
      return false
    case .behindQuote where byte == UInt8(ascii: "\""):
      cell.append(byte)
      state = .insideQuotes
      return false
    case .cellStart where byte == UInt8(ascii: "\""):
      quoteLine = line
      state = .insideQuotes
      return false
    case .cellStart, .plain, .behindQuote: return takeOutside(byte)
    }
  }

  private mutating func takeOutside(_ byte: UInt8) -> Bool {
    if byte == delimiter {
      endCell()
      state = .cellStart
      return false
    }
    if byte == 0x0A {
      endedWithFeed = true
      endCell()
      return true
    }
    if state == .behindQuote && byte != 0x0D && mistake == nil {
      mistake = .textBehindQuote(column: cells.count, line: line)
    }
    if state == .cellStart { state = .plain }
    // A carriage return behind a quote belongs to the line's end.
    if state == .plain { cell.append(byte) }
    return false
  }

  /// Ends the cell that is being read, at a delimiter, a line's end or the file's.
  mutating func endCell() {
    if state == .plain && endedWithFeed && cell.last == 0x0D { cell.removeLast() }
    if let text = String(utf8: cell) {
      cells.append(.string(text))
    } else {
      if mistake == nil { mistake = .notUTF8(column: cells.count) }
      cells.append(.null)
    }
    cell.removeAll(keepingCapacity: true)
  }
}
