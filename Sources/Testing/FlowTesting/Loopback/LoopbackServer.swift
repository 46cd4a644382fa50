public import FlowBase
public import FlowParts

/// A scripted HTTP/1.1 server on 127.0.0.1, which answers as told and misbehaves as told.
///
/// Each connection has a thread of its own, so that a response may wait, drip or stay silent in plain code.
public final class LoopbackServer: Sendable {
  /// Says what to answer; called on the connection's thread, possibly on several at once.
  public typealias Handler = @Sendable (Request) -> Response

  /// A request as it came.
  public struct Request: Sendable {
    /// The method, such as `GET`.
    public var method: String
    /// The request target: path and query.
    public var target: String
    /// The headers, in order, names as they came.
    public var headers: [Header]
    /// The body.
    public var body: [UInt8]
    /// When it came.
    public var time: Instant
    /// The number of requests for this target so far, this one included.
    public var attempt: Int
    /// Which connection it came on, from 1.
    public var connection: Int

    /// The target without its query.
    public var path: String { String(target.prefix { $0 != "?" }) }
    /// What follows the `?`; empty without one.
    public var query: String { String(target.drop { $0 != "?" }.dropFirst()) }
    /// The value of the first header of this name, in any case.
    public func header(_ name: String) -> String? {
      let wanted = name.lowercased()
      return headers.first { $0.name.lowercased() == wanted }?.value
    }
  }

  struct State {
    var isStopped = false
    var open: Set<Socket> = []
    var connections = 0
    var attempts: [String: Int] = [:]
    var requests: [Request] = []
  }

  private let listener: Socket
  private let limit: Int
  private let remembered: Int
  private let handler: Handler
  private let state = Guarded(State())

  /// The port that it listens on.
  public let port: Int

  /// Starts a server; port 0 takes a free one.
  ///
  /// With `version6` it listens on `[::1]`. Connections beyond `connections` are closed at once; of the requests the first `remembering` are kept for
  /// `requests`.
  public init(
    port: Int = 0, version6: Bool = false, connections: Int = 1024, remembering: Int = 100_000,
    handler: @escaping Handler
  ) throws(Fault) {
    (listener, self.port) = try version6 ? Socket.listening6() : Socket.listening(port: port)
    limit = connections
    remembered = remembering
    self.handler = handler
    let core = Core(listener: listener, limit: limit, remembered: remembered, handler: handler, state: state)
    WorkerThread.start("loopback") { core.acceptAll() }
  }

  deinit { stop() }

  /// The address of its root, without a slash at the end.
  public var url: String { "http://127.0.0.1:\(port)" }

  /// The requests so far, in the order in which they came.
  public var requests: [Request] { state.withLock { $0.requests } }

  /// The requests for a path so far.
  public func requests(for path: String) -> [Request] { requests.filter { $0.path == path } }

  /// How many connections there have been.
  public var connectionCount: Int { state.withLock { $0.connections } }

  /// Ends every connection and gives the port back.
  public func stop() {
    let open = state.withLock { state -> Set<Socket>? in
      if state.isStopped { return nil }
      state.isStopped = true
      // Under the lock: a thread gives its descriptor back only after taking it out of the set.
      for socket in state.open { socket.shutdown() }
      return state.open
    }
    if open != nil { listener.shutdown() }
  }

  /// What the threads hold, so that the server itself can go away.
  final class Core: Sendable {
    let listener: Socket
    let limit: Int
    let remembered: Int
    let handler: Handler
    let state: Guarded<State>

    init(listener: Socket, limit: Int, remembered: Int, handler: @escaping Handler, state: Guarded<State>) {
      self.listener = listener
      self.limit = limit
      self.remembered = remembered
      self.handler = handler
      self.state = state
    }

    func acceptAll() {
      while let socket = listener.accept() {
        let number = state.withLock { state -> Int? in
          guard !state.isStopped, state.open.count < limit else { return nil }
          state.open.insert(socket)
          state.connections += 1
          return state.connections
        }
        guard let number else {
          socket.close()
          continue
        }
        WorkerThread.start("loopback-\(number)") {
          LoopbackConnection(core: self, socket: socket, number: number).serve()
        }
      }
      listener.close()
    }

    func answer(_ request: Request) -> Response {
      var request = request
      state.withLock { state in
        state.attempts[request.target, default: 0] += 1
        request.attempt = state.attempts[request.target, default: 1]
        if state.requests.count < remembered { state.requests.append(request) }
      }
      return handler(request)
    }

    func close(_ socket: Socket) {
      _ = state.withLock { $0.open.remove(socket) }
      socket.close()
    }
  }
}
