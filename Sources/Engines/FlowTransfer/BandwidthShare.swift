internal import FlowBase

/// What each of the running transfers may take of a bandwidth that they share.
final class BandwidthShare: Sendable {
  private struct State {
    var limit: Int?
    var running = 0
  }

  private let state = Guarded(State())

  init(limit: Int? = nil) { set(limit: limit) }

  /// Bytes a second for each transfer; nil without a limit.
  var share: Int? { state.withLock { state in state.limit.map { max(1, $0 / max(1, state.running)) } } }

  func set(limit: Int?) { state.withLock { $0.limit = limit } }
  func count(_ change: Int) { state.withLock { $0.running += change } }
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
    guard let limit = way.bandwidth else { return }
    let url = transfer.hop.url
    let share = hosts.withLock { hosts in
      let name = "\(url.host):\(url.port)"
      let share = hosts[name] ?? BandwidthShare()
      hosts[name] = share
      return share
    }
    share.set(limit: limit)
    share.count(1)
    transfer.share = share
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
