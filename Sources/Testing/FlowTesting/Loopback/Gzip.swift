/// Bytes in gzip's form, without compression: enough for a client that must unpack them.
public enum Gzip {
  /// The bytes as one member of stored blocks.
  public static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var packed: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
    var place = 0
    repeat {
      let count = min(bytes.count - place, 65_535)
      packed.append(place + count == bytes.count ? 1 : 0)
      append(UInt32(count) | ~UInt32(count) << 16, to: &packed)
      packed.append(contentsOf: bytes[place..<place + count])
      place += count
    } while place < bytes.count
    append(checksum(bytes), to: &packed)
    append(UInt32(truncatingIfNeeded: bytes.count), to: &packed)
    return packed
  }

  /// The CRC-32 of some bytes.
  public static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var remainder: UInt32 = .max
    for byte in bytes {
      remainder ^= UInt32(byte)
      for _ in 0..<8 { remainder = remainder >> 1 ^ (remainder & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
    return ~remainder
  }

  private static func append(_ number: UInt32, to bytes: inout [UInt8]) {
    for shift in [UInt32(0), 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
  }
}
