internal import CPosix
internal import Glibc

/// Records that wait on disk, first in, first out, in a file without a name: it is gone with the process.
///
/// One thread at a time uses it.
public final class SpoolFile {
  private let descriptor: Int32
  /// The most bytes that the file may hold.
  private let limit: Int
  private var readOffset = 0
  private var writeOffset = 0
  /// Bytes that were appended last and are not in the file yet.
  private var tail: [UInt8] = []
  /// Bytes that were read from the file and not taken yet, from `taken` on.
  private var front: [UInt8] = []
  private var taken = 0

  private static let chunk = 1 << 16
  /// A length and a number, eight bytes each, stand before a record.
  private static let header = 16

  /// Makes a spool in a folder, of at most so many bytes.
  public init(folder: String, limit: Int) throws(Fault) {
    let path = "\(folder)/.spool-\(getpid())-\(UInt64.random(in: .min ... .max))"
    descriptor = unsafe imgflow_open(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
    self.limit = limit
    guard descriptor >= 0 else { throw SystemFault.last("cannot make a spool in \(folder)") }
    unsafe unlink(path)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// How many bytes wait.
  public var bytes: Int { front.count - taken + writeOffset - readOffset + tail.count }

  /// Whether a record of so many bytes still has room.
  public func fits(_ count: Int) -> Bool { bytes + count + Self.header <= limit }

  /// Puts a record behind the others; whether it fits is the caller's to ask.
  public func append(_ number: Int, _ record: [UInt8]) throws(Fault) {
    unsafe withUnsafeBytes(of: (record.count.littleEndian, number.littleEndian)) { unsafe tail.append(contentsOf: $0) }
    tail.append(contentsOf: record)
    if tail.count >= Self.chunk { try flush() }
  }

  /// The number of the first record.
  public func firstNumber() throws(Fault) -> Int? {
    guard try fill(Self.header) else { return nil }
    return integer(at: taken + 8)
  }

  /// Takes the first record.
  public func popFirst() throws(Fault) -> [UInt8]? {
    guard try fill(Self.header) else { return nil }
    let count = integer(at: taken)
    guard try fill(Self.header + count) else { throw .internal("spool", "a spool ends within a record") }
    let start = taken + Self.header
    taken = start + count
    return Array(front[start..<taken])
  }

  private func integer(at place: Int) -> Int {
    var number = 0
    for offset in (0..<8).reversed() { number = number << 8 | Int(front[place + offset]) }
    return number
  }

  /// Makes sure that so many untaken bytes are in memory; false where there are none at all.
  private func fill(_ count: Int) throws(Fault) -> Bool {
    if front.count - taken >= count { return true }
    front.removeFirst(taken)
    taken = 0
    if readOffset < writeOffset {
      try read(min(writeOffset - readOffset, max(Self.chunk, count)))
    }
    if front.count < count && readOffset == writeOffset {
      front.append(contentsOf: tail)
      tail.removeAll(keepingCapacity: true)
      if writeOffset > 0 {
        // All is taken: the disk's room is given back.
        guard ftruncate(descriptor, 0) == 0 else { throw SystemFault.last("cannot empty a spool") }
        readOffset = 0
        writeOffset = 0
      }
    }
    return front.count >= count
  }

  private func flush() throws(Fault) {
    var done = 0
    while done < tail.count {
      let count = unsafe tail.withUnsafeBytes {
        unsafe pwrite(descriptor, $0.baseAddress?.advanced(by: done), $0.count - done, off_t(writeOffset + done))
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw SystemFault.last("cannot write a spool") }
      done += count
    }
    writeOffset += tail.count
    tail.removeAll(keepingCapacity: true)
  }

  private func read(_ count: Int) throws(Fault) {
    var buffer = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let got = unsafe buffer.withUnsafeMutableBytes {
        unsafe pread(descriptor, $0.baseAddress?.advanced(by: done), count - done, off_t(readOffset + done))
      }
      if got < 0 && errno == EINTR { continue }
      guard got > 0 else { throw SystemFault.last("cannot read a spool") }
      done += got
    }
    readOffset += count
    front.append(contentsOf: buffer)
  }
}
