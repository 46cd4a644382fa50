internal import FlowBase
internal import Glibc

/// The part of a source that is being looked at: a buffer that takes in more at its end and gives up its beginning.
///
/// Pointers into it hold until the next call that reads.
@safe final class ByteWindow {
  /// The longest line or record, in bytes.
  static let limit = 16 << 20
  private static let chunk = 1 << 18

  let source: any ByteSource
  private var base: UnsafeMutablePointer<UInt8>
  private var capacity = ByteWindow.chunk
  private var start = 0
  private var end = 0
  private var isAtEnd = false

  init(_ source: any ByteSource) {
    self.source = source
    unsafe base = .allocate(capacity: ByteWindow.chunk)
  }

  deinit { unsafe base.deallocate() }

  /// What is there.
  var bytes: UnsafeBufferPointer<UInt8> { unsafe UnsafeBufferPointer(start: base + start, count: end - start) }

  /// Gives up the first bytes.
  func drop(_ count: Int) { start += count }

  /// Whether a whole line is there behind the first bytes, so that nothing must be waited for.
  func hasLine(behind count: Int) -> Bool {
    let rest = unsafe bytes[min(count, end - start)...]
    return unsafe UnsafeBufferPointer(rebasing: rest).baseAddress.map { unsafe memchr($0, 0x0A, rest.count) != nil }
      ?? false
  }

  /// Reads more to the end of what is there; false at the end of the source.
  func more() throws(Fault) -> Bool {
    if isAtEnd { return false }
    if end == capacity { makeRoom() }
    let room = unsafe UnsafeMutableRawBufferPointer(start: base + end, count: capacity - end)
    let count = try unsafe source.read(into: room)
    isAtEnd = count == 0
    end += count
    return count > 0
  }

  private func makeRoom() {
    let held = end - start
    if held > capacity / 2 {
      let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity * 2)
      unsafe memcpy(larger, base + start, held)
      unsafe base.deallocate()
      unsafe base = unsafe larger
      capacity *= 2
    } else {
      unsafe memmove(base, base + start, held)
    }
    start = 0
    end = held
  }

  /// Gives up a byte order mark, if the source begins with one.
  func dropByteOrderMark() throws(Fault) {
    while end - start < 3, try more() {}
    if unsafe bytes.starts(with: [0xEF, 0xBB, 0xBF]) { drop(3) }
  }

  /// How many bytes there are up to the next line feed, itself left out; nil at the end of the source.
  ///
  /// The last line may do without one. Longer lines than the limit are a fault that names the given line.
  func lengthOfLine(number: Int) throws(Fault) -> (length: Int, hasFeed: Bool)? {
    var searched = 0
    while true {
      let held = unsafe bytes
      if let base = held.baseAddress, let feed = unsafe memchr(base + searched, 0x0A, held.count - searched) {
        return unsafe (UnsafeRawPointer(feed) - UnsafeRawPointer(base), true)
      }
      searched = held.count
      if searched > ByteWindow.limit {
        throw Fault(
          "record.too_long", .permanent,
          "line \(number) of \(source.name) is longer than \(ByteWindow.limit >> 20) MiB; is it a list at all?")
      }
      guard try more() else { return searched == 0 ? nil : (searched, false) }
    }
  }
}
