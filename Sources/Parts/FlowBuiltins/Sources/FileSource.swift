internal import FlowBase
internal import FlowExpressions
public import FlowParts
internal import FlowRecords

/// The rows of a list, a table or a file of JSON lines.
public struct FileSource: Source {
  /// What is to be said of it.
  public static let part = SourcePart(
    PartSpec(
      name: "file", role: .source, summary: "Takes addresses from a file: txt, csv, tsv or jsonl, plain or gzipped.",
      fields: [
        FieldSpec(
          "path", .string, phase: .load, required: true, "The file, or its address on the web; `-` is standard input."),
        FieldSpec(
          "url", .url, phase: .row, "The address of a row; without it, the column `url`, or the line of a txt."),
        FieldSpec("key", .string, phase: .row, "The item's key; without it, one is made from the address."),
        FieldSpec(
          "types", .map(.choice(CellType.allCases.map(\.rawValue))), phase: .load,
          "The types of columns whose cells are more than text."),
        FieldSpec(
          "format", .choice(RecordFormat.allCases.map(\.rawValue)), phase: .load,
          "How the file is written; without it, its name decides."),
        FieldSpec(
          "header", .either([.boolean, .list(.string)]), phase: .load, default: "true",
          "Whether the first row of a csv or tsv names the columns, or else their names."),
      ],
      shorthand: "path",
      example: """
        sources:
          - file: { path: people.csv, url: "${row.avatar}", key: "${row.id}", types: { age: integer } }

        """)
  ) { FileSource() }

  /// The most bytes of a file that is fetched: a list of some hundred million addresses.
  private static let mostBytes = 16 << 30

  /// A source.
  public init() {}

  /// Opens the file, and checks that the columns are there which the templates name.
  public func open(in context: SourceContext) async throws -> any SourceReader {
    let config = context.config
    let path = config.text("path") ?? ""
    let options = RecordOptions(header: header(config), types: types(config))
    var fetched: HeldFile?
    var place = path == "-" ? path : PathText.join(context.folder, path)
    let format: RecordFormat
    if SourceDownload.isAddress(path) {
      format = try self.format(of: String(path.prefix { $0 != "?" && $0 != "#" }), config)
      let file = try await SourceDownload(context).fetch(path, maximum: FileSource.mostBytes).file
      (fetched, place) = (file, try file.path)
    } else {
      format = try self.format(of: path, config)
    }
    let records = try RecordReader(
      path: place, name: path == "-" ? nil : Redaction.url(path), format: format, options: options)
    let url = RowText(config["url"]) ?? .column("url")
    let reader = FileReader(
      name: Redaction.url(path), records: records, url: url, key: RowText(config["key"]), file: fetched)
    try reader.checkColumns(hasAddress: config["url"] != nil)
    return reader
  }

  private func format(of path: String, _ config: Config) throws(Fault) -> RecordFormat {
    if let format = config.text("format").flatMap(RecordFormat.init(rawValue:)) { return format }
    if let format = RecordFormat(path: path) { return format }
    let name = PathText.name(of: path)
    if !(name.hasSuffix(".gz") ? String(name.dropLast(3)) : name).contains(".") { return .txt }
    throw Fault(
      "source.format", .config,
      "the name of \(path) does not tell how it is written; add `format:` "
        + RecordFormat.allCases.map(\.rawValue).joined(separator: ", "))
  }

  private func header(_ config: Config) -> RecordOptions.Header {
    if let names = config.value("header")?.asList { return .names(names.map(\.text)) }
    return config.bool("header") == false ? .none : .firstRow
  }

  private func types(_ config: Config) -> [String: CellType] {
    var types: [String: CellType] = [:]
    for (name, word) in config.value("types")?.asMap ?? [:] { types[name] = CellType(rawValue: word.text) }
    return types
  }
}

/// Hands out the rows of a file as items.
private struct FileReader: SourceReader {
  let name: String
  let records: RecordReader
  let url: RowText
  let key: RowText?
  /// The file that was fetched; it stays as long as it is read.
  let file: HeldFile?
  /// Why there are no more rows, where some before have to be given out first.
  var fault: Fault?

  var total: Int? { nil }

  mutating func next(upTo count: Int) async throws -> [SourceItem] {
    if let fault { throw fault }
    var items: [SourceItem] = []
    items.reserveCapacity(min(count, 1024))
    do throws(Fault) {
      // From a pipe, what is there goes on at once; only the first row of a batch is waited for.
      while items.count < count, items.isEmpty || records.isReady, let record = try records.next() {
        items.append(item(of: record))
      }
    } catch {
      // The rows before are what they are.
      if items.isEmpty { throw error }
      fault = error
    }
    return items
  }

  private func item(of record: Record) -> SourceItem {
    var item = SourceItem(url: nil, row: record.cells, fault: record.fault)
    if item.fault != nil { return item }
    do throws(Fault) {
      let address = try url.text(for: record.cells)
      if address.isEmpty {
        throw Fault("source.no_address", .permanent, "\(name):\(record.line): the row has no address: \(url.origin)")
      }
      item.url = address
      item.key = try key?.text(for: record.cells)
      if item.key == "" {
        throw Fault("source.no_key", .permanent, "\(name):\(record.line): `key` gave an empty text for this row")
      }
    } catch {
      item.fault = error
    }
    return item
  }

  /// A column that is named and not there is a mistake of the manifest, and no row's.
  func checkColumns(hasAddress: Bool) throws(Fault) {
    guard let columns = records.columns else { return }
    for column in url.columns + (key?.columns ?? []) where !columns.contains(column) {
      let near = Suggestion.nearest(to: column, among: columns)
      let remedy =
        near.map { "did you mean `\($0)`?" }
        ?? "it has \(columns.prefix(20).map { "`\($0)`" }.joined(separator: ", "))"
      throw Fault(
        "source.column", .config,
        "\(name) has no column `\(column)`; \(remedy)"
          + (hasAddress ? "" : " (name the one with the addresses: `url: \"${row.NAME}\"`)"))
    }
  }
}
