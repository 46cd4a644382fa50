import FlowBase
import FlowRecords
import Testing

/// Hands out its bytes a few at a time, so that every border falls somewhere inside a cell.
final class DribblingSource: ByteSource {
  let name = "list"
  private let bytes: [UInt8]
  private let step: Int
  private var place = 0

  init(_ bytes: [UInt8], step: Int) {
    self.bytes = bytes
    self.step = step
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int {
    let count = min(buffer.count, bytes.count - place, step)
    unsafe buffer.copyBytes(from: bytes[place..<place + count])
    place += count
    return count
  }
}

/// Every row as `line name=value,…`, or `line !code` with its cells where it is no good; a thrown fault comes last.
func rows(
  _ bytes: [UInt8], _ format: RecordFormat, _ options: RecordOptions = RecordOptions(), step: Int = .max
) -> [String] {
  var told: [String] = []
  do throws(Fault) {
    let reader = try RecordReader(DribblingSource(bytes, step: step), format: format, options: options)
    while let record = try reader.next() {
      let cells = record.cells.map { "\($0)=\($1.text)" }.joined(separator: ",")
      told.append("\(record.line) \(record.fault.map { "!\($0.code) " } ?? "")\(cells)")
    }
  } catch { told.append("thrown \(error.code)") }
  return told
}

private func message(_ text: String, _ format: RecordFormat, _ options: RecordOptions = RecordOptions()) -> String {
  do throws(Fault) {
    let reader = try RecordReader(DribblingSource(Array(text.utf8), step: .max), format: format, options: options)
    while let record = try reader.next() {
      if let fault = record.fault { return fault.message }
    }
    return ""
  } catch { return error.message }
}

struct RecordReaderTests {
  static let tables: [(String, RecordFormat, [String])] = [
    (
      "https://a\n\n# c\n  https://b  \r\n\thttps://c", .txt, ["1 url=https://a", "4 url=https://b", "5 url=https://c"]
    ),
    ("\u{FEFF}https://a\n", .txt, ["1 url=https://a"]), ("", .txt, []), ("\n\n", .txt, []),
    ("a,b\n1,2\n3,4\n", .csv, ["2 a=1,b=2", "3 a=3,b=4"]),
    ("\u{FEFF}a,b\r\n1,2\r\n3,4", .csv, ["2 a=1,b=2", "3 a=3,b=4"]),
    ("a,b\n\"x,y\",\"say \"\"hi\"\"\"\n1,2\n", .csv, ["2 a=x,y,b=say \"hi\"", "3 a=1,b=2"]),
    ("a,b\r\n\"x\r\ny\",2\r\n3,\"4\"\r\n5,6", .csv, ["2 a=x\r\ny,b=2", "4 a=3,b=4", "5 a=5,b=6"]),
    ("a,b\n\"\",\n,\"\"", .csv, ["2 a=,b=", "3 a=,b="]), ("\"a\",\"b\"\n1,2\n", .csv, ["2 a=1,b=2"]),
    ("\u{FEFF}\"a\",b\n1,2\n", .csv, ["2 a=1,b=2"]),
    ("a,b\n\n1,2\n\r\n3,4\n\n", .csv, ["3 a=1,b=2", "5 a=3,b=4"]),
    ("a,b\n1\n2,3,4\n5,6\n", .csv, ["2 !record.cells a=1,b=", "3 !record.cells a=2,b=3", "4 a=5,b=6"]),
    ("a,b\n\"1\"x,2\n3,4\n", .csv, ["2 !record.quote a=1,b=2", "3 a=3,b=4"]),
    ("a,b\n1,\"2\n3,4\n", .csv, ["thrown record.quote"]), ("a,b\n1\"2,3\n", .csv, ["2 a=1\"2,b=3"]),
    ("a,,a2\n1,2,3\n", .csv, ["2 a=1,c2=2,a2=3"]), ("a,a\n1,2\n", .csv, ["thrown record.column"]),
    ("Image URL,é\nx,😀\n", .csv, ["2 Image URL=x,é=😀"]), ("", .csv, []), ("a,b", .csv, []),
    ("a\tb\n1,5\t\"x\ty\"\n", .tsv, ["2 a=1,5,b=x\ty"]),
    ("{\"a\":1,\"b\":[2]}\n\n  \n{\"c\":null}\r\n", .jsonl, ["1 a=1,b=[2]", "4 c="]),
    ("{\"a\":1}\n[1]\n{\"a\":}\n{\"a\":2}", .jsonl, ["1 a=1", "2 !record.json ", "3 !record.json ", "4 a=2"]),
  ]

  @Test(arguments: tables, [1, 2, 3, 7, Int.max])
  func `a table reads the same however its bytes arrive`(table: (String, RecordFormat, [String]), step: Int) {
    #expect(rows(Array(table.0.utf8), table.1, step: step) == table.2)
  }

  static let messages: [(String, RecordFormat, String)] = [
    ("a,b\n1\n", .csv, "list:2: the row has 1 cell where the table has 2 columns; quote cells that hold a comma"),
    ("a,b\n\"1\"x,2\n", .csv, "list:2: text follows the closing quote of the column `a`"),
    ("a,b\n1,2\n3,\"4\n5,6\n", .csv, "list:3: the quote that opens in this line is never closed"),
    ("a,b\n\"x\ny\",\"z\n", .csv, "list:3: the quote that opens"),
    ("a,b,a\n", .csv, "list:1: the columns 1 and 3 are both called `a`"),
    ("{\"é\":x}\n", .jsonl, "list:1:6: a value was expected"), ("7\n", .jsonl, "list:1:1: this is no object"),
  ]

  @Test(arguments: messages)
  func `a bad row is told with its line`(text: String, format: RecordFormat, expected: String) {
    #expect(message(text, format).hasPrefix(expected), "\(message(text, format))")
  }

  @Test func `tables without a header get names`() {
    let text = Array("1,2\n3,4\n".utf8)
    #expect(rows(text, .csv, RecordOptions(header: .none)) == ["1 c1=1,c2=2", "2 c1=3,c2=4"])
    #expect(rows(text, .csv, RecordOptions(header: .names(["x", "y"]))) == ["1 x=1,y=2", "2 x=3,y=4"])
    #expect(rows(text, .csv, RecordOptions(header: .names(["x", "x"]))) == ["thrown record.column"])
  }

  @Test func `cells get the types that they are said to have`() throws {
    let options = RecordOptions(types: ["w": .integer, "s": .number, "ok": .boolean])
    let text = "w,s,ok,n\n 5 ,1.5,true,010\n,,,\n-1,1e3,No,x\nx,1,1,\n1,0x1,1,\n1,nan,1,\n1,1,maybe,\n7,1,0,last\n"
    let reader = try RecordReader(DribblingSource(Array(text.utf8), step: .max), format: .csv, options: options)
    var records: [Record] = []
    while let record = try reader.next() { records.append(record) }
    #expect(records[0].cells.values == [5, 1.5, true, "010"])
    #expect(records[1].cells.values == [nil, nil, nil, ""])
    #expect(records[2].cells.values == [-1, 1000.0, false, "x"])
    #expect(records[3...6].map { $0.fault?.code } == ["record.type", "record.type", "record.type", "record.type"])
    #expect(records[3].fault?.message == "list:5: the column `w` is `x`, not a whole number")
    #expect(records[7].cells.values == [7, 1.0, false, "last"])
  }

  @Test func `types of columns that are not there are told`() {
    let options = RecordOptions(types: ["width": .integer])
    #expect(
      message("a,b\n1,2\n", .csv, options)
        == "`types` names the column `width`, which list does not have; it has `a`, `b`")
    #expect(
      rows(Array("{\"width\":\"5\"}\n{}\n{\"width\":1.5}".utf8), .jsonl, options).map { $0.prefix(14) }
        == ["1 width=5", "2 ", "3 !record.type"])
  }

  @Test func `rows that are no UTF-8 are told and skipped`() {
    #expect(
      rows(Array("a,b\n1,".utf8) + [0xFF] + Array("\n3,4\n".utf8), .csv) == ["2 !record.encoding a=1,b=", "3 a=3,b=4"])
    #expect(rows(Array("a,b\n\"1\",".utf8) + [0xC3] + Array("\n3,4\n".utf8), .csv).last == "3 a=3,b=4")
    #expect(rows([0xFF, 0x0A, 0x61], .txt) == ["1 !record.encoding ", "2 url=a"])
    #expect(rows(Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}\n{}".utf8), .jsonl) == ["1 !record.json ", "2 "])
  }

  @Test func `a line without an end is refused, not kept`() {
    let long = [UInt8](repeating: UInt8(ascii: "x"), count: 17 << 20)
    for format in RecordFormat.allCases { #expect(rows(long, format) == ["thrown record.too_long"]) }
    #expect(rows(Array("a\n\"".utf8) + long, .csv) == ["thrown record.too_long"])
    let lines = [UInt8](repeating: 0x0A, count: 17 << 20)
    #expect(rows(Array("a\n\"".utf8) + lines, .csv) == ["thrown record.too_long"])
  }

  @Test func `the rows of a table share its names`() throws {
    let reader = try RecordReader(DribblingSource(Array("a,b\n1,2\n3,4\n".utf8), step: .max), format: .csv)
    #expect(reader.columns == ["a", "b"])
    let records = [try #require(try reader.next()), try #require(try reader.next())]
    let addresses = unsafe records.map { unsafe $0.cells.names.withUnsafeBufferPointer { $0.baseAddress } }
    #expect(unsafe addresses[0] == addresses[1])
  }

  @Test func `what is there already is known, so that nobody waits for a pipe`() throws {
    let reader = try RecordReader(DribblingSource(Array("a\n1\n2\n3".utf8), step: 6), format: .csv)
    #expect(reader.isReady)
    _ = try reader.next()
    #expect(reader.isReady)
    _ = try reader.next()
    #expect(!reader.isReady)
    #expect(try reader.next()?.cells == ["a": "3"])
    let lines = try RecordReader(DribblingSource(Array("x\ny\n".utf8), step: 4), format: .txt)
    _ = try lines.next()
    #expect(lines.isReady)
    _ = try lines.next()
    #expect(!lines.isReady)
  }

  static let names: [(String, RecordFormat?)] = [
    ("a/b.csv", .csv), ("x.CSV.GZ", .csv), ("x.tsv.gz", .tsv), ("x.ndjson", .jsonl), ("x.jsonl", .jsonl),
    ("x.txt", .txt),
    ("x", nil), ("x.gz", nil), ("csv", .csv), ("-", nil), ("x.json", nil),
  ]

  @Test(arguments: names) func `a name tells the format`(path: String, format: RecordFormat?) {
    #expect(RecordFormat(path: path) == format)
  }
}
