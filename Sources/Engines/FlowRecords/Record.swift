public import FlowBase

/// The ways in which files hold rows.
public enum RecordFormat: String, Sendable, Hashable, CaseIterable {
  /// A line is an address; blank lines and lines that begin with `#` are none.
  case txt
  /// Cells between commas (RFC 4180).
  case csv
  /// Cells between tabs, else like csv.
  case tsv
  /// A JSON object a line.
  case jsonl

  /// The format that a file's name tells of, `.gz` left out.
  public init?(path: String) {
    var name = PathText.name(of: path).lowercased()
    if name.hasSuffix(".gz") { name.removeLast(3) }
    switch name.split(separator: ".", omittingEmptySubsequences: false).last {
    case "txt", "list", "urls": self = .txt
    case "csv": self = .csv
    case "tsv", "tab": self = .tsv
    case "jsonl", "ndjson": self = .jsonl
    default: return nil
    }
  }
}

/// One row of a file.
public struct Record: Sendable, Hashable {
  /// The line on which it begins, from 1.
  public var line: Int
  /// Its cells by the names of the columns; the addresses of a txt file are its column `url`.
  public var cells: Fields
  /// Why the row is no good; the rows behind it can still be read.
  public var fault: Fault?

  /// A row.
  public init(line: Int, cells: Fields, fault: Fault? = nil) {
    self.line = line
    self.cells = cells
    self.fault = fault
  }
}

/// What is known of a file's columns beforehand.
public struct RecordOptions: Sendable, Hashable {
  /// Where the names of csv and tsv columns come from.
  public enum Header: Sendable, Hashable {
    /// The first row holds them.
    case firstRow
    /// There are none; the columns are called `c1`, `c2` and so on.
    case none
    /// These; the first row is data.
    case names([String])
  }

  /// Where the names of the columns come from.
  public var header: Header
  /// The types of columns whose cells are more than text.
  public var types: [String: CellType]

  /// Options.
  public init(header: Header = .firstRow, types: [String: CellType] = [:]) {
    self.header = header
    self.types = types
  }
}

/// What a cell's text stands for.
public enum CellType: String, Sendable, Hashable, CaseIterable {
  case string, integer, number, boolean

  /// The value of a cell, or nil where it is none of this type.
  ///
  /// An empty cell is null, except as a text.
  public func convert(_ cell: Value) -> Value? {
    guard case .string(let text) = cell else { return convertTyped(cell) }
    if self == .string { return cell }
    let word = trimmed(text)
    if word.isEmpty { return .null }
    switch self {
    case .string: return cell
    case .integer: return Int(word).map { .int($0) }
    case .number: return number(word).map { .double($0) }
    case .boolean:
      switch word.lowercased() {
      case "true", "yes", "1": return true
      case "false", "no", "0": return false
      default: return nil
      }
    }
  }

  /// The value of a cell that has a type already, as those of jsonl do.
  private func convertTyped(_ cell: Value) -> Value? {
    switch (self, cell) {
    case (_, .null), (.boolean, .bool): return cell
    case (.string, .bool), (.string, .int), (.string, .double): return .string(cell.text)
    case (.integer, _): return cell.asInt.map { .int($0) }
    case (.number, _): return cell.asDouble.map { .double($0) }
    default: return nil
    }
  }

  /// Decimal numbers only: Swift itself would also take `nan`, `infinity` and hexadecimal ones.
  private func number(_ word: String) -> Double? {
    let isDecimal = word.utf8.allSatisfy { byte in
      byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") || "+-.eE".utf8.contains(byte)
    }
    guard isDecimal, let number = Double(word), number.isFinite else { return nil }
    return number
  }

  /// The type in words, for messages.
  public var words: String {
    switch self {
    case .string: "a text"
    case .integer: "a whole number"
    case .number: "a number"
    case .boolean: "true or false"
    }
  }
}

/// A text without blanks around it.
func trimmed(_ text: String) -> String {
  guard let first = text.utf8.first, let last = text.utf8.last, first <= 0x20 || last <= 0x20 else { return text }
  let bytes = text.utf8.drop { $0 <= 0x20 }
  var end = bytes.endIndex
  while end > bytes.startIndex, bytes[bytes.index(before: end)] <= 0x20 { end = bytes.index(before: end) }
  return String(decoding: bytes[bytes.startIndex..<end], as: UTF8.self)
}
