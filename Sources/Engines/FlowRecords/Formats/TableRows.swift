internal import FlowBase
internal import Glibc

/// Rows of cells between commas or tabs, as RFC 4180 has them.
///
/// A row without quotes is cut at its delimiters where it lies; only one with quotes is walked byte by byte.
final class TableRows: RowReader {
  private let window: ByteWindow
  private let delimiter: UInt8
  private var names: [String]?
  private var line = 1
  private var quoted = QuotedRow()

  var columns: [String]? { names }
  var isReady: Bool { window.hasLine(behind: 0) }

  init(_ window: ByteWindow, delimiter: UInt8, header: RecordOptions.Header) throws(Fault) {
    self.window = window
    self.delimiter = delimiter
    switch header {
    case .none: break
    case .names(let given): names = try distinct(given, line: nil)
    case .firstRow:
      guard let (start, cells, fault) = try row() else { break }
      if let fault { throw fault }
      names = try distinct(cells.map { trimmed($0.text) }, line: start)
    }
  }

  func next() throws(Fault) -> Record? {
    guard let (start, cells, fault) = try row() else { return nil }
    let names = self.names ?? (1...max(1, cells.count)).map { "c\($0)" }
    // A row that could not be read whole says nothing of how many columns there are.
    if fault == nil { self.names = names }
    let fields = Fields(names: names, values: cells)
    if let fault { return Record(line: start, cells: fields, fault: fault) }
    if cells.count != names.count { return Record(line: start, cells: fields, fault: ragged(start, cells.count)) }
    return Record(line: start, cells: fields)
  }

  private func ragged(_ start: Int, _ count: Int) -> Fault {
    let wanted = names?.count ?? 0
    return Fault(
      "record.cells", .permanent,
      "\(window.source.name):\(start): the row has \(count) \(count == 1 ? "cell" : "cells") where the table has "
        + "\(wanted) \(wanted == 1 ? "column" : "columns"); quote cells that hold a \(delimiter == 9 ? "tab" : "comma")"
    )
  }

  /// The next row that is not blank: the line where it begins, its cells, and what is wrong with it.
  private func row() throws(Fault) -> (line: Int, cells: [Value], fault: Fault?)? {
    while let (length, hasFeed) = try window.lengthOfLine(number: line) {
      let bytes = unsafe window.bytes
      if unsafe bytes.baseAddress.flatMap({ unsafe memchr($0, 0x22, length) }) != nil { return try quotedRow() }
      let start = line
      let isCRLF = unsafe length > 0 && bytes[length - 1] == 0x0D
      let end = isCRLF ? length - 1 : length
      defer {
        window.drop(length + (hasFeed ? 1 : 0))
        line += 1
      }
      if end == 0 { continue }
      return unsafe plainRow(UnsafeBufferPointer(rebasing: bytes[..<end]), line: start)
    }
    return nil
  }

  private func plainRow(_ bytes: UnsafeBufferPointer<UInt8>, line: Int) -> (line: Int, cells: [Value], fault: Fault?) {
    var cells: [Value] = []
    cells.reserveCapacity(names?.count ?? 8)
    var cellStart = 0
    for place in 0...bytes.count {
      guard unsafe place == bytes.count || bytes[place] == delimiter else { continue }
      guard let text = unsafe String(utf8: UnsafeBufferPointer(rebasing: bytes[cellStart..<place]))
      else { return (line, cells, notUTF8(line, column: cells.count)) }
      cells.append(.string(text))
      cellStart = place + 1
    }
    return (line, cells, nil)
  }

  private func quotedRow() throws(Fault) -> (line: Int, cells: [Value], fault: Fault?) {
    let start = line
    quoted.begin(delimiter: delimiter, line: line)
    var place = 0
    while true {
      let bytes = unsafe window.bytes
      while place < bytes.count {
        let isEnd = unsafe quoted.take(bytes[place])
        place += 1
        if isEnd { return finishQuotedRow(start, place) }
      }
      if place > ByteWindow.limit { throw tooLong() }
      guard try window.more() else { break }
    }
    if let opened = quoted.openedAt {
      throw Fault(
        "record.quote", .permanent,
        "\(window.source.name):\(opened): the quote that opens in this line is never closed; "
          + "a quote inside quotes is written twice")
    }
    quoted.endCell()
    return finishQuotedRow(start, place)
  }

  private func finishQuotedRow(_ start: Int, _ length: Int) -> (line: Int, cells: [Value], fault: Fault?) {
    window.drop(length)
    line = quoted.line + (quoted.endedWithFeed ? 0 : 1)
    var fault: Fault?
    switch quoted.mistake {
    case .notUTF8(let column): fault = notUTF8(start, column: column)
    case .textBehindQuote(let column, let line):
      fault = Fault(
        "record.quote", .permanent,
        "\(window.source.name):\(line): text follows the closing quote of \(columnName(column)); "
          + "a quote inside quotes is written twice")
    case nil: break
    }
    return (start, quoted.cells, fault)
  }

  private func tooLong() -> Fault {
    let what =
      quoted.openedAt.map { "the quote that opens in line \($0) is not closed within" } ?? "a row is longer than"
    return Fault(
      "record.too_long", .permanent, "\(window.source.name):\(line): \(what) \(ByteWindow.limit >> 20) MiB")
  }

  private func columnName(_ place: Int) -> String {
    if let names, place < names.count { return "the column `\(clipped(names[place]))`" }
    return "cell \(place + 1)"
  }

  private func notUTF8(_ line: Int, column: Int) -> Fault {
    Fault(
      "record.encoding", .permanent,
      "\(window.source.name):\(line): \(columnName(column)) is not UTF-8; save the file as UTF-8")
  }

  /// The names of the columns; those without one are called by their place.
  private func distinct(_ given: [String], line: Int?) throws(Fault) -> [String] {
    let names = given.enumerated().map { $1.isEmpty ? "c\($0 + 1)" : $1 }
    var seen: [String: Int] = [:]
    for (place, name) in names.enumerated() {
      if let earlier = seen.updateValue(place, forKey: name) {
        throw Fault(
          "record.column", .config,
          "\(window.source.name)\(line.map { ":\($0)" } ?? ""): the columns \(earlier + 1) and \(place + 1) are both "
            + "called `\(clipped(name))`; rename one, or name the columns with `header`")
      }
    }
    return names
  }
}
