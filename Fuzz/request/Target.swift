import FlowBase
import FlowServe

/// Any bytes are requests, the beginning of one, or none; in pieces they are the same as in one.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  let whole = readings(bytes, pieces: max(1, count))
  check(whole == readings(bytes, pieces: 7), "pieces make a difference")
  guard let address = NetworkAddress(parsing: "127.0.0.1") else { return 0 }
  let keeper = Doorkeeper(secret: "nobody knows it", cookie: "c", address: address, port: 80)
  for case .request(let request) in whole {
    check(request.path.hasPrefix("/") && !request.method.isEmpty, "a request without a path or a method")
    check(request.body.count <= RequestReader.longestBody, "a body that is too long")
    if case .refuse = keeper.judge(request) { continue }
    check(false, "somebody came in without the secret")
  }
  return 0
}

/// What a reader makes of bytes that come in pieces, up to the first refusal.
private func readings(_ bytes: [UInt8], pieces: Int) -> [RequestReader.Reading] {
  var reader = RequestReader()
  var found: [RequestReader.Reading] = []
  for start in stride(from: 0, to: bytes.count, by: pieces) {
    reader.add(bytes[start..<min(bytes.count, start + pieces)])
    reading: while true {
      let reading = reader.next()
      switch reading {
      case .partial: break reading
      case .request: found.append(reading)
      case .refused: return found + [reading]
      }
    }
  }
  return found
}

private func check(_ holds: Bool, _ message: @autoclosure () -> String) {
  if !holds { fatalError(message()) }
}
