import FlowBase
import FlowParts

/// Any text is a range whose ends can be reached, or none.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  let texts = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  for text in texts {
    guard let range = try? AxisRange(parsing: text) else { continue }
    check(range.count > 0, "an empty range")
    for place in [0, range.count / 2, range.count - 1] { check(!range.value(at: place).isNull, "a value is missing") }
    check(range.value(at: range.count).isNull, "a value too many")
  }
  let loop = Fields(names: texts.indices.map { "n\($0)" }, values: texts.map { .string($0) })
  for isZipped in [false, true] {
    guard texts.count < 8,
      let axes = try? Axes(
        loop: loop, zip: isZipped, exclude: texts.isEmpty ? [] : [["n0": 2], ["n0": .string(texts[0])]])
    else { continue }
    let rows = axes.prefix(1000).reduce(0) { rows, _ in rows + 1 }
    if let total = axes.count { check(rows == min(total, 1000), "\(total) rows were promised, \(rows) came") }
  }
  return 0
}

private func check(_ holds: Bool, _ message: @autoclosure () -> String) {
  if !holds { fatalError(message()) }
}
