import FlowBase

/// What reads at all reads back the same once it is written, and every problem has its place in the text.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  do throws(JSONProblem) {
    let value = try JSONReader.read(bytes)
    var writer = JSONWriter()
    writer.value(value)
    let again = try JSONReader.read(writer.bytes)
    var second = JSONWriter()
    second.value(again)
    if second.bytes != writer.bytes { fatalError("it does not read back") }
  } catch {
    if error.offset < 0 || error.offset > bytes.count || error.message.isEmpty {
      fatalError("a problem outside of the text")
    }
  }
  return 0
}
