public import FlowBase

/// A small server for one page: HTTP/1.1 on one thread of its own, which never waits for a browser.
///
/// It answers what it can at once, makes the rest on the cooperative pool, and leaves a browser that takes nothing alone
/// with its unread bytes until it is given up.
public final class WebServer: Sendable {
  /// What the server does with requests; both are called on the server's own thread, one after the other.
  public struct Handler: Sendable {
    /// Answers a request that the doorkeeper has let in.
    public var answer: @Sendable (WebRequest) -> WebReply
    /// Is called five times a second.
    public var tick: @Sendable () -> Void

    /// A handler.
    public init(answer: @escaping @Sendable (WebRequest) -> WebReply, tick: @escaping @Sendable () -> Void) {
      self.answer = answer
      self.tick = tick
    }
  }

  private enum Letter: Sendable {
    case answer(Int, WebAnswer)
    case stop(until: Instant, done: CheckedContinuation<Void, Never>)
  }

  /// The port that it got.
  public let port: Int
  private let listener: TCPSocket.Listener
  private let bell: Guarded<SocketWatch.Bell?>
  private let letters = Guarded<[Letter]>([])
  private let isOver = Guarded(false)

  /// The time between two ticks.
  public static let beat = Interval.milliseconds(200)
  /// So many browsers' connections are served at once.
  public static let mostConnections = 96

  /// Listens at an address; nobody is served before `start`.
  public init(address: NetworkAddress, port: Int) throws(Fault) {
    listener = try TCPSocket.listen(at: address, port: port)
    self.port = listener.port
    bell = Guarded(nil)
  }

  /// Begins to serve.
  public func start(_ keeper: Doorkeeper, _ handler: Handler) throws(Fault) {
    let (listener, letters, isOver) = (listener, letters, isOver)
    let ring = try SocketWatch.Bell()
    bell.withLock { $0 = ring }
    WorkerThread.start("page") {
      let post = { @Sendable (letter: Letter) in
        letters.withLock { $0.append(letter) }
        ring.ring()
      }
      let thread = ServerThread(listener, SocketWatch(ring), keeper, handler) { post(.answer($0, $1)) }
      while true {
        let waiting = letters.withLock { letters in
          defer { letters = [] }
          return letters
        }
        for letter in waiting {
          switch letter {
          case .answer(let connection, let answer): thread.answer(connection, answer)
          case .stop(let until, let done): thread.stop(until: until, done)
          }
        }
        if thread.isOver { break }
        thread.turn()
      }
      let late = letters.withLock { letters in
        isOver.withLock { $0 = true }
        return letters
      }
      thread.end()
      for case .stop(_, let done) in late { done.resume() }
    }
  }

  /// Tells the browsers the last, and ends; a browser that takes nothing is waited for at most so long.
  public func stop(within limit: Interval = .seconds(2)) async {
    await withCheckedContinuation { done in
      let isLate = letters.withLock { letters in
        let isLate = isOver.withLock { $0 } || bell.withLock { $0 } == nil
        if !isLate { letters.append(.stop(until: SystemTime().now() + limit, done: done)) }
        return isLate
      }
      if isLate { return done.resume() }
      bell.withLock { $0 }?.ring()
    }
  }
}

/// The server's thread and all that belongs to it alone.
private final class ServerThread {
  private let listener: TCPSocket.Listener
  private let watch: SocketWatch
  private let keeper: Doorkeeper
  private let handler: WebServer.Handler
  private let post: @Sendable (Int, WebAnswer) -> Void
  private let clock = SystemTime()
  private var connections: [WebConnection] = []
  private var nextID = 0
  private var nextTick: Instant
  private var stops: [CheckedContinuation<Void, Never>] = []
  private var stopsAt: Instant?

  init(
    _ listener: TCPSocket.Listener, _ watch: SocketWatch, _ keeper: Doorkeeper, _ handler: WebServer.Handler,
    post: @escaping @Sendable (Int, WebAnswer) -> Void
  ) {
    self.listener = listener
    self.watch = watch
    self.keeper = keeper
    self.handler = handler
    self.post = post
    nextTick = clock.now()
  }

  /// Whether everything has been said that was to be said.
  var isOver: Bool {
    guard let stopsAt else { return false }
    return clock.now() >= stopsAt || !connections.contains { $0.isSpeaking }
  }

  func end() {
    connections = []
    for done in stops { done.resume() }
  }

  func stop(until: Instant, _ done: CheckedContinuation<Void, Never>) {
    stops.append(done)
    guard stopsAt == nil else { return }
    stopsAt = until
    handler.tick()
    for place in connections.indices {
      connections[place].pump()
      connections[place].flush(at: clock.now())
    }
  }

  /// Waits for something to do, and does it.
  func turn() {
    watch.clear()
    watch.add(listener)
    for connection in connections { watch.add(connection.socket, for: connection.wish) }
    let ready = watch.wait(nextTick - clock.now())
    let now = clock.now()
    if !ready.isEmpty {
      for (place, readiness) in ready.dropFirst().enumerated() where place < connections.count {
        if readiness.contains(.reading) { connections[place].receive(at: now) }
        if readiness.contains(.writing) { connections[place].flush(at: now) }
      }
      if ready[0].contains(.reading) { accept(at: now) }
    }
    let isTick = now >= nextTick
    if isTick {
      nextTick = now + WebServer.beat
      handler.tick()
    }
    for place in connections.indices {
      serve(place)
      if isTick { connections[place].pump() }
      if connections[place].owes { connections[place].flush(at: now) }
    }
    connections.removeAll { connection in
      if connection.isGone { return true }
      return connection.patience.map { now - connection.quietSince > $0 } ?? false
    }
  }

  private func accept(at now: Instant) {
    while stopsAt == nil, let socket = listener.accept() {
      nextID += 1
      var connection = WebConnection(id: nextID, socket, at: now)
      if connections.count >= WebServer.mostConnections { makeRoom() }
      if connections.count >= WebServer.mostConnections {
        connection.put(
          WebAnswer.refusal(503, "page.busy", "too many browsers are connected; close some of the page's tabs")
            .wire(keepsAlive: false))
        connection.flush(at: now)
        continue
      }
      connections.append(connection)
    }
  }

  /// Closes the connection that has been quiet for longest, of those that are between two requests.
  private func makeRoom() {
    let quiet = connections.indices.filter {
      if case .listening = connections[$0].phase { return !connections[$0].owes }
      return false
    }
    if let oldest = quiet.min(by: { connections[$0].quietSince < connections[$1].quietSince }) {
      connections.remove(at: oldest)
    }
  }

  /// Takes the requests that a connection has sent, one after the other.
  private func serve(_ place: Int) {
    while case .listening = connections[place].phase, !connections[place].isGone {
      switch connections[place].reader.next() {
      case .partial: return
      case .refused(let status):
        put(.refusal(status, "page.request", "this is no request that the page understands"), at: place, false, false)
      case .request(let request): serve(request, at: place)
      }
    }
  }

  private func serve(_ request: WebRequest, at place: Int) {
    let isHead = request.method == "HEAD"
    var request = request
    if isHead { request.method = "GET" }
    let reply: WebReply =
      switch keeper.judge(request) {
      case .pass: handler.answer(request)
      case .welcome(let answer), .refuse(let answer): .now(answer)
      }
    switch reply {
    case .now(let answer): put(answer, at: place, request.keepsAlive, isHead)
    case .later(let work):
      connections[place].phase = .busy(isHead: isHead, keepsAlive: request.keepsAlive)
      let (id, post) = (connections[place].id, post)
      Task { post(id, await work()) }
    case .stream(let head, let stream):
      connections[place].put(head.wire(keepsAlive: false, isStream: true))
      connections[place].phase = isHead ? .leaving : .streaming(stream)
      connections[place].pump()
    }
  }

  /// Sends an answer that has been made.
  func answer(_ id: Int, _ answer: WebAnswer) {
    guard let place = connections.firstIndex(where: { $0.id == id }),
      case .busy(let isHead, let keepsAlive) = connections[place].phase
    else { return }
    connections[place].quietSince = clock.now()
    put(answer, at: place, keepsAlive, isHead)
    connections[place].flush(at: clock.now())
  }

  private func put(_ answer: WebAnswer, at place: Int, _ keepsAlive: Bool, _ isHead: Bool) {
    connections[place].put(answer.wire(keepsAlive: keepsAlive, withoutBody: isHead))
    connections[place].phase = keepsAlive ? .listening : .leaving
  }
}
