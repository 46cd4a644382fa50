import Testing

@testable import FlowTransfer

/// Requests that share connections, against a server that exists only as numbers.
@Suite struct `Room on shared connections` {
  /// A server, and what libcurl does with requests to it: it opens a connection for each that finds no free stream.
  private struct World {
    struct Connection {
      var inFlight = 0
      var served = 0
      var readyAt: Int
      var isLeaving = false
    }
    struct Request {
      var seat = StreamRoom.Seat.unknown
      var port: Int?
      var endsAt = Int.max
    }

    var room: StreamRoom
    /// So many requests at once go on a connection, and so many altogether.
    let most, lifetime: Int
    var connections: [Int: Connection] = [:]
    var requests: [Int: Request] = [:]
    var waiting: Int
    var (step, ports, begun, done, peak) = (0, 0, 0, 0, 0)

    init(streams: Int = 64, most: Int = 64, lifetime: Int = .max, requests: Int) {
      room = StreamRoom(streams: streams)
      (self.most, self.lifetime) = (most, lifetime)
      waiting = requests
    }

    /// With `limit`, no more than so many are there at once, as a run does it.
    mutating func turn(limit: Int = .max) {
      step += 1
      while waiting > 0, requests.count < limit {
        let admission = room.admission(waiting: min(waiting, limit - requests.count))
        if admission == .wait { break }
        waiting -= 1
        begun += 1
        room.begin(opening: admission == .open)
        requests[begun] = Request()
        if admission == .open { open(begun) }
      }
      for number in requests.keys.sorted() where requests[number]?.port == nil { seat(number) }
      for number in requests.keys.sorted() {
        guard let request = requests[number], let port = request.port, request.seat == .opening,
          let connection = connections[port], connection.readyAt <= step
        else { continue }
        room.take(port, from: .opening)
        requests[number]?.seat = .connection(port)
        requests[number]?.endsAt = step + 60
      }
      peak = max(peak, connections.count)
      for number in requests.keys.sorted() { if let request = requests[number], request.endsAt <= step { end(number) } }
    }

    private mutating func seat(_ number: Int) {
      let free = connections.keys.sorted().first { port in
        connections[port].map { $0.readyAt <= step && !$0.isLeaving && $0.inFlight < most } ?? false
      }
      if let free {
        room.take(free, from: .unknown)
        requests[number] = Request(seat: .connection(free), port: free, endsAt: step + 60)
        take(free)
      } else {
        room.open()
        open(number)
      }
    }

    private mutating func open(_ number: Int) {
      ports += 1
      connections[ports] = Connection(readyAt: step + 2)
      requests[number] = Request(seat: .opening, port: ports)
      take(ports)
    }

    private mutating func take(_ port: Int) {
      connections[port]?.inFlight += 1
      connections[port]?.served += 1
      if let served = connections[port]?.served, served >= lifetime { connections[port]?.isLeaving = true }
    }

    private mutating func end(_ number: Int) {
      guard let request = requests.removeValue(forKey: number), let port = request.port else { return }
      room.end(request.seat)
      done += 1
      connections[port]?.inFlight -= 1
      if let left = connections[port], left.isLeaving, left.inFlight == 0 { connections[port] = nil }
    }
  }

  @Test(arguments: [(1, 1), (64, 1), (65, 2), (200, 4), (640, 10)])
  func `there are as many connections as the requests fill`(requests: Int, connections: Int) {
    var world = World(requests: requests)
    for _ in 0..<600 { world.turn() }
    #expect(world.done == requests)
    #expect(world.peak <= connections)
  }

  @Test(arguments: [64, 128, 384])
  func `a bound on requests is one on connections`(limit: Int) {
    var world = World(requests: 5000)
    while world.done < 5000, world.step < 5000 { world.turn(limit: limit) }
    #expect(world.done == 5000)
    #expect(world.peak == limit / 64)
  }

  @Test func `connections that their server ends are replaced, and not by one for each request`() {
    var world = World(lifetime: 100, requests: 5000)
    while world.done < 5000, world.step < 5000 { world.turn(limit: 256) }
    #expect(world.done == 5000)
    // Four, what is left of those that end, and those that requests have opened which found one ended.
    #expect(world.peak <= 64)
    #expect(world.ports <= 120)
  }

  @Test func `where a server allows few streams all requests go through all the same`() {
    var world = World(most: 3, requests: 600)
    while world.done < 600, world.step < 5000 { world.turn(limit: 60) }
    #expect(world.done == 600)
    #expect(world.peak <= 40)
  }

  @Test func `where a connection cannot be made the next request tries, one at a time`() {
    var room = StreamRoom(streams: 64)
    for _ in 0..<5 {
      #expect(room.admission(waiting: 30) == .open)
      room.begin(opening: true)
      #expect(room.admission(waiting: 29) == .wait)
      room.end(.opening)
    }
    #expect(room.count == 0)
  }

  @Test func `what was idle for long is tried by one request`() {
    var room = StreamRoom(streams: 64)
    room.begin(opening: true)
    room.take(4000, from: .opening)
    room.end(.connection(4000))
    #expect(room.admission(waiting: 30) == .begin)
    room.begin(opening: false)
    #expect(room.admission(waiting: 29) == .wait)
    // It was gone: a connection is made, and counts alone.
    room.open()
    #expect(room.count == 1)
    room.take(4001, from: .opening)
    #expect(room.admission(waiting: 29) == .begin)
  }

  @Test func `what carries more than was thought is taken at its word`() {
    var room = StreamRoom(streams: 64)
    room.begin(opening: true)
    room.take(4000, from: .opening)
    for _ in 0..<3 { room.begin(opening: false) }
    // One opens a connection, and two find room on the one that was there.
    room.open()
    for _ in 0..<2 { room.take(4000, from: .unknown) }
    room.take(4001, from: .opening)
    for _ in 0..<2 { room.end(.connection(4000)) }
    // Three were on it at once: two may be there again, and one more on the other finds out.
    for _ in 0..<2 {
      #expect(room.admission(waiting: 10) == .begin)
      room.begin(opening: false)
      room.take(4000, from: .unknown)
    }
    #expect(room.admission(waiting: 10) == .begin)
  }

  @Test func `nothing waits for what is on a connection that takes no more`() {
    var room = StreamRoom(streams: 64)
    room.begin(opening: true)
    room.take(4000, from: .opening)
    room.begin(opening: false)
    room.open()
    room.end(.opening)
    // The first goes on for hours, and nothing else is there.
    #expect(room.admission(waiting: 20) == .open)
    room.begin(opening: true)
    #expect(room.admission(waiting: 19) == .wait)
    room.end(.opening)
    room.end(.connection(4000))
    #expect(room.isEmpty)
  }
}
