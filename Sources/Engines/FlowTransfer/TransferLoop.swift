internal import CCurl
internal import FlowBase

/// A thread that carries many transfers at once over one pool of connections.
@safe final class TransferLoop: @unchecked Sendable {
  private enum Letter: Sendable {
    case start(Transfer)
    case cancel(Transfer)
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
  private let bandwidth: BandwidthShare
  private let clock = SystemTime()

  // Below: only the loop's own thread.
  private var active: [Transfer] = []
  private var idle: [EasyHandle] = []
  private var batch: [Letter] = []
  private let turn = TurnClock()
  private var now: Instant { turn.now }
  /// Not later than this some transfer must be looked at.
  private var nextCheck = Instant(nanoseconds: .max)
  private var isOpen = true

  private static let idleHandles = 512
  private static let longestWait = Interval.seconds(60)
  /// How often the shares of a limited bandwidth are dealt out anew.
  private static let sharing = Interval.milliseconds(250)

  init(connections: Int, bandwidth: BandwidthShare) {
    self.bandwidth = bandwidth
    unsafe multi = unsafe curl_multi_init()
    unsafe share = unsafe curl_share_init()
    // TLS sessions are shared by the handles of this loop; no lock, as there is one thread.
    _ = unsafe imgflow_share(share, CURL_LOCK_DATA_SSL_SESSION)
    _ = unsafe imgflow_set_multi_long(multi, CURLMOPT_MAXCONNECTS, connections)
    _ = unsafe imgflow_set_multi_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
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
    if mustWake { unsafe curl_multi_wakeup(multi) }
  }

  // MARK: The loop

  func run() {
    while isOpen {
      readInbox()
      var running: Int32 = 0
      unsafe curl_multi_perform(multi, &running)
      tick()
      readMessages()
      if now >= nextCheck { check() }
      wait()
    }
    for transfer in active { end(transfer, .failure(TransferLoop.cancelled)) }
    idle.removeAll()
  }

  private func tick() { turn.now = clock.now() }

  private func wait() {
    let mayWait = inbox.withLock { inbox in
      inbox.isWaiting = inbox.letters.isEmpty
      return inbox.isWaiting
    }
    guard mayWait, isOpen else { return }
    let left = min(TransferLoop.longestWait, max(.zero, nextCheck - clock.now()))
    unsafe curl_multi_poll(multi, nil, 0, Int32((left.nanoseconds + 999_999) / 1_000_000), nil)
    inbox.withLock { $0.isWaiting = false }
    tick()
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
      case .close: isOpen = false
      }
    }
    batch.removeAll(keepingCapacity: true)
  }

  private func begin(_ transfer: Transfer) {
    transfer.place = active.count
    active.append(transfer)
    bandwidth.count(1)
    if transfer.isCancelled { return end(transfer, .failure(TransferLoop.cancelled)) }
    guard let easy = idle.popLast() ?? makeHandle() else {
      return end(transfer, .failure(TransferLoop.noHandle))
    }
    transfer.easy = easy
    transfer.start = now
    startHop(transfer)
  }

  private func makeHandle() -> EasyHandle? { unsafe EasyHandle(share: share, clock: turn) }

  private func startHop(_ transfer: Transfer) {
    guard let easy = transfer.easy else { return }
    transfer.hopStart = now
    transfer.lastByte = now
    transfer.hasAnswer = false
    transfer.hopBytes = 0
    transfer.speedWindow = (now, transfer.bytes)
    do { try easy.prepare(transfer.hop, of: transfer) } catch { return end(transfer, .failure(error)) }
    easy.setSpeed(bandwidth.share ?? 0)
    let limits = transfer.request.limits
    var look = now + limits.soonest
    if let total = limits.total { look = min(look, transfer.start + total) }
    if bandwidth.share != nil { look = min(look, now + TransferLoop.sharing) }
    nextCheck = min(nextCheck, look)
    unsafe curl_multi_add_handle(multi, easy.handle)
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
    let next: Hop?
    do {
      next = try easy.redirected(transfer, code)
    } catch {
      return end(transfer, .failure(error))
    }
    guard let next else { return end(transfer, .success(easy.result(of: transfer))) }
    unsafe curl_multi_remove_handle(multi, easy.handle)
    transfer.hop = next
    if easy.isTainted {
      easy.release()
      guard let fresh = idle.popLast() ?? makeHandle() else { return end(transfer, .failure(TransferLoop.noHandle)) }
      transfer.easy = fresh
    }
    startHop(transfer)
  }

  /// Looks at every transfer's times, and finds when that must be done again.
  private func check() {
    nextCheck = now + TransferLoop.longestWait
    let share = bandwidth.share
    if share != nil { nextCheck = now + TransferLoop.sharing }
    var late: [(Transfer, Fault)] = []
    for transfer in active {
      guard let easy = transfer.easy else { continue }
      if let share { easy.setSpeed(share) }
      switch easy.phase(of: transfer, isHeldBack: share != nil).verdict(at: now, host: transfer.hop.url.host) {
      case .wait(let until): nextCheck = min(nextCheck, until)
      case .nextWindow:
        transfer.speedWindow = (now, transfer.bytes)
        nextCheck = min(nextCheck, now + transfer.request.limits.soonest)
      case .late(let fault): late.append((transfer, fault))
      }
    }
    for (transfer, fault) in late { end(transfer, .failure(fault)) }
  }

  private func end(_ transfer: Transfer, _ outcome: Transfer.Outcome) {
    guard let place = transfer.place else { return }
    transfer.place = nil
    let last = active.removeLast()
    if place < active.count {
      active[place] = last
      last.place = place
    }
    bandwidth.count(-1)
    inbox.withLock { $0.load -= 1 }
    if let easy = transfer.easy {
      unsafe curl_multi_remove_handle(multi, easy.handle)
      transfer.easy = nil
      easy.release()
      if idle.count < TransferLoop.idleHandles && !easy.isTainted { idle.append(easy) }
    }
    transfer.finish(outcome)
  }

  private static let cancelled = Fault("cancelled.user", .cancelled, "the transfer was cancelled")
  private static let noHandle = Fault.internal("transfer", "libcurl has no handle to give")
}

/// The loop's reading of the clock, renewed once a turn: callbacks need no call of their own for it.
final class TurnClock {
  var now = Instant(nanoseconds: 0)
}
