internal import FlowBase

/// What each of the running transfers may take of a bandwidth that they share.
final class BandwidthShare: Sendable {
  private struct State {
    var limit: Int?
    var running = 0
    /// Until when the bytes that have come take up the limit.
    var filledUntil = Instant(nanoseconds: 0)
  }

  /// How far ahead of the limit bytes may come.
  private static let slack = Interval.milliseconds(100)

  private let state = Guarded(State())

  init(limit: Int? = nil) { set(limit: limit) }

  /// Bytes a second for each transfer; nil without a limit.
  var share: Int? { state.withLock { state in state.limit.map { max(1, $0 / max(1, state.running)) } } }

  func set(limit: Int?) {
    state.withLock { state in
      // What has come was measured by the other limit.
      if state.limit != limit { state.filledUntil = Instant(nanoseconds: 0) }
      state.limit = limit
    }
  }
  func count(_ change: Int) { state.withLock { $0.running += change } }

  /// Takes note of bytes that have come.
  func took(_ bytes: Int, at now: Instant) {
    state.withLock { state in
      guard let limit = state.limit else { return }
      let time = Interval(seconds: Double(bytes) / Double(max(1, limit)))
      state.filledUntil = max(state.filledUntil, now) + time
    }
  }

  /// When another transfer may begin; nil at once.
  ///
  func opening(at now: Instant) -> Instant? {
    state.withLock { state in
      guard state.limit != nil, state.filledUntil > now + BandwidthShare.slack else { return nil }
      return Instant(nanoseconds: state.filledUntil.nanoseconds - BandwidthShare.slack.nanoseconds)
    }
  }
}

/// The bandwidths of the whole engine and of single hosts.
final class BandwidthShares: Sendable {
  private let whole = BandwidthShare()
  private let hosts = Guarded<[String: BandwidthShare]>([:])

  /// The limit over all transfers.
  func set(limit: Int?) { whole.set(limit: limit) }

  /// Counts a transfer in, for the hop that it begins.
  func enter(_ transfer: Transfer, _ way: HostWay) {
    leave(transfer)
    whole.count(1)
    transfer.isCounted = true
    guard let share = share(of: transfer.hop.url, way) else { return }
    share.count(1)
    transfer.share = share
  }

  private func share(of url: URLParts, _ way: HostWay) -> BandwidthShare? {
    guard let limit = way.bandwidth else { return nil }
    let share = hosts.withLock { hosts in
      let name = "\(url.host):\(url.port)"
      let share = hosts[name] ?? BandwidthShare()
      hosts[name] = share
      return share
    }
    share.set(limit: limit)
    return share
  }

  /// Takes note of bytes that a transfer has got.
  func took(_ bytes: Int, by transfer: Transfer, at now: Instant) {
    whole.took(bytes, at: now)
    transfer.share?.took(bytes, at: now)
  }

  /// When a transfer may begin its hop; nil at once.
  func opening(for transfer: Transfer, _ way: HostWay, at now: Instant) -> Instant? {
    let openings = [whole.opening(at: now), share(of: transfer.hop.url, way)?.opening(at: now)]
    return openings.compactMap { $0 }.max()
  }

  /// When a transfer that is under way may take more; nil at once.
  func opening(for transfer: Transfer, at now: Instant) -> Instant? {
    [whole.opening(at: now), transfer.share?.opening(at: now)].compactMap { $0 }.max()
  }

  /// Counts it out.
  func leave(_ transfer: Transfer) {
    guard transfer.isCounted else { return }
    transfer.isCounted = false
    whole.count(-1)
    transfer.share?.count(-1)
    transfer.share = nil
  }

  /// The most bytes a second for a transfer; nil without any limit.
  func speed(of transfer: Transfer) -> Int? {
    guard let own = transfer.share?.share else { return whole.share }
    return whole.share.map { min($0, own) } ?? own
  }
}
