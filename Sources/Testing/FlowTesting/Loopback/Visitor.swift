public import FlowBase
internal import Glibc

/// One who connects to a server on this machine and says whatever a test likes, word for word.
public final class Visitor: Sendable {
  /// What a server has answered.
  public struct Answer: Sendable {
    /// The status; 0 where nothing like an answer came.
    public var status: Int
    /// The head, as it came.
    public var head: String
    /// The body, as it came.
    public var body: [UInt8]
    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }
    /// The body as JSON.
    public var json: Fields? { (try? JSONReader.read(body))?.asMap }

    /// The value of a header; nil where it is missing.
    public func header(_ name: String) -> String? {
      for line in head.split(separator: "\r\n") where line.lowercased().hasPrefix(name.lowercased() + ":") {
        return String(line.dropFirst(name.count + 1).drop { $0 == " " })
      }
      return nil
    }
  }

  private let socket: Socket
  private let rest = Guarded<[UInt8]>([])

  /// Connects to a port of 127.0.0.1.
  public init(port: Int) throws(Fault) {
    let number = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { throw SystemFault.last("cannot make a socket") }
    socket = Socket(descriptor: number)
    // Nobody waits forever for a server that says nothing.
    var patience = timeval(tv_sec: 30, tv_usec: 0)
    _ = unsafe setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port).bigEndian)
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    let failure = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard failure == 0 else { throw SystemFault.last("cannot connect to port \(port)") }
  }

  deinit { socket.close() }

  /// Sends some words; false where the other side is gone.
  @discardableResult
  public func say(_ words: String) -> Bool { socket.write(Array(words.utf8)[...]) }

  /// Reads one answer: its head, and as much of a body as it says there is.
  public func answer() async -> Answer {
    await onThread {
      let head = self.take { Self.end(of: "\r\n\r\n", in: $0) }
      let text = String(decoding: head, as: UTF8.self)
      let status = text.hasPrefix("HTTP/1.1 ") ? Int(text.dropFirst(9).prefix(3)) ?? 0 : 0
      var answer = Answer(status: status, head: text, body: [])
      if let length = answer.header("Content-Length").flatMap({ Int($0) }), status != 304 {
        answer.body = self.take { $0.count >= length ? length : nil }
      }
      return answer
    }
  }

  /// Reads on until what came ends with, or holds, these words; gives all that came.
  public func read(until words: String) async -> String {
    await onThread { String(decoding: self.take { Self.end(of: words, in: $0) }, as: UTF8.self) }
  }

  /// Whether the server closes the connection, whatever it says before.
  public func isClosed() async -> Bool {
    await onThread {
      var more: [UInt8] = []
      while self.socket.read(into: &more, atMost: 65536) {}
      return errno != EAGAIN
    }
  }

  /// Asks once, over a connection of its own.
  public static func ask(_ port: Int, _ words: String) async throws -> Answer {
    let visitor = try Visitor(port: port)
    visitor.say(words)
    return await visitor.answer()
  }

  private static func end(of words: String, in bytes: [UInt8]) -> Int? {
    let wanted = Array(words.utf8)
    guard bytes.count >= wanted.count else { return nil }
    for start in 0...(bytes.count - wanted.count) where bytes[start] == wanted[0] {
      if bytes[start..<(start + wanted.count)].elementsEqual(wanted) { return start + wanted.count }
    }
    return nil
  }

  /// Reads until so much is there, and takes it; all that came where the other side ends before.
  private func take(_ length: ([UInt8]) -> Int?) -> [UInt8] {
    var bytes = rest.withLock { $0 }
    while true {
      if let length = length(bytes) {
        let taken = Array(bytes.prefix(length))
        rest.withLock { $0 = Array(bytes.dropFirst(length)) }
        return taken
      }
      if !socket.read(into: &bytes, atMost: 65536) {
        rest.withLock { $0 = [] }
        return bytes
      }
    }
  }

  private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      WorkerThread.start("visitor") { continuation.resume(returning: body()) }
    }
  }
}
