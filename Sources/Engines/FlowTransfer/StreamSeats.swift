internal import CCurl
internal import FlowBase

/// The connections of one loop on which requests share a connection, and the requests that wait for room on them.
///
/// Only the loop's own thread uses it. What it knows comes from libcurl after each turn: whether a request has opened a
/// connection, and on which one it is.
final class StreamSeats {
  /// What is known of one origin.
  final class Origin {
    fileprivate let key: Key
    fileprivate var room: StreamRoom
    /// Whether its connections have been seen to carry several requests at once; before that nothing is held back.
    fileprivate var isMultiplexed = false
    fileprivate var waiting = Fifo<(transfer: Transfer, begin: () -> Void)>()
    /// How many transfers it has.
    fileprivate var users = 0

    fileprivate init(_ key: Key, streams: Int) {
      self.key = key
      room = StreamRoom(streams: streams)
    }
  }

  fileprivate struct Key: Hashable {
    var scheme: String
    var host: String
    var port: Int
    var proxy: String
  }

  private let streams: Int
  private var origins: [Key: Origin] = [:]
  private var last: Origin?
  /// Transfers that have been begun and have no connection yet.
  private var unseated: [Transfer] = []
  /// So many origins without transfers are remembered.
  private static let mostIdle = 1024

  init(streams: Int) { self.streams = streams }

  /// What is to become of a transfer that would be begun now.
  func admission(of transfer: Transfer, _ way: HostWay, proxy: String) -> StreamRoom.Admission {
    let url = transfer.hop.url
    // In the clear HTTP/2 is spoken only where that is asked for.
    guard way.version != .one, url.scheme == "https" || way.version == .two else { return .begin }
    let origin =
      transfer.origin ?? enter(transfer, Key(scheme: url.scheme, host: url.host, port: url.port, proxy: proxy))
    return origin.isMultiplexed ? origin.room.admission(waiting: origin.waiting.count + 1) : .begin
  }

  /// Has a transfer wait until there is room for it, and then calls `begin`.
  func wait(_ transfer: Transfer, begin: @escaping () -> Void) {
    transfer.isHeld = true
    transfer.origin?.waiting.append((transfer, begin))
  }

  private func enter(_ transfer: Transfer, _ key: Key) -> Origin {
    let origin: Origin
    if let last, last.key == key {
      origin = last
    } else if let known = origins[key] {
      origin = known
    } else {
      if origins.count >= StreamSeats.mostIdle {
        origins = origins.filter { $0.value.users > 0 }
        last = nil
      }
      origin = Origin(key, streams: streams)
      origins[key] = origin
    }
    last = origin
    origin.users += 1
    transfer.origin = origin
    return origin
  }

  /// A transfer was handed to libcurl; with `opening` it gets a connection of its own.
  func began(_ transfer: Transfer, opening: Bool) {
    guard let origin = transfer.origin, origin.isMultiplexed else { return }
    origin.room.begin(opening: opening)
    transfer.seat = opening ? .opening : .unknown
    unseated.append(transfer)
  }

  /// Sees which connections transfers have got since the last time.
  func settle() {
    if unseated.isEmpty { return }
    var touched: [Origin] = []
    for transfer in unseated {
      guard let origin = transfer.origin else { continue }
      if !touched.contains(where: { $0 === origin }) { touched.append(origin) }
      if transfer.seat == .unknown, let easy = transfer.easy, easy.openedSockets == 0 { take(easy, transfer, origin) }
    }
    // Only now is it known what had room and was passed over all the same.
    for transfer in unseated {
      guard let origin = transfer.origin, let easy = transfer.easy else { continue }
      if transfer.seat == .unknown, easy.openedSockets > 0 {
        origin.room.open()
        transfer.seat = .opening
      }
      if transfer.seat == .opening { take(easy, transfer, origin) }
    }
    unseated.removeAll { transfer in
      switch transfer.seat {
      case .unknown, .opening: false
      case .connection, nil: true
      }
    }
    for origin in touched { feed(origin) }
  }

  /// Notes which connection a transfer has, if it has one on which its request can be sent.
  private func take(_ easy: EasyHandle, _ transfer: Transfer, _ origin: Origin) {
    guard let port = easy.localPort, let seat = transfer.seat else { return }
    origin.room.take(port, from: seat)
    transfer.seat = .connection(port)
  }

  /// A transfer has left libcurl, with an answer or without; `active` are the loop's transfers.
  func left(_ transfer: Transfer, among active: [Transfer]) {
    guard let origin = transfer.origin else { return }
    if !origin.isMultiplexed, let easy = transfer.easy, easy.isMultiplexed {
      origin.isMultiplexed = true
      // It, and the others, have been begun before that was known.
      for begun in active + [transfer] where begun.origin === origin && begun.easy != nil && begun.seat == nil {
        began(begun, opening: (begun.easy?.openedSockets ?? 0) > 0)
      }
      settle()
    }
    if let seat = transfer.seat {
      origin.room.end(seat)
      transfer.seat = nil
      // Nobody gets through any more: those that wait find that out together, and not one after the other.
      if seat == .opening, origin.room.isEmpty { origin.isMultiplexed = false }
    }
    origin.users -= 1
    transfer.origin = nil
    feed(origin)
  }

  /// Begins what waits, as far as there is room.
  private func feed(_ origin: Origin) {
    while !origin.waiting.isEmpty,
      !origin.isMultiplexed || origin.room.admission(waiting: origin.waiting.count) != .wait,
      let next = origin.waiting.popFirst()
    {
      // Some have ended while they waited.
      guard next.transfer.place != nil, next.transfer.origin === origin else { continue }
      next.transfer.isHeld = false
      next.begin()
    }
  }
}
