internal import CPosix
internal import Glibc

/// One of the three streams that every process begins with.
public enum StandardStream: Int32, Sendable, Hashable {
  case input = 0
  case output = 1
  case errors = 2

  /// Whether a person sits at the other end.
  public var isTerminal: Bool { isatty(rawValue) == 1 }

  /// How many columns the terminal has; nil where there is none.
  public var columns: Int? {
    var size = winsize()
    guard unsafe imgflow_window_size(rawValue, &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Writes all bytes; false where nobody reads any more or nothing can be written.
  @discardableResult
  public func write(_ bytes: [UInt8]) -> Bool { Streams.write(bytes, to: rawValue) }

  /// Writes a text; false where nobody reads any more or nothing can be written.
  @discardableResult
  public func write(_ text: String) -> Bool { write(Array(text.utf8)) }

  /// Reads up to the end.
  public func readToEnd() throws(Fault) -> [UInt8] { try Streams.readToEnd(rawValue, named: "standard input") }
}

/// Reading and writing by descriptor, with interrupted and partial calls taken care of.
public enum Streams {
  /// Writes all bytes to a descriptor; false where it takes no more.
  public static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    unsafe bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count {
        let count = unsafe Glibc.write(descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done)
        if count >= 0 {
          done += count
        } else if errno == EAGAIN {
          // Somebody made the stream non-blocking: wait until it takes bytes again.
          var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          _ = unsafe poll(&entry, 1, -1)
        } else if errno != EINTR {
          return false
        }
      }
      return true
    }
  }

  /// A write to a closed pipe becomes an error of the write, and no longer the end of the process.
  public static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

  /// Puts `/dev/null` in place of each standard stream that is closed; call it before anything is opened.
  ///
  /// A file that took the number of a closed stream would get what is written to that stream.
  public static func openClosedOnes() {
    for number in Int32(0)...2 where imgflow_get_flags(number) < 0 {
      let opened = unsafe imgflow_open("/dev/null", O_RDWR, 0)
      // The lowest free number is taken, which is this one.
      if opened > 2 { close(opened) }
    }
  }

  static func readToEnd(_ descriptor: Int32, named name: String, limit: Int = .max) throws(Fault) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR { continue }
        throw SystemFault.last("cannot read \(name)")
      }
      if count == 0 { return bytes }
      bytes.append(contentsOf: chunk[..<count])
      if bytes.count > limit { throw Fault("disk.too_large", .local, "\(name) is larger than \(limit) bytes") }
    }
  }
}

/// The faults that system calls report.
public enum SystemFault {
  /// The fault that the last failed call left in `errno`, behind words that say what was tried.
  public static func last(_ doing: String) -> Fault { from(errno, doing) }

  /// The fault that an error number stands for.
  public static func from(_ number: Int32, _ doing: String) -> Fault { Errno(number).fault(doing) }

  /// What the C library says about an error number.
  public static func words(for number: Int32) -> String { Errno(number).words }
}
