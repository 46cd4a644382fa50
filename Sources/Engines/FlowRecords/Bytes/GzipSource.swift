internal import CZlib
internal import FlowBase

/// What a gzip stream of one or several members holds.
@safe final class GzipSource: ByteSource {
  private static let inputSize = 1 << 16

  private let packed: any ByteSource
  private let stream: UnsafeMutablePointer<z_stream>
  private let input: UnsafeMutableRawBufferPointer
  private var isInsideMember = true
  private var isAtEnd = false
  var name: String { packed.name }

  init(_ packed: any ByteSource) {
    self.packed = packed
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    unsafe input = .allocate(byteCount: GzipSource.inputSize, alignment: 1)
    // 15 bits of window, and 16 for "gzip only".
    _ = unsafe inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
  }

  deinit {
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
    unsafe input.deallocate()
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int {
    let wanted = min(buffer.count, 1 << 30)
    unsafe stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
    unsafe stream.pointee.avail_out = UInt32(wanted)
    while unsafe !isAtEnd && Int(stream.pointee.avail_out) == wanted {
      if unsafe stream.pointee.avail_in == 0 { try refill() }
      if !isAtEnd && !isInsideMember { try skipToMember() }
      if isInsideMember { try step() }
    }
    return unsafe wanted - Int(stream.pointee.avail_out)
  }

  private func step() throws(Fault) {
    switch unsafe inflate(stream, Z_NO_FLUSH) {
    case Z_OK, Z_BUF_ERROR: return
    case Z_STREAM_END: isInsideMember = false
    default:
      throw Fault(
        "record.gzip", .permanent, "\(name) is damaged: its gzip data cannot be unpacked; fetch or pack it again")
    }
  }

  private func refill() throws(Fault) {
    let count = try unsafe packed.read(into: input)
    unsafe stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
    unsafe stream.pointee.avail_in = UInt32(count)
    guard count == 0 else { return }
    isAtEnd = true
    if isInsideMember {
      throw Fault("record.truncated", .permanent, "\(name) ends in the middle of its gzip data; fetch or pack it again")
    }
  }

  /// Looks at what follows a member: another one, or padding of zeros up to the end.
  private func skipToMember() throws(Fault) {
    while unsafe stream.pointee.avail_in > 0, unsafe stream.pointee.next_in.pointee == 0 {
      unsafe stream.pointee.next_in += 1
      unsafe stream.pointee.avail_in -= 1
    }
    guard unsafe stream.pointee.avail_in > 0 else { return }
    guard unsafe stream.pointee.next_in.pointee == Gzip.magic[0] else {
      throw Fault("record.gzip", .permanent, "something that is no gzip data follows the gzip data of \(name)")
    }
    unsafe inflateReset(stream)
    isInsideMember = true
  }
}
