/// CRC-32 as Ethernet and zip have it: tells damage on a disk, and no intent.
public enum Checksum {
  private static let table: [UInt32] = (0..<256).map { index in
    var value = UInt32(index)
    for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    return value
  }

  /// The checksum of some bytes; one that was made of the bytes before goes on.
  public static func crc32(of bytes: some Sequence<UInt8>, from start: UInt32 = 0) -> UInt32 {
    var value = ~start
    for byte in bytes { value = value >> 8 ^ table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] }
    return ~value
  }
}
