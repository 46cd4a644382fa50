internal import CZlib

/// Gzip (RFC 1952).
public enum Gzip {
  /// The first two bytes of every gzip stream.
  static let magic: [UInt8] = [0x1F, 0x8B]

  /// The bytes as one gzip member.
  public static func compress(_ bytes: [UInt8], level: Int = 6) -> [UInt8] {
    deflated(bytes, level, windowBits: 15 + 16)
  }
}

/// Zlib streams (RFC 1950), as PNG holds them.
public enum Zlib {
  /// The bytes as one zlib stream.
  public static func compress(_ bytes: [UInt8], level: Int = 6) -> [UInt8] { deflated(bytes, level, windowBits: 15) }
}

/// The checksum of gzip and PNG.
public struct Crc32: Sendable, Hashable {
  /// The checksum of all bytes so far.
  public private(set) var value: UInt32 = 0

  /// The checksum of no bytes.
  public init() {}

  /// Takes the next bytes in.
  public mutating func update(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    value = unsafe bytes.withUnsafeBufferPointer { buffer in
      unsafe UInt32(truncatingIfNeeded: crc32_z(UInt(value), buffer.baseAddress, buffer.count))
    }
  }

  /// The checksum of some bytes.
  public static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var checksum = Crc32()
    checksum.update(bytes)
    return checksum.value
  }
}

/// The whole of a deflate stream; the window's bits say how it is wrapped.
private func deflated(_ bytes: [UInt8], _ level: Int, windowBits: Int32) -> [UInt8] {
  var stream = unsafe z_stream()
  let started = unsafe deflateInit2_(
    &stream, Int32(min(9, max(0, level))), Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
    Int32(MemoryLayout<z_stream>.size))
  guard started == Z_OK else { return [] }
  defer { unsafe deflateEnd(&stream) }
  var packed: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 1 << 16)
  var input = bytes
  unsafe input.withUnsafeMutableBufferPointer { source in
    unsafe stream.next_in = source.baseAddress
    var left = source.count
    var status = Z_OK
    while status == Z_OK {
      // zlib counts in 32 bits.
      let share = unsafe min(left, 1 << 30 - Int(stream.avail_in))
      unsafe stream.avail_in += UInt32(share)
      left -= share
      let flush = left == 0 ? Z_FINISH : Z_NO_FLUSH
      let count = unsafe chunk.withUnsafeMutableBufferPointer { target in
        unsafe stream.next_out = target.baseAddress
        unsafe stream.avail_out = UInt32(target.count)
        status = unsafe deflate(&stream, flush)
        return unsafe target.count - Int(stream.avail_out)
      }
      packed.append(contentsOf: chunk[..<count])
    }
  }
  return packed
}
