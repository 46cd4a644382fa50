public import FlowBase
public import FlowParts
internal import Glibc

/// A proxy on 127.0.0.1 that opens a tunnel to wherever a CONNECT names, and remembers what it was asked.
///
/// What goes through a tunnel it hands on as it is. It connects to this machine alone.
public final class TunnelProxy: Sendable {
  /// A CONNECT as it came.
  public struct Request: Sendable {
    /// The host and port that were asked for.
    public var target: String
    /// The headers, in order, names as they came.
    public var headers: [Header]

    /// The value of the first header of this name, in any case.
    public func header(_ name: String) -> String? {
      headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
  }

  /// The port that it listens on.
  public let port: Int
  private let listener: Socket
  private let seen: Guarded<[Request]>

  /// Starts a proxy on a free port.
  public init() throws(Fault) {
    let (listener, port) = try Socket.listening(port: 0)
    let seen = Guarded<[Request]>([])
    (self.listener, self.port, self.seen) = (listener, port, seen)
    WorkerThread.start("proxy") {
      while let client = listener.accept() {
        WorkerThread.start("tunnel") { TunnelProxy.serve(client, seen) }
      }
      listener.close()
    }
  }

  deinit { listener.shutdown() }

  /// Its address.
  public var url: String { "http://127.0.0.1:\(port)" }

  /// What it was asked, in the order in which it came.
  public var requests: [Request] { seen.withLock { $0 } }

  private static func serve(_ client: Socket, _ seen: Guarded<[Request]>) {
    defer { client.close() }
    var head: [UInt8] = []
    while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
      guard head.count < 1 << 16, client.read(into: &head, atMost: 1) else { return }
    }
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
    let words = (lines.first ?? "").split(separator: " ")
    guard words.count == 3, words[0] == "CONNECT", let port = words[1].split(separator: ":").last.flatMap({ Int($0) })
    else {
      _ = client.write(Array("HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n".utf8)[...])
      return
    }
    let headers = lines.dropFirst().compactMap { line -> Header? in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      return Header(String(line[..<colon]), String(line[line.index(after: colon)...].drop { $0 == " " }))
    }
    seen.withLock { $0.append(Request(target: String(words[1]), headers: headers)) }
    guard let server = Socket.connected(port: port) else {
      _ = client.write(Array("HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n".utf8)[...])
      return
    }
    guard client.write(Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)[...]) else { return server.close() }
    let isOver = Mailbox<Void>()
    WorkerThread.start("tunnel-back") {
      pump(from: server, to: client)
      isOver.post(())
    }
    pump(from: client, to: server)
    var letters: [Void] = []
    isOver.take(into: &letters, until: nil)
    server.close()
  }

  /// Hands on bytes until one side is gone, and then lets the other know.
  private static func pump(from source: Socket, to target: Socket) {
    var bytes: [UInt8] = []
    while source.read(into: &bytes, atMost: 1 << 16), target.write(bytes[...]) {
      bytes.removeAll(keepingCapacity: true)
    }
    source.shutdown()
    target.shutdown()
  }
}
