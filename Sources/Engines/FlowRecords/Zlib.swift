internal import CZlib

/// Packing of bytes that are all there, in zlib's form (RFC 1950).
public enum Zlib {
  /// The bytes, packed as small as they get.
  public static func compress(_ bytes: [UInt8]) -> [UInt8] {
    var length = compressBound(uLong(bytes.count))
    let packed = unsafe [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
      // The bound holds for any input, so this cannot fail but for want of memory.
      let code = unsafe compress2(buffer.baseAddress, &length, bytes, uLong(bytes.count), Z_BEST_COMPRESSION)
      count = code == Z_OK ? Int(length) : 0
    }
    return packed
  }
}

/// The checksum of gzip and PNG.
public enum Crc32 {
  /// The checksum of some bytes.
  public static func checksum(_ bytes: [UInt8]) -> UInt32 {
    UInt32(truncatingIfNeeded: unsafe crc32_z(0, bytes, bytes.count))
  }
}
