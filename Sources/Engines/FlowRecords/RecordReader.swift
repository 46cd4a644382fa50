public import FlowBase

/// Reads the rows of a file one by one, in memory that does not grow with the file.
///
/// Not Sendable: one thread at a time reads it. Reading may block.
public final class RecordReader {
  private let rows: any RowReader
  private let types: [String: CellType]
  private let fileName: String
  /// The names of the row before and the types of its columns; rows of one table share them.
  private var names: [String]?
  private var columnTypes: [CellType?] = []

  /// Opens a file, or standard input for `-`, and reads its header if it has one.
  ///
  /// What is gzipped is unpacked. `name` is what messages call the file, if not by its path.
  public convenience init(
    path: String, name: String? = nil, format: RecordFormat, options: RecordOptions = RecordOptions()
  ) throws(Fault) {
    try self.init(ByteSources.open(path, name: name), format: format, options: options)
  }

  /// Begins to read a source.
  public init(_ source: any ByteSource, format: RecordFormat, options: RecordOptions = RecordOptions()) throws(Fault) {
    let window = ByteWindow(source)
    try window.dropByteOrderMark()
    fileName = source.name
    types = options.types.filter { $0.value != .string || format == .jsonl }
    switch format {
    case .txt: rows = AddressRows(window)
    case .jsonl: rows = JSONRows(window)
    case .csv: rows = try TableRows(window, delimiter: UInt8(ascii: ","), header: options.header)
    case .tsv: rows = try TableRows(window, delimiter: UInt8(ascii: "\t"), header: options.header)
    }
    if let columns = rows.columns { try checkTypes(among: columns) }
  }

  /// The names of the columns, where the file begins with them.
  public var columns: [String]? { rows.columns }

  /// The next row; nil at the end.
  ///
  /// Faults of the file itself are thrown and end the reading.
  public func next() throws(Fault) -> Record? {
    guard var record = try rows.next() else { return nil }
    if !types.isEmpty && record.fault == nil { convert(&record) }
    return record
  }

  /// Whether a row can probably be had without waiting for more of the file, as matters where it is a pipe.
  public var isReady: Bool { rows.isReady }

  private func checkTypes(among columns: [String]) throws(Fault) {
    for name in types.keys.sorted() where !columns.contains(name) {
      throw Fault(
        "record.column", .config,
        "`types` names the column `\(name)`, which \(fileName) does not have; it has \(list(columns))")
    }
  }

  private func convert(_ record: inout Record) {
    if record.cells.names != names {
      names = record.cells.names
      columnTypes = record.cells.names.map { types[$0] }
    }
    var values = record.cells.values
    for (place, type) in columnTypes.enumerated() {
      guard let type else { continue }
      guard let value = type.convert(values[place]) else {
        record.fault = Fault(
          "record.type", .permanent,
          "\(fileName):\(record.line): the column `\(record.cells.names[place])` is `\(clipped(values[place].text))`, "
            + "not \(type.words)")
        return
      }
      values[place] = value
    }
    record.cells = Fields(names: record.cells.names, values: values)
  }
}

/// Reads the rows of one format.
protocol RowReader: AnyObject {
  /// The names of the columns, where the file begins with them.
  var columns: [String]? { get }
  /// Whether a whole line is there already.
  var isReady: Bool { get }
  /// The next row; nil at the end.
  func next() throws(Fault) -> Record?
}

extension RowReader {
  var columns: [String]? { nil }
}

/// A part of a file as messages can hold it.
func clipped(_ text: String) -> String { text.count > 60 ? text.prefix(60) + "…" : text }

/// Names in a message, not too many of them.
func list(_ names: [String]) -> String {
  if names.isEmpty { return "none" }
  let shown = names.prefix(12).map { "`\(clipped($0))`" }.joined(separator: ", ")
  return names.count > 12 ? "\(shown) and \(names.count - 12) more" : shown
}
