internal import CPosix
internal import Glibc

/// Sockets that programs of this machine, and where it is asked for others, connect to over TCP.
///
/// Nothing here waits but `SocketWatch`: a call that would have to says so instead.
public enum TCPSocket {
  /// A socket that others connect to.
  public final class Listener: Sendable {
    /// The port that it got.
    public let port: Int
    let descriptor: Descriptor

    init(_ descriptor: Descriptor, port: Int) {
      self.descriptor = descriptor
      self.port = port
    }

    /// The next connection that waits; nil where none does, or this process has no room for one.
    public func accept() -> Connection? {
      while true {
        let peer = imgflow_accept(descriptor.number)
        if peer >= 0 {
          let connection = Connection(Descriptor(peer))
          guard (try? connection.descriptor.setNonBlocking()) != nil else { return nil }
          var one: Int32 = 1
          _ = unsafe setsockopt(
            peer, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
          return connection
        }
        if errno != EINTR && errno != ECONNABORTED { return nil }
      }
    }
  }

  /// What came of a call.
  public enum Moved: Sendable, Hashable {
    /// So many bytes were moved.
    case bytes(Int)
    /// The other side has to do something first.
    case wouldBlock
    /// The other side has ended, or is gone.
    case ended
  }

  /// One conversation; it ends with its last user.
  public final class Connection: Sendable {
    let descriptor: Descriptor

    init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    /// Appends what has come, at most so many bytes.
    public func receive(into buffer: inout [UInt8], atMost limit: Int) -> Moved {
      let count = unsafe withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { room in
        var count = 0
        repeat {
          count = unsafe recv(descriptor.number, room.baseAddress, limit, 0)
        } while count < 0 && errno == EINTR
        if count > 0 { unsafe buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: room[..<count])) }
        return count
      }
      return moved(count)
    }

    /// Sends what the other side takes now.
    public func send(_ bytes: ArraySlice<UInt8>) -> Moved {
      let count = unsafe bytes.withUnsafeBytes { bytes in
        var count = 0
        repeat {
          count = unsafe Glibc.send(descriptor.number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        } while count < 0 && errno == EINTR
        return count
      }
      return count == 0 ? .wouldBlock : moved(count)
    }

    private func moved(_ count: Int) -> Moved {
      if count > 0 { return .bytes(count) }
      if count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) { return .wouldBlock }
      return .ended
    }
  }

  /// Listens at a port of an address of this machine; port 0 takes a free one.
  public static func listen(at address: NetworkAddress, port: Int) throws(Fault) -> Listener {
    let isFour = address.bytes.count == 4
    let number = Glibc.socket(
      isFour ? AF_INET : AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard number >= 0 else { throw SystemFault.last("cannot make a socket") }
    let descriptor = Descriptor(number)
    var one: Int32 = 1
    // So that a port which was in use a moment ago can be had again.
    _ = unsafe setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    let taken = isFour ? bind4(number, address.bytes, port) : bind6(number, address.bytes, port)
    guard let taken else { throw SystemFault.last("cannot listen at port \(port)") }
    return Listener(descriptor, port: taken)
  }

  private static func bind4(_ number: Int32, _ bytes: [UInt8], _ port: Int) -> Int? {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port).bigEndian)
    unsafe withUnsafeMutableBytes(of: &address.sin_addr) { unsafe $0.copyBytes(from: bytes) }
    return bind(number, &address) ? Int(UInt16(bigEndian: address.sin_port)) : nil
  }

  private static func bind6(_ number: Int32, _ bytes: [UInt8], _ port: Int) -> Int? {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = in_port_t(UInt16(truncatingIfNeeded: port).bigEndian)
    unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0.copyBytes(from: bytes) }
    return bind(number, &address) ? Int(UInt16(bigEndian: address.sin6_port)) : nil
  }

  /// Binds, listens, and takes over the address that it became.
  private static func bind<Address>(_ number: Int32, _ address: inout Address) -> Bool {
    var length = socklen_t(MemoryLayout<Address>.size)
    return unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe Glibc.bind(number, generic, length) == 0 && Glibc.listen(number, 128) == 0
          && getsockname(number, generic, &length) == 0
      }
    }
  }
}

/// Waits for sockets, on the one thread that owns it, and can be woken by any other.
public final class SocketWatch {
  /// Wakes the thread that waits; any thread may ring it.
  public final class Bell: Sendable {
    let descriptor: Descriptor

    /// A bell.
    public init() throws(Fault) {
      let number = imgflow_make_event()
      guard number >= 0 else { throw SystemFault.last("cannot make an event") }
      descriptor = Descriptor(number)
    }

    /// Lets the thread go on, now or when it waits next.
    public func ring() {
      var one: UInt64 = 1
      _ = unsafe write(descriptor.number, &one, 8)
    }
  }

  /// What a socket is ready for.
  public struct Readiness: OptionSet, Sendable, Hashable {
    /// The set as a number.
    public let rawValue: Int
    /// A set from a number.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Something can be read, or has ended.
    public static let reading = Readiness(rawValue: 1)
    /// Something can be written.
    public static let writing = Readiness(rawValue: 2)
  }

  private let bell: Bell
  private var entries: [pollfd] = []

  /// A watch that a bell wakes.
  public init(_ bell: Bell) { self.bell = bell }

  /// Forgets all sockets.
  public func clear() {
    entries.removeAll(keepingCapacity: true)
    entries.append(pollfd(fd: bell.descriptor.number, events: Int16(POLLIN), revents: 0))
  }

  /// Watches a listener from now on.
  public func add(_ listener: TCPSocket.Listener) {
    entries.append(pollfd(fd: listener.descriptor.number, events: Int16(POLLIN), revents: 0))
  }

  /// Watches a connection from now on.
  public func add(_ connection: TCPSocket.Connection, for wish: Readiness) {
    let events = (wish.contains(.reading) ? POLLIN : 0) | (wish.contains(.writing) ? POLLOUT : 0)
    entries.append(pollfd(fd: connection.descriptor.number, events: Int16(events), revents: 0))
  }

  /// Waits for one of them, for the bell, or for the time to pass; gives what each is ready for, in their order.
  public func wait(_ time: Interval) -> [Readiness] {
    let milliseconds = Int32(clamping: max(0, time.nanoseconds + 999_999) / 1_000_000)
    let count = unsafe poll(&entries, nfds_t(entries.count), milliseconds)
    guard count > 0 else { return [] }
    if entries[0].revents != 0 {
      var rings: UInt64 = 0
      _ = unsafe read(bell.descriptor.number, &rings, 8)
    }
    let ended = Int16(POLLHUP | POLLERR | POLLNVAL)
    return entries.dropFirst().map { entry in
      var readiness: Readiness = []
      if entry.revents & (Int16(POLLIN) | ended) != 0 { readiness.insert(.reading) }
      if entry.revents & (Int16(POLLOUT) | ended) != 0 { readiness.insert(.writing) }
      return readiness
    }
  }
}
