internal import CPosix
internal import Glibc

/// An open file, directory or socket, closed with its last user.
public final class Descriptor: Sendable {
  /// The number under which the kernel knows it.
  public let number: Int32
  private let isOwned: Bool

  /// Takes over a number; it is closed with this object unless it belongs to somebody else.
  public init(_ number: Int32, isOwned: Bool = true) {
    self.number = number
    self.isOwned = isOwned
  }

  deinit { if isOwned { close(number) } }

  /// Standard input.
  public static let standardInput = Descriptor(0, isOwned: false)
  /// Standard output.
  public static let standardOutput = Descriptor(1, isOwned: false)
  /// Standard error.
  public static let standardError = Descriptor(2, isOwned: false)

  /// Another number for the same open file.
  public func duplicate() throws(Errno) -> Descriptor {
    Descriptor(try Errno.retry { imgflow_duplicate(number) })
  }

  /// What `fstat` says of it.
  public func facts() throws(Errno) -> FileFacts {
    var status = stat()
    _ = try Errno.retry { unsafe fstat(number, &status) }
    return FileFacts(status)
  }

  /// Lets calls fail with `wouldBlock` where they would have to wait.
  public func setNonBlocking(_ flag: Bool = true) throws(Errno) {
    let flags = try Errno.retry { imgflow_get_flags(number) }
    _ = try Errno.retry { imgflow_set_flags(number, flag ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) }
  }
}

// MARK: Reading and writing

extension Descriptor {
  /// Reads what is there, at most as much as the buffer takes; 0 at the end.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
    try Errno.retry { unsafe Glibc.read(number, buffer.baseAddress, buffer.count) }
  }

  /// Reads from a place in the file, at most as much as the buffer takes; 0 at the end.
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(Errno) -> Int {
    try Errno.retry { unsafe pread(number, buffer.baseAddress, buffer.count, offset) }
  }

  /// Reads what is there, at most so many bytes; none at the end.
  public func read(upTo count: Int, at offset: Int? = nil) throws(Errno) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let length = try read(into: &buffer, at: offset)
    buffer.removeLast(count - length)
    return buffer
  }

  /// Reads into the array's elements and says how many were read; 0 at the end.
  public func read(into buffer: inout [UInt8], at offset: Int? = nil) throws(Errno) -> Int {
    let result: Result<Int, Errno> = unsafe buffer.withUnsafeMutableBytes { bytes in
      do throws(Errno) {
        guard let offset else { return .success(try unsafe read(into: bytes)) }
        return .success(try unsafe read(into: bytes, at: offset))
      } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Reads to the end.
  public func readAll(limit: Int = .max) throws(Errno) -> [UInt8] {
    var content: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while content.count < limit {
      let length = try read(into: &buffer)
      if length == 0 { break }
      content.append(contentsOf: buffer[..<min(length, limit - content.count)])
    }
    return content
  }

  /// Writes all of the bytes, however many calls it takes.
  public func write(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
    var done = 0
    while done < bytes.count {
      done += try Errno.retry {
        unsafe Glibc.write(number, bytes.baseAddress?.advanced(by: done), bytes.count - done)
      }
    }
  }

  /// Writes all of the bytes.
  public func write(_ bytes: [UInt8]) throws(Errno) {
    let failure: Errno? = unsafe bytes.withUnsafeBytes { buffer in
      do throws(Errno) {
        try unsafe write(buffer)
        return nil
      } catch { return error }
    }
    if let failure { throw failure }
  }

  /// Writes a text's UTF-8 bytes.
  public func write(_ text: String) throws(Errno) { try write(Array(text.utf8)) }
}

// MARK: Files

extension Descriptor {
  /// Waits until content and facts are on the disk.
  public func sync() throws(Errno) { _ = try Errno.retry { fsync(number) } }

  /// Waits until the content, and what is needed to find it, is on the disk.
  public func syncData() throws(Errno) { _ = try Errno.retry { fdatasync(number) } }

  /// Sets the writing of the content to the disk going, without waiting for it.
  public func startWriting() { _ = imgflow_start_writing(number) }

  /// Cuts the file, or fills it with zeros, to a length.
  public func truncate(to length: Int) throws(Errno) { _ = try Errno.retry { ftruncate(number, length) } }

  /// Goes on reading or writing at a place.
  public func seek(to offset: Int) throws(Errno) { _ = try Errno.retry { lseek(number, offset, SEEK_SET) } }

  /// Sets the permissions.
  public func setMode(_ mode: Int) throws(Errno) { _ = try Errno.retry { fchmod(number, mode_t(mode)) } }

  /// Makes this empty file share the other's bytes; false where the file system cannot.
  public func clone(_ source: Descriptor) -> Bool { imgflow_clone(number, source.number) == 0 }

  /// Makes this empty file hold the other's bytes: shared with it where the file system can, else copied by the kernel,
  /// else by hand.
  public func copy(from source: Descriptor) throws(Errno) {
    if clone(source) { return }
    var offset = 0
    while true {
      let count = imgflow_copy_range(source.number, number, 1 << 30)
      if count == 0 { return }
      if count > 0 {
        offset += count
        continue
      }
      if errno == EINTR { continue }
      break
    }
    // A kernel or file system without the call: nothing or a part was copied, and the rest goes through memory.
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let length = try source.read(into: &buffer, at: offset)
      if length == 0 { return }
      try write(Array(buffer[..<length]))
      offset += length
    }
  }

  /// Takes the lock of this open file for itself alone; false if another open file has it.
  ///
  /// The lock belongs to the open file, not to the process: it goes with the last descriptor, also by a crash.
  public func tryLock() throws(Errno) -> Bool {
    do throws(Errno) {
      _ = try Errno.retry { flock(number, LOCK_EX | LOCK_NB) }
      return true
    } catch {
      if error == .wouldBlock { return false }
      throw error
    }
  }

  /// Takes the lock, and waits in the kernel for as long as another has it.
  ///
  /// Blocks the calling thread: never call it on the cooperative pool.
  public func lock() throws(Errno) { _ = try Errno.retry { flock(number, LOCK_EX) } }

  /// Gives the lock back.
  public func unlock() { _ = flock(number, LOCK_UN) }
}
