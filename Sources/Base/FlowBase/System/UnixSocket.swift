internal import CPosix
internal import Glibc

/// Sockets in the file system, for programs of one user on one machine.
///
/// The kernel allows some hundred bytes for a socket's path, so it is reached through its directory's descriptor
/// (`/proc/self/fd/N/name`), however long the directory's own path is.
public enum UnixSocket {
  /// A socket that others connect to.
  public final class Listener: Sendable {
    private let socket: Int32
    private let path: String
    private let isOpen = Guarded(true)

    init(socket: Int32, path: String) {
      self.socket = socket
      self.path = path
    }

    /// Waits for the next connection; nil once the listener is closed.
    ///
    /// Blocks the thread.
    public func accept() -> Connection? {
      while isOpen.withLock({ $0 }) {
        let peer = imgflow_accept(socket)
        if peer >= 0 { return Connection(socket: peer) }
        switch errno {
        case EINTR, ECONNABORTED: continue
        // Who is short of something now may have it again in a moment.
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: usleep(100_000)
        default: return nil
        }
      }
      return nil
    }

    /// Ends the waiting and removes the socket.
    public func close() {
      let wasOpen = isOpen.withLock { flag in
        defer { flag = false }
        return flag
      }
      guard wasOpen else { return }
      // Wakes a thread that waits in `accept`; the descriptor itself lives until nobody holds the listener.
      Glibc.shutdown(socket, Int32(SHUT_RDWR))
      _ = unsafe unlink(path)
    }

    deinit { Glibc.close(socket) }
  }

  /// One conversation.
  public final class Connection: Sendable {
    private let socket: Int32

    init(socket: Int32) { self.socket = socket }
    deinit { Glibc.close(socket) }

    /// Reads up to a line's end, which is left out; nil where the other side says nothing or too much.
    public func readLine(limit: Int) -> [UInt8]? {
      var line: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      while line.count <= limit {
        let count = unsafe recv(socket, &buffer, buffer.count, 0)
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { return line.isEmpty ? nil : line }
        if let end = buffer[..<count].firstIndex(of: UInt8(ascii: "\n")) {
          line += buffer[..<end]
          return line
        }
        line += buffer[..<count]
      }
      return nil
    }

    /// Writes all bytes; what a peer that has left does not take is lost.
    public func write(_ bytes: [UInt8]) {
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes {
          unsafe send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }
  }

  /// Makes a socket in a folder that only its owner can reach; one that a dead program has left is replaced.
  public static func listen(folder: String, name: String) throws(Fault) -> Listener {
    let path = folder + "/" + name
    _ = unsafe unlink(path)
    let handle = try open(path)
    let failure = bindAndListen(handle, folder: folder, name: name)
    guard failure == 0 else {
      Glibc.close(handle)
      throw fault(failure, path)
    }
    _ = unsafe chmod(path, 0o600)
    return Listener(socket: handle, path: path)
  }

  /// Connects to a socket in a folder; the fault says where nobody listens.
  public static func connect(folder: String, name: String) throws(Fault) -> Connection {
    let path = folder + "/" + name
    let handle = try open(path)
    let failure = unsafe withAddress(folder: folder, name: name) { address, length in
      unsafe Glibc.connect(handle, address, length)
    }
    guard failure == 0 else {
      Glibc.close(handle)
      throw fault(failure, path)
    }
    return Connection(socket: handle)
  }

  private static func open(_ path: String) throws(Fault) -> Int32 {
    let handle = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    if handle < 0 { throw fault(errno, path) }
    return handle
  }

  private static func bindAndListen(_ handle: Int32, folder: String, name: String) -> Int32 {
    let failure = unsafe withAddress(folder: folder, name: name) { address, length in
      unsafe Glibc.bind(handle, address, length)
    }
    if failure != 0 { return failure }
    return Glibc.listen(handle, 16) == 0 ? 0 : errno
  }

  /// Calls the body with the socket's address, and gives 0 or the error's number.
  private static func withAddress(
    folder: String, name: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    let directory = unsafe imgflow_open(folder, O_RDONLY | O_DIRECTORY, 0)
    if directory < 0 { return errno }
    defer { Glibc.close(directory) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let text = Array("/proc/self/fd/\(directory)/\(name)".utf8)
    guard text.count < MemoryLayout.size(ofValue: address.sun_path) else { return ENAMETOOLONG }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: text) }
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe body(pointer, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 ? 0 : errno
      }
    }
  }

  private static func fault(_ number: Int32, _ path: String) -> Fault {
    let isAbsent = number == ENOENT || number == ECONNREFUSED
    return Fault(
      isAbsent ? "control.absent" : "control.failed", .local,
      isAbsent ? "nobody listens at \(path)" : "the socket \(path) cannot be used: error \(number)")
  }
}
