internal import FlowBase

/// How rows become bytes.
protocol TableFormat: Sendable {
  /// What stands above the rows.
  var head: [UInt8] { get }
  /// Appends a row, its end included.
  func append(_ row: ReportRow, to buffer: inout [UInt8])
}

/// Comma-separated values as in RFC 4180: a line of names, CRLF, quotes where they are needed.
struct CommaTable: TableFormat {
  let columns: [String]

  var head: [UInt8] { line(columns) }

  func append(_ row: ReportRow, to buffer: inout [UInt8]) {
    buffer += line(columns.map { row.value(of: $0).text })
  }

  private func line(_ cells: [String]) -> [UInt8] {
    var line: [UInt8] = []
    for (place, cell) in cells.enumerated() {
      if place > 0 { line.append(UInt8(ascii: ",")) }
      CommaTable.append(cell, isAlone: cells.count == 1, to: &line)
    }
    return line + [0x0D, 0x0A]
  }

  private static func append(_ cell: String, isAlone: Bool, to line: inout [UInt8]) {
    let special = cell.utf8.contains { [0x22, 0x2C, 0x0D, 0x0A].contains($0) }
    let isPadded = cell.utf8.first == 0x20 || cell.utf8.last == 0x20
    // A row of one empty cell would be an empty line, which readers drop.
    guard special || isPadded || (isAlone && cell.isEmpty) else { return line.append(contentsOf: cell.utf8) }
    line.append(0x22)
    for byte in cell.utf8 {
      if byte == 0x22 { line.append(0x22) }
      line.append(byte)
    }
    line.append(0x22)
  }
}

/// One JSON object a line, with the types of its values.
struct LinesTable: TableFormat {
  let columns: [String]

  var head: [UInt8] { [] }

  func append(_ row: ReportRow, to buffer: inout [UInt8]) {
    var writer = JSONWriter()
    writer.beginObject()
    for column in columns {
      writer.key(of: column)
      writer.value(row.value(of: column))
    }
    writer.endObject()
    buffer += writer.bytes
    buffer.append(0x0A)
  }
}
