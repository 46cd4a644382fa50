import FlowBase
import FlowRecords

/// Hands out its bytes in pieces of one size.
private final class PieceSource: ByteSource {
  let name = "fuzz"
  private let bytes: ArraySlice<UInt8>
  private let step: Int
  private var place: Int

  init(_ bytes: ArraySlice<UInt8>, step: Int) {
    self.bytes = bytes
    self.step = step
    place = bytes.startIndex
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int {
    let count = min(buffer.count, bytes.endIndex - place, step)
    unsafe buffer.copyBytes(from: bytes[place..<place + count])
    place += count
    return count
  }
}

/// The first byte chooses the format and the header; the rows are the same whether the bytes come at once or singly.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  guard let choice = bytes.first else { return 0 }
  let format = RecordFormat.allCases[Int(choice & 3)]
  let types: [String: CellType] = choice & 8 == 0 ? [:] : ["a": .integer, "b": .number, "c": .boolean]
  let options = RecordOptions(header: choice & 4 == 0 ? .firstRow : .names(["a", "b", "c"]), types: types)
  let whole = rows(PieceSource(bytes.dropFirst(), step: .max), format, options)
  let pieces = rows(PieceSource(bytes.dropFirst(), step: 1), format, options)
  if whole != pieces { fatalError("the rows depend on how the bytes arrive") }
  if let packed = try? ByteSources.memory(Array(bytes.dropFirst())) { _ = rows(packed, format, options) }
  return 0
}

private func rows(_ source: any ByteSource, _ format: RecordFormat, _ options: RecordOptions) -> [Record] {
  var records: [Record] = []
  do throws(Fault) {
    let reader = try RecordReader(source, format: format, options: options)
    while let record = try reader.next() { records.append(record) }
  } catch {
    records.append(Record(line: 0, cells: [:], fault: error))
  }
  return records
}
