import FlowBase
import Testing

@Suite struct `An awaited value` {
  @Test func `lets a thread go on when another has changed it`() {
    let number = Awaited(0)
    let answer = Awaited<Int?>(nil)
    WorkerThread.start("waiter") {
      let seen = number.wait { $0 > 2 ? $0 : nil }
      answer.withLock { $0 = seen }
      answer.wakeAll()
    }
    for _ in 0..<3 {
      number.withLock { $0 += 1 }
      number.wakeOne()
    }
    #expect(answer.wait { $0 } == 3)
  }

  @Test func `is waited for no longer than until an instant`() {
    let number = Awaited(0)
    let clock = SystemTime()
    let limit = clock.now() + .milliseconds(20)
    let seen: Int? = number.wait(until: limit) { $0 > 0 ? $0 : nil }
    #expect(seen == nil)
    #expect(clock.now() >= limit)
    number.withLock { $0 = 7 }
    #expect(number.wait(until: clock.now()) { $0 > 0 ? $0 : nil } == 7)
  }
}
