internal import CPosix
internal import Glibc

/// A file that grows by whole lines.
///
/// A last line without an end, which a crash left, is cut off on opening; a write that fails leaves nothing behind.
/// One thread at a time uses it.
public final class AppendFile {
  private let path: String
  private var descriptor: Int32
  /// How many bytes the file holds; what is no regular file counts what was written.
  public private(set) var size = 0
  private var isRegular = false

  /// Opens a file, and makes it if it is not there.
  public init(_ path: String) throws(Fault) {
    self.path = path
    descriptor = -1
    try open()
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  /// Appends whole lines.
  public func write(_ lines: [UInt8]) throws(Fault) {
    guard Streams.write(lines, to: descriptor) else {
      let number = errno
      // A part of a line is worse than none.
      if isRegular { _ = ftruncate(descriptor, off_t(size)) }
      if number == EPIPE { throw Streams.closed(path) }
      throw SystemFault.from(number, "cannot write \(path)")
    }
    size += lines.count
  }

  /// Puts the file aside as `PATH.1`, what was there as `PATH.2`, and so on up to `keep`, and begins a new one.
  public func rotate(keep: Int) throws(Fault) {
    guard isRegular else { return }
    for number in stride(from: keep, through: 1, by: -1) {
      let older = number == 1 ? path : "\(path).\(number - 1)"
      if unsafe rename(older, "\(path).\(number)") != 0 && errno != ENOENT {
        throw SystemFault.last("cannot put \(older) aside")
      }
    }
    if keep == 0 && ftruncate(descriptor, 0) != 0 { throw SystemFault.last("cannot empty \(path)") }
    Glibc.close(descriptor)
    descriptor = -1
    try open()
  }

  private func open() throws(Fault) {
    // A pipe would hold up its opening until somebody reads it; for reading too, so that the last line can be seen.
    var facts = stat()
    let isThere = unsafe stat(path, &facts) == 0
    let isPlain = !isThere || facts.st_mode & S_IFMT == S_IFREG
    descriptor = unsafe imgflow_open(path, (isPlain ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND, 0o666)
    guard descriptor >= 0 else { throw SystemFault.last("cannot open \(path)") }
    guard unsafe fstat(descriptor, &facts) == 0 else { throw SystemFault.last("cannot look at \(path)") }
    isRegular = facts.st_mode & S_IFMT == S_IFREG
    size = isRegular ? Int(facts.st_size) : 0
    if isRegular { try cutTornLine() }
  }

  private func cutTornLine() throws(Fault) {
    var end = size
    var chunk = [UInt8](repeating: 0, count: 1 << 12)
    while end > 0 {
      let start = max(0, end - chunk.count)
      let count = unsafe chunk.withUnsafeMutableBytes {
        unsafe pread(descriptor, $0.baseAddress, end - start, off_t(start))
      }
      guard count == end - start else { throw SystemFault.last("cannot read \(path)") }
      if let place = chunk[..<count].lastIndex(of: 0x0A) {
        end = start + place + 1
        break
      }
      end = start
    }
    guard end < size else { return }
    guard ftruncate(descriptor, off_t(end)) == 0 else { throw SystemFault.last("cannot cut the torn end of \(path)") }
    size = end
  }
}

extension Streams {
  /// The fault of a stream that nobody reads any more.
  public static func closed(_ name: String) -> Fault {
    Fault("sink.closed", .local, "nobody reads \(name) any more")
  }

  /// Whether a descriptor can be written to.
  public static func canWrite(_ descriptor: Int32) -> Bool {
    let flags = imgflow_get_flags(descriptor)
    return flags >= 0 && flags & O_ACCMODE != O_RDONLY
  }

  /// Writes all bytes to a descriptor; a closed other end is the fault `sink.closed`.
  public static func send(_ bytes: [UInt8], to descriptor: Int32, named name: String) throws(Fault) {
    guard !write(bytes, to: descriptor) else { return }
    let number = errno
    throw number == EPIPE ? closed(name) : SystemFault.from(number, "cannot write \(name)")
  }
}

extension StandardStream {
  /// How many columns and rows the terminal has; nil where there is none.
  public var window: (columns: Int, rows: Int)? {
    var size = winsize()
    guard unsafe imgflow_window_size(rawValue, &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }
}
