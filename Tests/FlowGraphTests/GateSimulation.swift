import FlowBase
import FlowGraph

/// Many requests to one server that answers some and refuses others, with a clock of its own.
struct GateSimulation {
  /// How a server counts what it allows in a second.
  enum Counting: CaseIterable { case calendarSecond, lastSecond, bucket }

  /// What has happened by the end.
  struct Outcome {
    var answered = 0
    var refused = 0
    var mostTries = 0
    var mostInFlight = 0
    /// When the last answer came.
    var seconds = 0.0
    /// The order in which requests were made for the first time.
    var order: [Int] = []
  }

  var requests = 200
  var connections = 32
  var allowed = 25
  var counting = Counting.lastSecond
  /// The mean time from a request to its answer; each takes up to a quarter more or less.
  var latency = Interval.milliseconds(20)
  var seed = 0

  func run() -> Outcome {
    var dice = Dice(seed: seed)
    var gate = HostGate(total: 1000)
    let host = gate.add(HostGate.Limits(connections: connections))
    var server = Server(allowed: allowed, counting: counting)
    var outcome = Outcome()
    var tries = [Int](repeating: 0, count: requests)
    var happenings = Agenda<Happening>()
    var held: [Int] = []
    var now = Instant(nanoseconds: 1_000_000_000)
    let start = now

    func ask(_ request: Int) {
      guard gate.mayStart(host, at: now) else { return held.append(request) }
      if tries[request] == 0 { outcome.order.append(request) }
      tries[request] += 1
      outcome.mostInFlight = max(outcome.mostInFlight, gate.inFlight(host: host))
      let way = latency.nanoseconds / 2
      happenings.add(.arrives(request), due: now.nanoseconds + Int.random(in: way * 3 / 4...way * 5 / 4, using: &dice))
    }

    for request in 0..<requests { ask(request) }
    while outcome.answered < requests {
      for opening in gate.opened(at: now) {
        for _ in 0..<min(opening.count, held.count) { ask(held.removeFirst()) }
      }
      let next = min(happenings.earliest ?? .max, gate.nextWake?.nanoseconds ?? .max)
      // Nothing will ever happen again.
      guard next < .max, next < 600_000_000_000 else { break }
      now = max(now, Instant(nanoseconds: next))
      while let happening = happenings.popDue(by: now.nanoseconds) {
        switch happening {
        case .arrives(let request):
          let isAllowed = server.allows(at: now.nanoseconds)
          let way = latency.nanoseconds / 2
          let back = now.nanoseconds + Int.random(in: way * 3 / 4...way * 5 / 4, using: &dice)
          happenings.add(isAllowed ? .answers(request) : .refuses(request), due: back)
        case .answers:
          gate.ended(host, .answered, at: now)
          outcome.answered += 1
          outcome.seconds = (now - start).seconds
        case .refuses(let request):
          gate.ended(host, .refused(retryAfter: .seconds(1)), at: now)
          outcome.refused += 1
          happenings.add(.triesAgain(request), due: now.nanoseconds + 1_000_000_000)
        case .triesAgain(let request): ask(request)
        }
      }
    }
    outcome.mostTries = tries.max() ?? 0
    return outcome
  }

  private enum Happening { case arrives(Int), answers(Int), refuses(Int), triesAgain(Int) }

  private struct Server {
    var allowed: Int
    var counting: Counting
    var times: [Int] = []
    var tokens: Double
    var last = 0

    init(allowed: Int, counting: Counting) {
      self.allowed = allowed
      self.counting = counting
      tokens = Double(allowed)
    }

    mutating func allows(at now: Int) -> Bool {
      switch counting {
      case .calendarSecond: times.removeAll { $0 / 1_000_000_000 != now / 1_000_000_000 }
      case .lastSecond: times.removeAll { now - $0 >= 1_000_000_000 }
      case .bucket:
        tokens = min(Double(allowed), tokens + Double(now - last) / 1e9 * Double(allowed))
        last = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
      }
      guard times.count < allowed else { return false }
      times.append(now)
      return true
    }
  }
}
