internal import CZstd
internal import FlowBase

/// Unpacks Zstandard, one frame or several.
@safe final class ZstdUnpacker: Unpacker {
  private let stream: OpaquePointer
  private let output: UnsafeMutableBufferPointer<UInt8>
  private(set) var isAtEnd = false

  /// The largest window that HTTP allows, 8 MiB (RFC 9659): what asks for more wants our memory.
  private static let windowLog: Int32 = 23

  init() throws(Fault) {
    guard let stream = unsafe ZSTD_createDStream() else { throw .internal("zstd", "the decoder did not start") }
    _ = unsafe ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, ZstdUnpacker.windowLog)
    unsafe self.stream = unsafe stream
    unsafe output = .allocate(capacity: 1 << 16)
  }

  deinit {
    unsafe ZSTD_freeDStream(stream)
    unsafe output.deallocate()
  }

  func update(
    _ input: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) throws(Fault) -> Void
  ) throws(Fault) {
    guard input.count > 0 else { return }
    var source = unsafe ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
    while true {
      var target = unsafe ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
      let hint = unsafe ZSTD_decompressStream(stream, &target, &source)
      if ZSTD_isError(hint) != 0 { throw ZstdUnpacker.corrupt }
      let count = unsafe target.pos
      if count > 0 { try unsafe take(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(output)[..<count])) }
      isAtEnd = hint == 0
      let isUsedUp = unsafe source.pos == source.size
      // Behind a frame's end nothing waits in the decoder; else room that is left says so.
      if isUsedUp, isAtEnd || count < (unsafe output.count) { return }
    }
  }

  private static let corrupt = Fault("body.truncated", .transient, "the bytes packed with Zstandard are damaged")
}
