internal import CTurboJPEG

/// libturbojpeg, loaded on first use.
enum TurboCodec {
  /// Whether the library is there; without it all pictures go the common way.
  static let isThere: Bool = imgflow_turbo_open() == 0

  /// Decodes to an eighth, a quarter, a half or all of the columns and rows; nil for whatever the decoder complains of.
  static func decode(_ bytes: PinnedBytes, _ header: JPEGHeader, eighths: Int) -> PixelBlock? {
    guard let decoder = unsafe imgflow_turbo_decoder() else { return nil }
    defer { unsafe imgflow_turbo_free_handle(decoder) }
    let width = (header.width * eighths + 7) / 8
    let height = (header.height * eighths + 7) / 8
    let bands = header.components == 1 ? 1 : 3
    var code: Int32 = -1
    let pixels = unsafe [UInt8](unsafeUninitializedCapacity: width * height * bands) { buffer, count in
      // 0 stands for RGB, 6 for grey.
      code = unsafe imgflow_turbo_decode(
        decoder, bytes.start.assumingMemoryBound(to: UInt8.self), bytes.count, buffer.baseAddress, Int32(width),
        Int32(height), bands == 1 ? 6 : 0)
      count = code == 0 ? width * height * bands : 0
    }
    return code == 0 ? PixelBlock(width: width, height: height, bands: bands, bytes: pixels) : nil
  }

  /// Encodes; nil where the encoder refuses.
  static func encode(_ block: PixelBlock, quality: Int, isFull: Bool, isProgressive: Bool) -> [UInt8]? {
    guard let encoder = unsafe imgflow_turbo_encoder() else { return nil }
    defer { unsafe imgflow_turbo_free_handle(encoder) }
    var bytes: UnsafeMutablePointer<UInt8>?
    var count = 0
    // 0 keeps all colours, 2 one for four pixels, 3 none.
    let subsampling: Int32 = block.bands == 1 ? 3 : isFull ? 0 : 2
    let code = unsafe imgflow_turbo_encode(
      encoder, block.bytes, Int32(block.width), Int32(block.height), block.bands == 1 ? 6 : 0, &bytes, &count,
      subsampling, Int32(quality), isProgressive ? 1 : 0)
    guard let start = unsafe bytes else { return nil }
    defer { unsafe imgflow_turbo_free_bytes(start) }
    return code == 0 ? unsafe Array(UnsafeBufferPointer(start: start, count: count)) : nil
  }
}
