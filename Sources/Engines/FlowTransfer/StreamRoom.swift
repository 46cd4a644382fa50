/// Decides how many requests one origin's connections take, where each carries several at once: a pure value.
///
/// libcurl opens a connection for every request that finds no free stream: of a hundred that start together, a hundred
/// connections, though two would carry them. So no more are begun than there are streams for, and while a connection
/// is being made the others wait for it. Connections are known by their local ports.
struct StreamRoom: Sendable, Hashable {
  /// Where a request is.
  enum Seat: Sendable, Hashable {
    /// It has been begun, and has no connection yet.
    case unknown
    /// A connection is being made for it.
    case opening
    /// On the connection of a local port.
    case connection(Int)
  }

  /// What is to become of a request that waits.
  enum Admission: Sendable, Hashable {
    case wait
    /// It goes on a connection that is there.
    case begin
    /// A connection is to be made for it.
    case open
  }

  private struct Connection: Sendable, Hashable {
    var inFlight = 0
    /// How many it takes: fewer than usual where its server has been seen to allow fewer.
    var most: Int
    /// Whether a request has found no room on it where there should have been some: its server allows fewer, or has
    /// ended it.
    var isClosed = false

    /// One that was idle may be gone: one request finds out.
    var free: Int { isClosed ? 0 : inFlight == 0 ? 1 : max(0, most - inFlight) }
  }

  private let streams: Int
  private var connections: [Int: Connection] = [:]
  /// Requests that have been begun and have no connection yet; each may be about to open one.
  private var unseated = 0
  private var openings = 0

  /// How many one connection has been seen to carry; half of that, or a few, find out at once whether there is room.
  private var proven = 0

  /// Room on connections with so many streams each.
  init(streams: Int) { self.streams = max(1, streams) }

  /// How many connections there are, those that are being made too.
  var count: Int { connections.count + openings }

  /// Whether there is no connection, and none to come.
  var isEmpty: Bool { count == 0 && unseated == 0 }

  /// What becomes of the next of so many that wait.
  ///
  /// There are as many connections as the requests fill, so that a bound on requests is one on connections; at most as
  /// many are made at the same time as there are.
  func admission(waiting: Int) -> Admission {
    var (free, inFlight, usable) = (0, unseated + openings, 0)
    for connection in connections.values {
      free += connection.free
      inFlight += connection.inFlight
      if !connection.isClosed { usable += 1 }
    }
    if unseated >= max(8, proven / 2) { return .wait }
    if free > unseated { return .begin }
    // What has no room may never have any again, and nobody knows how long what is on it takes.
    if usable == 0, openings == 0, unseated == 0 { return .open }
    let isWorthOne = openings < max(1, usable) && count < (inFlight + waiting + streams - 1) / streams
    return isWorthOne ? .open : .wait
  }

  /// A request was begun; with `opening` on a connection of its own, which others may share when it is there.
  mutating func begin(opening: Bool) { if opening { openings += 1 } else { unseated += 1 } }

  /// A connection is being made for a request for which none was to be made.
  ///
  /// To be told after what others of the same moment have got.
  mutating func open() {
    unseated -= 1
    openings += 1
    for (port, connection) in connections where connection.free > 0 {
      // It had none after all.
      connections[port] =
        connection.inFlight == 0
        ? nil : Connection(inFlight: connection.inFlight, most: connection.inFlight, isClosed: true)
    }
  }

  /// A request has got a connection: one that was there, or the one that was made for it.
  mutating func take(_ port: Int, from seat: Seat) {
    switch seat {
    case .unknown: unseated -= 1
    case .opening:
      openings -= 1
      // Another of the same port is long gone.
      if connections[port]?.inFlight == 0 { connections[port] = nil }
    case .connection: return
    }
    var connection = connections[port] ?? Connection(most: streams)
    connection.inFlight += 1
    connection.most = max(connection.most, connection.inFlight)
    connection.isClosed = false
    connections[port] = connection
    proven = max(proven, connection.inFlight)
  }

  /// A request has ended.
  mutating func end(_ seat: Seat) {
    switch seat {
    case .unknown: unseated -= 1
    case .opening: openings -= 1
    case .connection(let port):
      guard let connection = connections[port] else { return }
      let left = connection.inFlight - 1
      connections[port]?.inFlight = left
      if left == 0, connection.isClosed { connections[port] = nil }
    }
  }
}
