internal import CZlib
public import FlowBase

/// Unpacks a deflated stream piece by piece, and knows whether its end has come.
@safe public final class Inflater: Unpacker {
  /// How the stream is wrapped.
  public enum Wrapping: Sendable, Hashable {
    /// Gzip (RFC 1952), one member or several.
    case gzip
    /// What HTTP calls `deflate`: zlib (RFC 1950), or from some servers nothing around it.
    case deflate
  }

  private var stream = unsafe z_stream()
  private let output: UnsafeMutableBufferPointer<UInt8>
  private let wrapping: Wrapping
  private var isStarted = false
  private var isBetweenMembers = false

  /// Whether the stream is complete, its checksum included, with nothing behind it.
  public var isAtEnd: Bool { isBetweenMembers }

  /// A stream that has not begun.
  public init(_ wrapping: Wrapping) {
    self.wrapping = wrapping
    unsafe output = .allocate(capacity: 1 << 16)
  }

  deinit {
    if isStarted { unsafe inflateEnd(&stream) }
    unsafe output.deallocate()
  }

  /// Takes the next packed bytes and hands out what they unpack to; `body.truncated` where they are no such stream.
  public func update(
    _ input: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) throws(Fault) -> Void
  ) throws(Fault) {
    guard let base = unsafe input.bindMemory(to: UInt8.self).baseAddress, input.count > 0 else { return }
    if !isStarted { try start(unsafe base.pointee) }
    unsafe stream.next_in = UnsafeMutablePointer(mutating: base)
    unsafe stream.avail_in = UInt32(clamping: input.count)
    while true {
      if isBetweenMembers {
        guard try goesOn() else { return }
      }
      unsafe stream.next_out = output.baseAddress
      unsafe stream.avail_out = UInt32(output.count)
      let status = unsafe inflate(&stream, Z_NO_FLUSH)
      let count = unsafe output.count - Int(stream.avail_out)
      if count > 0 { try unsafe take(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(output)[..<count])) }
      switch status {
      case Z_STREAM_END: isBetweenMembers = true
      case Z_OK, Z_BUF_ERROR:
        // Room was left, so that the input is used up.
        if unsafe stream.avail_out > 0 { return }
      default: throw Inflater.corrupt
      }
    }
  }

  private func start(_ first: UInt8) throws(Fault) {
    let isZlib = first & 0x0f == 8 && first >> 4 <= 7
    let bits: Int32 = wrapping == .gzip ? 15 + 16 : isZlib ? 15 : -15
    let status = unsafe inflateInit2_(&stream, bits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else { throw .internal("inflate", "zlib did not start (\(status))") }
    isStarted = true
  }

  /// Whether another member follows; zeros behind the last one are padding.
  private func goesOn() throws(Fault) -> Bool {
    while unsafe stream.avail_in > 0, let next = unsafe stream.next_in, unsafe next.pointee == 0 {
      unsafe stream.next_in = unsafe next + 1
      unsafe stream.avail_in -= 1
    }
    guard unsafe stream.avail_in > 0 else { return false }
    guard wrapping == .gzip, let next = unsafe stream.next_in, unsafe next.pointee == 0x1f,
      unsafe inflateReset(&stream) == Z_OK
    else { throw Inflater.corrupt }
    isBetweenMembers = false
    return true
  }

  private static let corrupt = Fault("body.truncated", .transient, "the packed bytes are damaged")
}
