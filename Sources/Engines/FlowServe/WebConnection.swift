internal import FlowBase

/// One browser's connection: what it has asked, and what it has still to take.
struct WebConnection {
  /// What it waits for.
  enum Phase {
    /// For the browser's next request.
    case listening
    /// For an answer that is being made.
    case busy(isHead: Bool, keepsAlive: Bool)
    /// For what the stream will say next.
    case streaming(any WebStream)
    /// For the browser to take the last bytes.
    case leaving
  }

  let id: Int
  let socket: TCPSocket.Connection
  var phase = Phase.listening
  var reader = RequestReader()
  private var out: [UInt8] = []
  private var sent = 0
  /// Since when nothing has moved.
  var quietSince: Instant
  var isGone = false

  /// So much of a stream waits for a browser at most.
  private static let room = 1 << 17

  init(id: Int, _ socket: TCPSocket.Connection, at now: Instant) {
    self.id = id
    self.socket = socket
    quietSince = now
  }

  var owes: Bool { sent < out.count }

  /// Whether it has something to say that the browser has not taken.
  var isSpeaking: Bool {
    switch phase {
    case .streaming, .busy: true
    case .listening, .leaving: owes
    }
  }

  /// What it is to be woken for.
  var wish: SocketWatch.Readiness {
    var wish: SocketWatch.Readiness = owes ? .writing : []
    switch phase {
    case .listening where !owes: wish.insert(.reading)
    case .streaming: wish.insert(.reading)
    default: break
    }
    return wish
  }

  /// How long it may go on without anything moving; nil for as long as it likes.
  var patience: Interval? {
    if owes { return .seconds(30) }
    switch phase {
    case .listening: return reader.isEmpty ? .seconds(60) : .seconds(15)
    case .busy: return nil
    case .streaming: return nil
    case .leaving: return .zero
    }
  }

  mutating func put(_ bytes: [UInt8]) {
    if !owes {
      out.removeAll(keepingCapacity: out.count < 1 << 18)
      sent = 0
    }
    out.append(contentsOf: bytes)
  }

  /// Lets its stream say what it has to, as far as the browser has taken what came before.
  mutating func pump() {
    guard case .streaming(var stream) = phase, out.count - sent < Self.room / 2 else { return }
    var more: [UInt8] = []
    let goesOn = stream.next(into: &more, room: Self.room)
    if !more.isEmpty { put(more) }
    phase = goesOn ? .streaming(stream) : .leaving
  }

  /// Sends what the browser takes now.
  mutating func flush(at now: Instant) {
    while owes {
      switch socket.send(out[sent...]) {
      case .bytes(let count):
        sent += count
        quietSince = now
      case .wouldBlock: return
      case .ended:
        isGone = true
        return
      }
    }
    if case .leaving = phase { isGone = true }
  }

  /// Reads what has come; a stream's browser has nothing more to say.
  mutating func receive(at now: Instant) {
    var bytes: [UInt8] = []
    switch socket.receive(into: &bytes, atMost: 1 << 16) {
    case .bytes:
      quietSince = now
      if case .listening = phase { reader.add(bytes) }
    case .wouldBlock: break
    case .ended: isGone = true
    }
  }
}
