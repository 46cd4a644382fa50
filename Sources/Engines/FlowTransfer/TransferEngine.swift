internal import CCurl
public import FlowBase

/// Fetches what addresses name, over connections that are kept and shared.
///
/// It never tries again and never waits for a host: it says what happened, and whoever asked decides.
public final class TransferEngine: Sendable {
  /// What it calls itself where nobody says otherwise.
  public static let userAgent = "imgflow/0.1"
  /// The most streams on one connection of HTTP/2 where nobody says otherwise.
  public static let usualStreams = 64

  private let loops: [TransferLoop]
  /// Loops for hosts with a number of streams of their own: libcurl knows one number for all its connections.
  private let otherLoops = Guarded<[Int: TransferLoop]>([:])
  private let idleConnections: Int
  private let bandwidth = BandwidthShares()
  let environment: ProxyEnvironment
  private let netrc: Netrc
  let names: NameResolver
  private let jars = Guarded<[String: CookieJar]>([:])

  /// An engine with so many threads, each with a pool of connections of its own.
  ///
  /// - Parameters:
  ///   - environment: gives the variables that name proxies; nil is the process's own, and so is its netrc file.
  ///   - netrc: the path of the netrc file.
  ///   - lookUp: resolves names; it may block.
  public init(
    loops: Int = 2, idleConnections: Int = 256, environment: ((String) -> String?)? = nil, netrc: String? = nil,
    lookUp: @escaping @Sendable (String) -> NameAnswer = { NameAnswer.ofSystem($0) }
  ) {
    _ = TransferEngine.library
    self.environment = environment.map { ProxyEnvironment($0) } ?? .ofProcess
    self.netrc = Netrc(ofUserAt: netrc ?? (environment == nil ? Netrc.usualPath : nil))
    self.idleConnections = idleConnections
    names = NameResolver(lookUp: lookUp)
    let (bandwidth, names) = (bandwidth, names)
    self.loops = (0..<max(1, loops)).map { _ in
      TransferLoop(
        connections: idleConnections, streams: TransferEngine.usualStreams, bandwidth: bandwidth, names: names)
    }
    for (number, loop) in self.loops.enumerated() { WorkerThread.start("transfer-\(number)") { loop.run() } }
  }

  deinit { for loop in loops + otherLoops.withLock({ $0.values }) { loop.close() } }

  /// Loads libcurl and sets it up, if that has not happened yet, which takes some milliseconds; from any thread.
  ///
  /// The first engine does it by itself.
  public static func prepare() { _ = library }

  /// The most bytes a second over all transfers; nil is no limit.
  public func setBandwidth(_ bytesPerSecond: Int?) { bandwidth.set(limit: bytesPerSecond) }

  /// Does a request, and gives the body's bytes to the sink as they come, on a thread of the engine.
  ///
  /// What the sink has got when this throws is of no use. Cancelling the task ends the transfer at once. Progress is
  /// told at most ten times a second: bytes so far, and how many there will be where that is known.
  public func perform(
    _ request: TransferRequest, into sink: any ByteSink & Sendable,
    progress: @escaping @Sendable (_ bytes: Int, _ size: Int?) -> Void = { _, _ in }
  ) async throws(Fault) -> TransferResult {
    let ticket = try ticket(for: request, sink, progress)
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in ticket.submit { continuation.resume(returning: $0) } }
    } onCancel: {
      ticket.cancel()
    }
    let result = try outcome.get()
    try saveCookies(of: request)
    return result
  }

  /// Writes down what a request has changed in its cookie jar; blocks.
  public func saveCookies(of request: TransferRequest) throws(Fault) {
    if let path = request.credentials.cookies { try cookieJar(at: path).save() }
  }

  /// Begins a request as `perform` does it, and says later what became of it, on a thread of the engine.
  ///
  /// Cookies stay in memory until `saveCookies`: writing their jar would block that thread.
  public func begin(
    _ request: TransferRequest, into sink: any ByteSink & Sendable,
    progress: @escaping @Sendable (_ bytes: Int, _ size: Int?) -> Void = { _, _ in },
    done: @escaping @Sendable (Result<TransferResult, Fault>) -> Void
  ) throws(Fault) -> TransferTicket {
    let ticket = try ticket(for: request, sink, progress)
    ticket.submit(done)
    return ticket
  }

  private func ticket(
    for asked: TransferRequest, _ sink: any ByteSink & Sendable, _ progress: @escaping @Sendable (Int, Int?) -> Void
  ) throws(Fault) -> TransferTicket {
    var request = asked
    try identify(&request)
    let jar = request.credentials.cookies.map { cookieJar(at: $0) }
    let transfer = try Transfer(request, sink, environment, jar: jar, progress: progress)
    return TransferTicket(transfer: transfer, loop: chosenLoop(for: transfer))
  }

  /// Gives a request the login that a netrc file has for its host, where nothing else says who asks.
  private func identify(_ request: inout TransferRequest) throws(Fault) {
    guard request.credentials.netrc, request.credentials.basic == nil, request.credentials.bearer == nil else { return }
    let url = try URLParts(parsing: request.url)
    if url.userInfo == nil { request.credentials.basic = netrc.login(for: url.host) }
  }

  private func cookieJar(at path: String) -> CookieJar {
    if let known = jars.withLock({ $0[path] }) { return known }
    let made = CookieJar(path: path)
    return jars.withLock { jars in
      if let known = jars[path] { return known }
      jars[path] = made
      return made
    }
  }

  /// Requests of one host share a loop, and so its connections, unless that host is nearly all there is.
  private func chosenLoop(for transfer: Transfer) -> TransferLoop {
    let url = transfer.hop.url
    let way = transfer.request.way(url.host, url.port)
    if let streams = way.streams, streams != TransferEngine.usualStreams { return ownLoop(streams: streams) }
    guard loops.count > 1 else { return loops[0] }
    var hasher = Hasher()
    hasher.combine(url.host)
    hasher.combine(url.port)
    let home = loops[Int(UInt(bitPattern: hasher.finalize()) % UInt(loops.count))]
    // Streams of HTTP/2 share a connection, which two loops cannot.
    guard home.load >= 16, url.scheme == "http", way.version != .two,
      let calm = loops.min(by: { $0.load < $1.load })
    else { return home }
    return calm.load * 4 < home.load ? calm : home
  }

  private func ownLoop(streams: Int) -> TransferLoop {
    let (loop, isNew) = otherLoops.withLock { loops -> (TransferLoop, Bool) in
      if let known = loops[streams] { return (known, false) }
      let made = TransferLoop(connections: idleConnections, streams: streams, bandwidth: bandwidth, names: names)
      loops[streams] = made
      return (made, true)
    }
    if isNew { WorkerThread.start("transfer-s\(streams)") { loop.run() } }
    return loop
  }

  private static let library: Void = {
    curl_global_init(Int(CURL_GLOBAL_ALL))
  }()
}

/// A request that has been begun.
public struct TransferTicket: Sendable {
  let transfer: Transfer
  let loop: TransferLoop

  func submit(_ done: @escaping @Sendable (Transfer.Outcome) -> Void) {
    transfer.await(done)
    loop.submit(transfer)
  }

  /// Ends the request at once, if it has not ended yet.
  public func cancel() { loop.cancel(transfer) }
}
