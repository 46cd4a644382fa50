internal import CCurl
internal import FlowBase

/// A thread that carries many transfers at once over one pool of connections.
@safe final class TransferLoop: Wakeable, @unchecked Sendable {
  private enum Letter: Sendable {
    case start(Transfer)
    case cancel(Transfer)
    case named(Transfer, hop: Int, NameAnswer)
    case close
  }

  private struct Inbox {
    var letters: [Letter] = []
    /// Whether the thread sleeps in `curl_multi_poll`, or is about to.
    var isWaiting = false
    var load = 0
  }

  private let inbox = Guarded(Inbox())
  private let multi: UnsafeMutableRawPointer?
  private let share: UnsafeMutableRawPointer?
  private let bandwidth: BandwidthShares
  private let names: NameResolver
  private let seats: StreamSeats
  private let clock = SystemTime()

  // Below: only the loop's own thread.
  private var active: [Transfer] = []
  private var idle: [EasyHandle] = []
  /// Transfers that wait for bandwidth, and until when.
  private var held: [(until: Instant, transfer: Transfer, begin: () -> Void)] = []
  /// Transfers that wait for others to give back their file descriptors.
  private var starved: [Transfer] = []
  private var batch: [Letter] = []
  private let turn = TurnClock()
  private var rested: [EasyHandle] = []
  private var lastHost = (name: "", isLiteral: false)
  private var now: Instant { turn.now }
  /// Not later than this some transfer must be looked at.
  private var nextCheck = Instant(nanoseconds: .max)
  private var isOpen = true

  /// Whether the last look at the connections found something at once.
  private var isBusy = false

  /// With so many transfers under way that something is always there, the loop looks at them only so often: each look
  /// costs the same, however much is found.
  private static let crowd = 16
  private static let betweenLooks = Interval.microseconds(150)

  private static let idleHandles = 512
  private static let longestWait = Interval.seconds(60)
  /// How often the shares of a limited bandwidth are dealt out anew.
  private static let sharing = Interval.milliseconds(250)

  /// How long a transfer that got no file descriptor waits at most.
  private static let starving = Interval.milliseconds(200)

  /// A loop that keeps so many idle connections, with so many streams on one of HTTP/2 at most.
  init(connections: Int, streams: Int, bandwidth: BandwidthShares, names: NameResolver) {
    self.bandwidth = bandwidth
    self.names = names
    seats = StreamSeats(streams: streams)
    unsafe multi = unsafe curl_multi_init()
    unsafe share = unsafe curl_share_init()
    // TLS sessions are shared by the handles of this loop; no lock, as there is one thread.
    _ = unsafe imgflow_share(share, CURL_LOCK_DATA_SSL_SESSION)
    _ = unsafe imgflow_set_multi_long(multi, CURLMOPT_MAXCONNECTS, connections)
    _ = unsafe imgflow_set_multi_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    _ = unsafe imgflow_set_multi_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, streams)
  }

  deinit {
    unsafe curl_multi_cleanup(multi)
    unsafe curl_share_cleanup(share)
  }

  // MARK: From any thread

  /// How many transfers it has.
  var load: Int { inbox.withLock { $0.load } }

  func submit(_ transfer: Transfer) { post(.start(transfer), load: 1) }
  func cancel(_ transfer: Transfer) { post(.cancel(transfer)) }
  func close() { post(.close) }

  private func post(_ letter: Letter, load: Int = 0) {
    let mustWake = inbox.withLock { inbox in
      inbox.letters.append(letter)
      inbox.load += load
      defer { inbox.isWaiting = false }
      return inbox.isWaiting
    }
    if mustWake { Wakes.wake(self) }
  }

  func wake() { unsafe curl_multi_wakeup(multi) }

  // MARK: The loop

  func run() {
    while isOpen {
      readInbox()
      var running: Int32 = 0
      unsafe curl_multi_perform(multi, &running)
      tick()
      seats.settle()
      if !turn.held.isEmpty { takeHeld() }
      // Whoever hears of several ends is woken once.
      Wakes.together { readMessages() }
      if now >= nextCheck { check() }
      if turn.resting.isEmpty { wait() } else { endRest() }
    }
    for transfer in active { end(transfer, .failure(TransferLoop.cancelled)) }
    idle.removeAll()
  }

  private func tick() { turn.now = clock.now() }

  private func wait() {
    if isBusy, active.count >= TransferLoop.crowd { WorkerThread.rest(TransferLoop.betweenLooks) }
    let mayWait = inbox.withLock { inbox in
      inbox.isWaiting = inbox.letters.isEmpty
      return inbox.isWaiting
    }
    guard mayWait, isOpen else { return }
    let before = clock.now()
    let left = min(TransferLoop.longestWait, max(.zero, nextCheck - before))
    unsafe curl_multi_poll(multi, nil, 0, Int32((left.nanoseconds + 999_999) / 1_000_000), nil)
    inbox.withLock { $0.isWaiting = false }
    tick()
    isBusy = now - before < TransferLoop.betweenLooks
  }

  private func readInbox() {
    inbox.withLock { swap(&batch, &$0.letters) }
    guard !batch.isEmpty else { return }
    tick()
    for letter in batch {
      switch letter {
      case .start(let transfer): begin(transfer)
      case .cancel(let transfer):
        transfer.isCancelled = true
        if transfer.place != nil { end(transfer, .failure(TransferLoop.cancelled)) }
      case .named(let transfer, let hop, let answer):
        guard transfer.place != nil, transfer.isWaiting, transfer.hop.number == hop else { continue }
        named(transfer, answer)
      case .close: isOpen = false
      }
    }
    batch.removeAll(keepingCapacity: true)
  }

  private func begin(_ transfer: Transfer) {
    transfer.place = active.count
    active.append(transfer)
    transfer.start = now
    transfer.bandwidth = bandwidth
    if transfer.isCancelled { return end(transfer, .failure(TransferLoop.cancelled)) }
    startHop(transfer)
  }

  private func makeHandle() -> EasyHandle? { unsafe EasyHandle(share: share, clock: turn) }

  /// Begins a hop: its host's name is resolved where it is one, and then it is asked.
  private func startHop(_ transfer: Transfer) {
    let url = transfer.hop.url
    begin(hopOf: transfer)
    let way = transfer.request.way(url.host, url.port)
    let proxy = way.proxy ?? transfer.environment.proxy(for: url)
    // A proxy resolves names itself.
    if !proxy.isEmpty || isLiteral(url.host) {
      return launch(transfer, way, proxy, nil)
    }
    let hop = transfer.hop.number
    transfer.isWaiting = true
    let answer = names.resolve(url.host) { [weak self] answer in self?.post(.named(transfer, hop: hop, answer)) }
    if let answer { named(transfer, answer) } else { lookSoon(transfer) }
  }

  /// Whether a host is an address; one after the other is mostly the same.
  private func isLiteral(_ host: String) -> Bool {
    if host != lastHost.name { lastHost = (host, NetworkAddress(parsing: host) != nil) }
    return lastHost.isLiteral
  }

  private func begin(hopOf transfer: Transfer) {
    transfer.hopStart = now
    transfer.lastByte = now
    transfer.hasAnswer = false
    transfer.hopBytes = 0
    transfer.speedWindow = (now, transfer.bytes)
  }

  private func named(_ transfer: Transfer, _ answer: NameAnswer) {
    transfer.isWaiting = false
    let hop = transfer.hop
    guard case .addresses(let addresses) = answer else {
      let fault = answer.fault(host: hop.url.host) ?? .internal("names", "a name has no answer")
      return end(transfer, .failure(fault))
    }
    let policy = transfer.request.addresses
    let allowed = addresses.filter { policy.allows($0, host: hop.url.host, port: hop.url.port) }
    if allowed.isEmpty, let first = addresses.first {
      return end(transfer, .failure(EasyHandle.blocked(first, hop)))
    }
    begin(hopOf: transfer)
    launch(transfer, transfer.request.way(hop.url.host, hop.url.port), "", allowed)
  }

  private func launch(_ transfer: Transfer, _ way: HostWay, _ proxy: String, _ addresses: [NetworkAddress]?) {
    if let opening = bandwidth.opening(for: transfer, way, at: now) {
      transfer.isHeld = true
      held.append(
        (
          opening, transfer,
          { [unowned self] in
            begin(hopOf: transfer)
            launch(transfer, way, proxy, addresses)
          }
        ))
      nextCheck = min(nextCheck, opening)
      return
    }
    let admission = seats.admission(of: transfer, way, proxy: proxy)
    guard admission != .wait else {
      return seats.wait(transfer) { [unowned self] in
        begin(hopOf: transfer)
        launch(transfer, way, proxy, addresses)
      }
    }
    guard let easy = transfer.easy ?? idle.popLast() ?? makeHandle() else {
      return end(transfer, .failure(TransferLoop.noHandle))
    }
    transfer.easy = easy
    do {
      try easy.prepare(transfer.hop, of: transfer, way: way, proxy: proxy, addresses: addresses)
    } catch {
      return end(transfer, .failure(error))
    }
    easy.takesNewConnection = admission == .open
    bandwidth.enter(transfer, way)
    let speed = bandwidth.speed(of: transfer)
    easy.setSpeed(speed ?? 0)
    lookSoon(transfer)
    if speed != nil { nextCheck = min(nextCheck, now + TransferLoop.sharing) }
    unsafe curl_multi_add_handle(multi, easy.handle)
    seats.began(transfer, opening: admission == .open)
  }

  /// Takes over those that have been told to wait in the middle.
  private func takeHeld() {
    for (until, transfer) in turn.held where transfer.place != nil {
      held.append(
        (
          until, transfer,
          { [unowned self] in
            transfer.lastByte = now
            transfer.speedWindow = (now, transfer.bytes)
            transfer.easy?.resume()
          }
        ))
      nextCheck = min(nextCheck, until)
    }
    turn.held.removeAll(keepingCapacity: true)
  }

  /// Lets those go on that have let others go first.
  private func endRest() {
    // Some may have enough again with what they had left.
    swap(&rested, &turn.resting)
    for easy in rested where easy.isResting && easy.transfer?.isHeld == false { easy.resume() }
    rested.removeAll(keepingCapacity: true)
  }

  /// Lets those go on whose bandwidth is there; some of them may have to wait again.
  private func release() {
    let due = held.filter { $0.until <= now }
    held.removeAll { $0.until <= now }
    for entry in due where entry.transfer.place != nil {
      entry.transfer.isHeld = false
      entry.begin()
    }
    for entry in held { nextCheck = min(nextCheck, entry.until) }
  }

  /// Has the times of a transfer looked at before one of them can be over.
  private func lookSoon(_ transfer: Transfer) {
    let limits = transfer.request.limits
    var look = now + limits.soonest
    if let total = limits.total { look = min(look, transfer.start + total) }
    nextCheck = min(nextCheck, look)
  }

  private func readMessages() {
    var left: Int32 = 0
    while let message = unsafe curl_multi_info_read(multi, &left) {
      guard unsafe message.pointee.msg == CURLMSG_DONE, let handle = unsafe message.pointee.easy_handle else {
        continue
      }
      var context: UnsafeMutableRawPointer?
      _ = unsafe imgflow_get_pointer(handle, CURLINFO_PRIVATE, &context)
      let code = unsafe imgflow_message_result(message)
      guard let easy = unsafe EasyHandle.of(context), let transfer = easy.transfer else { continue }
      finishHop(transfer, easy, code)
    }
  }

  private func finishHop(_ transfer: Transfer, _ easy: EasyHandle, _ code: CURLcode) {
    transfer.wireBytes += easy.offset(CURLINFO_SIZE_DOWNLOAD_T)
    bandwidth.leave(transfer)
    seats.left(transfer, among: active)
    let next: Hop?
    do {
      next = try easy.redirected(transfer, code)
    } catch {
      if easy.isStarved, !easy.answer.isComplete, active.count > starved.count + 1 { return starve(transfer, easy) }
      return end(transfer, .failure(error))
    }
    guard let next else { return end(transfer, .success(easy.result(of: transfer))) }
    unsafe curl_multi_remove_handle(multi, easy.handle)
    transfer.hop = next
    startHop(transfer)
  }

  /// Puts a transfer aside that got no file descriptor, until another has given one back: no failure, only slower.
  private func starve(_ transfer: Transfer, _ easy: EasyHandle) {
    unsafe curl_multi_remove_handle(multi, easy.handle)
    transfer.easy = nil
    retire(easy)
    transfer.isWaiting = true
    begin(hopOf: transfer)
    // No step of its own takes that time.
    transfer.isHeld = true
    starved.append(transfer)
    nextCheck = min(nextCheck, now + TransferLoop.starving)
  }

  private func feed() {
    guard !starved.isEmpty else { return }
    let transfer = starved.removeFirst()
    transfer.isHeld = false
    transfer.isWaiting = false
    startHop(transfer)
  }

  /// Looks at every transfer's times, and finds when that must be done again.
  private func check() {
    nextCheck = now + TransferLoop.longestWait
    if !starved.isEmpty {
      feed()
      nextCheck = min(nextCheck, now + TransferLoop.starving)
    }
    if !held.isEmpty { release() }
    // Some have been told to wait again at once.
    if !turn.held.isEmpty { takeHeld() }
    var late: [(Transfer, Fault)] = []
    for transfer in active where !transfer.isHeld {
      let speed = bandwidth.speed(of: transfer)
      if let speed {
        transfer.leastShare = min(transfer.leastShare ?? speed, speed)
        transfer.easy?.setSpeed(speed)
        nextCheck = min(nextCheck, now + TransferLoop.sharing)
      }
      switch phase(of: transfer).verdict(at: now, host: transfer.hop.url.host) {
      case .wait(let until): nextCheck = min(nextCheck, until)
      case .nextWindow:
        transfer.speedWindow = (now, transfer.bytes)
        transfer.leastShare = speed
        nextCheck = min(nextCheck, now + transfer.request.limits.soonest)
      case .late(let fault): late.append((transfer, fault))
      }
    }
    for (transfer, fault) in late {
      // The head of a redirect or a failure is the answer, however slowly its words come behind it.
      if transfer.hasAnswer, let easy = transfer.easy, easy.isRefusal, fault.code != Phase.totalCode {
        finishHop(transfer, easy, CURLE_OPERATION_TIMEDOUT)
      } else {
        end(transfer, .failure(fault))
      }
    }
  }

  private func phase(of transfer: Transfer) -> Phase {
    if let easy = transfer.easy, !transfer.isWaiting { return easy.phase(of: transfer) }
    return Phase(
      step: .name, limits: transfer.request.limits, start: transfer.start, stepStart: transfer.hopStart,
      lastByte: transfer.lastByte, windowStart: transfer.speedWindow.start, windowBytes: 0)
  }

  private func end(_ transfer: Transfer, _ outcome: Transfer.Outcome) {
    guard let place = transfer.place else { return }
    transfer.place = nil
    let last = active.removeLast()
    if place < active.count {
      active[place] = last
      last.place = place
    }
    bandwidth.leave(transfer)
    seats.left(transfer, among: active)
    inbox.withLock { $0.load -= 1 }
    if let easy = transfer.easy {
      unsafe curl_multi_remove_handle(multi, easy.handle)
      transfer.easy = nil
      retire(easy)
    }
    if case .failure(let fault) = outcome, fault.code == "net.timeout.connect" { names.passOver(transfer.hop.url.host) }
    transfer.finish(outcome)
    if transfer.isHeld { held.removeAll { $0.transfer === transfer } }
    if !starved.isEmpty {
      starved.removeAll { $0 === transfer }
      feed()
    }
  }

  private func retire(_ easy: EasyHandle) {
    easy.release()
    if idle.count < TransferLoop.idleHandles { idle.append(easy) }
  }

  private static let cancelled = Fault("cancelled.user", .cancelled, "the transfer was cancelled")
  private static let noHandle = Fault.internal("transfer", "libcurl has no handle to give")
}

/// The loop's reading of the clock, renewed once a turn: callbacks need no call of their own for it.
final class TurnClock {
  var now = Instant(nanoseconds: 0)
  /// Transfers that were told to wait during this turn, and until when.
  var held: [(until: Instant, transfer: Transfer)] = []
  /// Those that have had enough for this turn.
  var resting: [EasyHandle] = []
}
