internal import CBrotli
internal import FlowBase

/// Unpacks Brotli.
@safe final class BrotliUnpacker: Unpacker {
  private let state: OpaquePointer
  private let output: UnsafeMutableBufferPointer<UInt8>
  private(set) var isAtEnd = false

  init() throws(Fault) {
    guard let state = unsafe BrotliDecoderCreateInstance(nil, nil, nil) else {
      throw .internal("brotli", "the decoder did not start")
    }
    unsafe self.state = unsafe state
    unsafe output = .allocate(capacity: 1 << 16)
  }

  deinit {
    unsafe BrotliDecoderDestroyInstance(state)
    unsafe output.deallocate()
  }

  func update(
    _ input: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) throws(Fault) -> Void
  ) throws(Fault) {
    guard input.count > 0 else { return }
    if isAtEnd { throw BrotliUnpacker.corrupt }
    var left = input.count
    var next = unsafe input.bindMemory(to: UInt8.self).baseAddress
    while true {
      var room = unsafe output.count
      var place = unsafe output.baseAddress
      let result = unsafe BrotliDecoderDecompressStream(state, &left, &next, &room, &place, nil)
      let count = unsafe output.count - room
      if count > 0 { try unsafe take(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(output)[..<count])) }
      switch result {
      case BROTLI_DECODER_RESULT_SUCCESS:
        isAtEnd = true
        if left > 0 { throw BrotliUnpacker.corrupt }
        return
      case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: return
      case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: continue
      default: throw BrotliUnpacker.corrupt
      }
    }
  }

  private static let corrupt = Fault("body.truncated", .transient, "the bytes packed with Brotli are damaged")
}
