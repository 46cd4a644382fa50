internal import FlowBase
internal import Glibc

/// A TCP socket on the loopback interface, with calls that block.
struct Socket: Sendable, Hashable {
  /// `POLLRDHUP`, which the C headers hide behind a feature macro: the other side has closed.
  private static let leaving: Int16 = 0x2000

  let descriptor: Int32

  /// A socket that listens on 127.0.0.1, and the port that it got.
  static func listening(port: Int, backlog: Int32 = 1024) throws(Fault) -> (socket: Socket, port: Int) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Socket.fault("socket") }
    let made = Socket(descriptor: descriptor)
    made.set(SOL_SOCKET, SO_REUSEADDR, 1)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe bind(descriptor, generic, length) == 0 && listen(descriptor, backlog) == 0
          && getsockname(descriptor, generic, &length) == 0
      }
    }
    guard isBound else {
      let fault = Socket.fault("bind")
      made.close()
      throw fault
    }
    return (made, Int(UInt16(bigEndian: address.sin_port)))
  }

  /// A socket that listens on [::1], and the port that it got.
  static func listening6(backlog: Int32 = 1024) throws(Fault) -> (socket: Socket, port: Int) {
    let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Socket.fault("socket") }
    let made = Socket(descriptor: descriptor)
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_addr = in6addr_loopback
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe bind(descriptor, generic, length) == 0 && listen(descriptor, backlog) == 0
          && getsockname(descriptor, generic, &length) == 0
      }
    }
    guard isBound else {
      let fault = Socket.fault("bind")
      made.close()
      throw fault
    }
    return (made, Int(UInt16(bigEndian: address.sin6_port)))
  }

  /// A socket that is connected to a port of 127.0.0.1; nil where nobody listens there.
  static func connected(port: Int) -> Socket? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    let made = Socket(descriptor: descriptor)
    if isConnected { return made }
    made.close()
    return nil
  }

  /// The next connection; nil once the socket is shut down.
  func accept() -> Socket? {
    while true {
      let taken = Glibc.accept(descriptor, nil, nil)
      if taken >= 0 {
        _ = fcntl(taken, F_SETFD, FD_CLOEXEC)
        let connection = Socket(descriptor: taken)
        connection.set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        return connection
      }
      switch errno {
      case EINTR, ECONNABORTED: continue
      case EMFILE, ENFILE:
        // Others hold the descriptors; they give them back.
        _ = poll(nil, 0, 5)
      default: return nil
      }
    }
  }

  /// Reads at most so many bytes behind those in `buffer`; false at the end or after an error.
  func read(into buffer: inout [UInt8], atMost count: Int) -> Bool {
    // Not by `append(contentsOf: repeatElement…)`: where hundreds of threads meet a generic type of the library for the
    // first time in one moment, they queue for the runtime's lock, and under a sanitizer some of them never get it.
    let got = unsafe withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { room in
      var got = 0
      repeat {
        got = unsafe recv(descriptor, room.baseAddress, count, 0)
      } while got < 0 && errno == EINTR
      if got > 0 { unsafe buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: room[..<got])) }
      return got
    }
    return got > 0
  }

  /// Writes all bytes; false where the other side is gone.
  func write(_ bytes: ArraySlice<UInt8>) -> Bool {
    unsafe bytes.withUnsafeBytes { bytes in
      var sent = 0
      while sent < bytes.count {
        let count = unsafe send(
          descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
        if count > 0 {
          sent += count
        } else if errno != EINTR {
          return false
        }
      }
      return true
    }
  }

  /// Waits while the other side stays connected; false where it went away first, or the socket was shut down.
  func linger(for interval: Interval) -> Bool {
    let clock = SystemTime()
    let end = clock.now() + interval
    while true {
      let left = end - clock.now()
      guard left > .zero else { return true }
      var watched = pollfd(fd: descriptor, events: Socket.leaving, revents: 0)
      let milliseconds = Int32(clamping: (left.nanoseconds + 999_999) / 1_000_000)
      let ready = unsafe poll(&watched, 1, milliseconds)
      if ready > 0 { return false }
      if ready < 0 && errno != EINTR { return false }
    }
  }

  /// Ends both directions; threads that wait on the socket wake up.
  func shutdown() { _ = Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Ends our direction; the other side reads an end of file.
  func finishWriting() { _ = Glibc.shutdown(descriptor, Int32(SHUT_WR)) }

  /// Makes the close to come a reset.
  func resetOnClose() {
    var option = linger_option(l_onoff: 1, l_linger: 0)
    _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger_option>.size))
  }

  func close() { _ = Glibc.close(descriptor) }

  private func set(_ level: Int32, _ name: Int32, _ value: Int32) {
    var value = value
    _ = unsafe setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  private static func fault(_ call: String) -> Fault {
    Fault("net.\(call)", .local, "\(call) on 127.0.0.1: \(unsafe String(cString: strerror(errno)))")
  }
}

private typealias linger_option = Glibc.linger
