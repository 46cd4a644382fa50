import FlowBase
import FlowGraph
import Testing

struct HostGateTests {
  @Test(arguments: GateSimulation.Counting.allCases)
  func `A server of 25 requests a second serves 200 with at most 10 refusals in 1.3 times the time`(
    _ counting: GateSimulation.Counting
  ) {
    for latency in [5, 10, 20, 40, 70, 100] {
      for seed in 0..<30 {
        let end = GateSimulation(counting: counting, latency: .milliseconds(latency), seed: seed).run()
        let place = "\(counting), \(latency) ms, seed \(seed): \(end.refused) refusals, \(end.seconds) s"
        #expect(end.answered == 200, "\(place)")
        #expect(end.refused <= 10, "\(place)")
        #expect(end.seconds <= 1.3 * 8, "\(place)")
        #expect(end.mostTries <= 5, "\(place)")
      }
    }
  }

  @Test func `A server that refuses nothing is asked six at first and more after every 100 answers`() {
    let end = GateSimulation(requests: 2_000, allowed: 1_000_000).run()
    #expect(end.answered == 2_000)
    #expect(end.refused == 0)
    #expect(end.mostInFlight == 32)
    let few = GateSimulation(requests: 90, allowed: 1_000_000).run()
    #expect(few.mostInFlight == 6)
    #expect(GateSimulation(requests: 2_000, connections: 2, allowed: 1_000_000).run().mostInFlight == 2)
  }

  @Test func `Requests to one host are made in the order in which they came`() {
    for seed in 0..<20 {
      let end = GateSimulation(requests: 100, allowed: 1_000_000, seed: seed).run()
      #expect(end.order == Array(0..<100))
    }
  }

  @Test func `After a refusal nothing is asked before the time that the host named, then one, then more`() {
    let gate = Gatekeeper(total: 100)
    let host = gate.add(HostGate.Limits(connections: 6))
    for _ in 0..<6 { #expect(gate.mayStart(host, at: .at(0))) }
    #expect(!gate.mayStart(host, at: .at(0)))
    for _ in 0..<4 { gate.ended(host, .answered, at: .at(1)) }
    gate.ended(host, .refused(retryAfter: .seconds(2)), at: .at(2))
    #expect(gate.opened(at: .at(3)).isEmpty)
    #expect(gate.rest(of: host, at: .at(3)) == .milliseconds(1999))
    #expect(!gate.mayStart(host, at: .at(1000)))
    #expect(!gate.mayStart(host, at: .at(1000)))
    #expect(gate.nextWake == .at(2002))
    // One request of before the refusal is still on its way; its answer says nothing about now.
    #expect(gate.opened(at: .at(2002)).isEmpty)
    gate.ended(host, .answered, at: .at(2010))
    #expect(gate.opened(at: .at(2010)).map(\.count) == [1])
    #expect(gate.mayStart(host, at: .at(2010)))
    #expect(gate.opened(at: .at(2500)).isEmpty)
    #expect(!gate.mayStart(host, at: .at(2500)))
    gate.ended(host, .answered, at: .at(2600))
    #expect(!gate.opened(at: .at(2600)).isEmpty)
    #expect(gate.rest(of: host, at: .at(2600)) == nil)
  }

  @Test func `A rest is no longer than ten minutes, and a second where the host named none`() {
    for (asked, expected) in [
      (nil, 1_000), (Interval.seconds(3), 3_000), (.seconds(86_400), 600_000), (Interval(nanoseconds: .max), 600_000),
      (.zero, 1), (Interval(nanoseconds: -5), 1),
    ] {
      let gate = Gatekeeper(total: 4)
      let host = gate.add(HostGate.Limits())
      #expect(gate.mayStart(host, at: .at(0)))
      gate.ended(host, .refused(retryAfter: asked), at: .at(0))
      #expect(gate.rest(of: host, at: .at(0)) == .milliseconds(expected))
    }
  }

  @Test func `Spacing between starts is exact`() {
    let gate = Gatekeeper(total: 100)
    let host = gate.add(HostGate.Limits(connections: 10, spacing: 50_000_000))
    var starts: [Int] = []
    if gate.mayStart(host, at: .at(0)) { starts.append(0) }
    for _ in 0..<5 { #expect(!gate.mayStart(host, at: .at(0))) }
    while let wake = gate.nextWake, starts.count < 6 {
      for opening in gate.opened(at: wake) {
        #expect(opening.count == 1)
        if gate.mayStart(host, at: wake) { starts.append(wake.nanoseconds / 1_000_000) }
      }
    }
    #expect(starts == [0, 50, 100, 150, 200, 250])
  }

  @Test func `A host that rests slows no other`() {
    let gate = Gatekeeper(total: 8)
    let slow = gate.add(HostGate.Limits())
    let fast = gate.add(HostGate.Limits())
    #expect(gate.mayStart(slow, at: .at(0)))
    gate.ended(slow, .refused(retryAfter: .seconds(5)), at: .at(0))
    for _ in 0..<500 { #expect(!gate.mayStart(slow, at: .at(0))) }
    for round in 1..<500 {
      #expect(gate.mayStart(fast, at: .at(round)))
      gate.ended(fast, .answered, at: .at(round))
      #expect(gate.opened(at: .at(round)).isEmpty)
    }
  }

  @Test func `Hosts share the limit over all of them evenly, also with one that never stops asking`() {
    let gate = Gatekeeper(total: 4)
    let hosts = (0..<4).map { _ in gate.add(HostGate.Limits(connections: 6)) }
    var served = [0, 0, 0, 0]
    var running: [Int] = []
    // The first host comes first with all that it has.
    for host in hosts {
      for _ in 0..<200 { if gate.mayStart(host, at: .at(0)) { running.append(host) } }
    }
    for step in 1...400 {
      let host = running.removeFirst()
      gate.ended(host, .answered, at: .at(step))
      served[host] += 1
      // A new request does not go before what waits.
      if gate.mayStart(hosts[0], at: .at(step)) { running.append(hosts[0]) }
      for opening in gate.opened(at: .at(step)) {
        for _ in 0..<opening.count where gate.mayStart(opening.host, at: .at(step)) { running.append(opening.host) }
      }
      #expect(running.count <= 4)
    }
    for host in hosts { #expect((90...110).contains(served[host]), "\(served)") }
  }

  @Test func `A turn that nobody takes is given to others after a moment`() {
    let gate = Gatekeeper(total: 1)
    let gone = gate.add(HostGate.Limits())
    let other = gate.add(HostGate.Limits())
    #expect(gate.mayStart(gone, at: .at(0)))
    #expect(!gate.mayStart(gone, at: .at(0)))
    #expect(!gate.mayStart(other, at: .at(0)))
    gate.ended(gone, .answered, at: .at(10))
    #expect(gate.opened(at: .at(10)).map(\.host) == [gone])
    // The operation that waited has been cancelled.
    #expect(gate.opened(at: .at(11)).isEmpty)
    let wake = gate.nextWake ?? .at(0)
    #expect(wake == .at(210))
    #expect(gate.opened(at: wake).map(\.host) == [other])
    #expect(gate.mayStart(other, at: wake))
  }

  @Test func `Limits can change while requests wait`() {
    let gate = Gatekeeper(total: 2)
    let host = gate.add(HostGate.Limits(connections: 1))
    #expect(gate.mayStart(host, at: .at(0)))
    for _ in 0..<5 { #expect(!gate.mayStart(host, at: .at(0))) }
    #expect(gate.opened(at: .at(1)).isEmpty)
    gate.set(HostGate.Limits(connections: 5), of: host)
    #expect(gate.opened(at: .at(1)).map(\.count) == [1])
    #expect(gate.mayStart(host, at: .at(1)))
    gate.set(total: 10)
    #expect(gate.opened(at: .at(1)).map(\.count) == [3])
    #expect(gate.inFlight(host: host) == 2)
  }

  @Test func `A gate that is shut lets nobody in, and those that waited once it is open`() {
    let gate = Gatekeeper(total: 4)
    let host = gate.add(HostGate.Limits())
    #expect(gate.mayStart(host, at: .at(0)))
    gate.isShut = true
    #expect(!gate.mayStart(host, at: .at(0)))
    gate.ended(host, .answered, at: .at(10))
    #expect(gate.opened(at: .at(10)).isEmpty)
    gate.isShut = false
    #expect(gate.opened(at: .at(20)).map(\.count) == [1])
    #expect(gate.mayStart(host, at: .at(20)))
  }

  @Test func `An interrupted probe is followed by another`() {
    let gate = Gatekeeper(total: 2)
    let host = gate.add(HostGate.Limits())
    #expect(gate.mayStart(host, at: .at(0)))
    gate.ended(host, .refused(retryAfter: .seconds(1)), at: .at(0))
    #expect(gate.mayStart(host, at: .at(1000)))
    #expect(!gate.mayStart(host, at: .at(1000)))
    gate.ended(host, .other, at: .at(1100))
    #expect(gate.opened(at: .at(1100)).map(\.count) == [1])
    #expect(gate.mayStart(host, at: .at(1100)))
    #expect(!gate.mayStart(host, at: .at(1100)))
  }
}

extension Instant {
  static func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
}

/// A gate behind a reference, because an expectation cannot change a value.
final class Gatekeeper {
  private var gate: HostGate

  init(total: Int) { gate = HostGate(total: total) }

  var isShut: Bool {
    get { gate.isShut }
    set { gate.isShut = newValue }
  }

  func add(_ limits: HostGate.Limits) -> Int { gate.add(limits) }
  func set(_ limits: HostGate.Limits, of host: Int) { gate.set(limits, of: host) }
  func set(total: Int) { gate.set(total: total) }
  func setHeld(_ host: Int, _ isHeld: Bool) { gate.setHeld(host, isHeld) }
  func mayStart(_ host: Int, at now: Instant) -> Bool { gate.mayStart(host, at: now) }
  func ended(_ host: Int, _ ending: HostGate.Ending, at now: Instant) { gate.ended(host, ending, at: now) }
  func opened(at now: Instant) -> [(host: Int, count: Int)] { gate.opened(at: now) }
  func rest(of host: Int, at now: Instant) -> Interval? { gate.rest(of: host, at: now) }
  func inFlight(host: Int) -> Int { gate.inFlight(host: host) }
  var nextWake: Instant? { gate.nextWake }
}
