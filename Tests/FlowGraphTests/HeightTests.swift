import FlowBase
import FlowGraph
import Testing

/// A made-up network: so many answers a second for so many requests at once.
private func settled(_ height: Height, windows: Int = 60, answersPerSecond: (Int) -> Double) -> (Height, [Int]) {
  var height = height
  var now = Instant(nanoseconds: 0)
  var seen: [Int] = []
  var owed = 0.0
  _ = height.judge(isFull: true, at: now)
  for _ in 0..<(windows * 100) {
    now = now + .milliseconds(10)
    owed += answersPerSecond(height.value) / 100
    while owed >= 1 {
      height.ended(bytes: 1000, isRefusal: false)
      owed -= 1
    }
    if height.judge(isFull: true, at: now) { seen.append(height.value) }
  }
  return (height, seen)
}

struct `A height that finds itself` {
  @Test func `grows to the ceiling while more bring more`() {
    let (height, seen) = settled(Height()) { Double($0) * 50 }
    #expect(height.value == 512)
    #expect(seen == [64, 128, 256, 512])
  }

  @Test func `stays where more bring no more, and tries again only now and then`() {
    let (height, seen) = settled(Height()) { Double(min($0, 100)) * 50 }
    // 128 is a little better than 64, 256 is not better than 128.
    #expect(seen.starts(with: [64, 128, 256, 128]))
    #expect(height.value == 128 || height.value == 256)
    #expect(seen.count < 20)
  }

  @Test func `is not given up for the time that new connections take`() {
    var height = Height()
    var now = Instant(nanoseconds: 0)
    var (carried, open, owed) = (32, Instant(nanoseconds: 0), 0.0)
    _ = height.judge(isFull: true, at: now)
    for _ in 0..<400 {
      now = now + .milliseconds(10)
      // What was under way goes on; what is new answers after the time in which its connection is made.
      if now >= open { carried = height.value }
      owed += Double(min(carried, height.value)) * 50 / 100
      while owed >= 1 {
        height.ended(bytes: 1000, isRefusal: false)
        owed -= 1
      }
      if height.judge(isFull: true, at: now) { open = now + .milliseconds(80) }
    }
    #expect(height.value == 512)
  }

  @Test func `is not judged before it was reached`() {
    var height = Height()
    var now = Instant(nanoseconds: 0)
    var owed = 0.0
    _ = height.judge(isFull: true, at: now)
    var seen: [Int] = []
    for turn in 0..<400 {
      now = now + .milliseconds(10)
      // For the first two seconds the host itself takes no more than 64 at once.
      let reached = min(height.value, turn < 200 ? 64 : 512)
      owed += Double(reached) * 50 / 100
      while owed >= 1 {
        height.ended(bytes: 1000, isRefusal: false)
        owed -= 1
      }
      if height.judge(isFull: reached == height.value, at: now) { seen.append(height.value) }
    }
    #expect(seen == [64, 128, 256, 512])
  }

  @Test func `never passes what there is room for`() {
    let (height, _) = settled(Height(ceiling: 20)) { Double($0) * 50 }
    #expect(height.value == 20)
  }

  @Test func `does not grow where nothing waits, or a host objects`() {
    var idle = Height()
    var refused = Height()
    var now = Instant(nanoseconds: 0)
    _ = idle.judge(isFull: false, at: now)
    _ = refused.judge(isFull: true, at: now)
    for turn in 0..<5000 {
      now = now + .milliseconds(1)
      idle.ended(bytes: 10, isRefusal: false)
      refused.ended(bytes: 10, isRefusal: turn % 50 == 0)
      let hasChanged = [idle.judge(isFull: false, at: now), refused.judge(isFull: true, at: now)]
      #expect(hasChanged == [false, false])
    }
  }
}

struct `A network that may be gone` {
  /// What comes of findings, one after the other.
  private func found(_ outage: inout Outage, _ findings: (Outage.Finding, String)...) -> [Bool] {
    findings.map { outage.found($0.0, at: $0.1) }
  }
  private func looked(_ outage: inout Outage, _ findings: Outage.Finding...) -> [Bool] {
    findings.map { outage.looked($0, at: outage.host) }
  }

  @Test func `is so at once where there is no way, and back with the first that answers`() {
    var outage = Outage()
    let isGone = found(&outage, (.gone, "a:80"))
    #expect(isGone == [true] && outage.isOffline && outage.host == "a:80")
    let waits = [outage.nextWait(), outage.nextWait()]
    #expect(waits == [.milliseconds(500), .seconds(1)])
    let isBack = looked(&outage, .gone, .silent, .refused, .open)
    #expect(isBack == [false, false, true, false] && !outage.isOffline)
  }

  @Test func `is not gone because one host takes no connections`() {
    var outage = Outage()
    let isGone = found(&outage, (.refused, "a:80"), (.refused, "a:80"), (.silent, "a:80"), (.refused, "b:80"))
    // Two hosts, and none that answers.
    #expect(isGone == [false, false, false, true])
    let isBack = looked(&outage, .refused, .open)
    #expect(isBack == [false, true])
  }

  @Test func `is there while some host answers`() {
    var outage = Outage()
    let first = found(&outage, (.refused, "a:80"))
    outage.answered(by: "c:80")
    let later = found(&outage, (.refused, "b:80"), (.open, "c:80"), (.silent, "d:80"))
    #expect(first + later == [false, false, false, false])
  }

  @Test func `is not gone for good because of a host that is`() {
    var outage = Outage()
    outage.answered(by: "c:80")
    #expect(found(&outage, (.gone, "a:80")) == [true])
    // The one that answered is looked at first, and has the other's failures be its own.
    #expect(outage.host == "c:80")
    #expect(looked(&outage, .open) == [true] && !outage.isOffline)
    #expect(found(&outage, (.gone, "a:80"), (.gone, "a:80")) == [false, false])
    // Another host's are not, and those of one that has answered since are not either.
    #expect(found(&outage, (.gone, "b:80")) == [true])
    #expect(looked(&outage, .gone, .open) == [false, true])
    outage.answered(by: "a:80")
    #expect(found(&outage, (.gone, "a:80")) == [true])
  }

  @Test func `is looked for at all hosts in turn`() {
    var outage = Outage()
    let isGone = outage.found(.gone, at: "a:80", others: ["a:80", "b:80", "c:80", "d:80", "e:80"])
    #expect(isGone)
    var asked: [String] = []
    for _ in 0..<5 {
      asked.append(outage.host)
      #expect(looked(&outage, .gone) == [false])
    }
    #expect(asked == ["b:80", "c:80", "d:80", "a:80", "b:80"])
    // That another host refuses is no sign of the way to the first.
    #expect(looked(&outage, .refused, .refused, .refused) == [false, false, true])
  }

  @Test func `is not looked for for ever where one host is gone and others come and go`() {
    var outage = Outage()
    outage.answered(by: "y:80")
    outage.answered(by: "x:80")
    // The one that answered last is out of reach as well.
    #expect(found(&outage, (.gone, "a:80")) == [true])
    #expect(looked(&outage, .silent, .open) == [false, true])
    #expect(found(&outage, (.gone, "a:80")) == [true])
    #expect(looked(&outage, .silent, .open) == [false, true])
    #expect(found(&outage, (.gone, "a:80")) == [false])
  }

  @Test func `is looked for at hosts that are as far away`() {
    var outage = Outage()
    outage.answered(by: "near:80")
    outage.answered(by: "far:80")
    let isGone = outage.found(.gone, at: "a:80", others: ["near:81", "b:80"]) { !$0.hasPrefix("near") }
    #expect(isGone)
    var asked: Set<String> = []
    for _ in 0..<4 {
      asked.insert(outage.host)
      #expect(looked(&outage, .gone) == [false])
    }
    #expect(asked == ["a:80", "b:80", "far:80"])
  }

  @Test func `is back for hosts that take no connections once another does`() {
    var outage = Outage()
    outage.answered(by: "c:80")
    #expect(found(&outage, (.silent, "a:80"), (.silent, "b:80")) == [false, true])
    // It was gone for a while: nobody is to blame.
    #expect(looked(&outage, .silent, .silent, .open) == [false, false, true])
    #expect(found(&outage, (.silent, "a:80"), (.silent, "b:80")) == [false, true])
    // It was there all the time.
    #expect(looked(&outage, .open) == [true])
    #expect(found(&outage, (.silent, "a:80"), (.silent, "b:80"), (.silent, "a:80")) == [false, false, false])
  }
}

struct `Hosts whose connections carry several requests` {
  @Test func `may be asked as often as their streams allow`() {
    var gate = HostGate(total: 1000)
    let host = gate.add(HostGate.Limits(connections: 1, streams: 4))
    let now = Instant(nanoseconds: 0)
    let atFirst = [gate.mayStart(host, at: now), gate.mayStart(host, at: now)]
    #expect(atFirst == [true, false])
    gate.carriesStreams(host)
    gate.ended(host, .answered, at: now)
    _ = gate.opened(at: now)
    while gate.mayStart(host, at: now) {}
    #expect(gate.inFlight(host: host) == 4)
  }
}
