import FlowBase
import Testing

/// Wakings that are put off until a thread has said everything.
@Suite struct WakesTests {
  private final class Sleeper: Wakeable {
    let wakings = Guarded(0)
    func wake() { wakings.withLock { $0 += 1 } }
    var count: Int { wakings.withLock { $0 } }
  }

  @Test func `By itself a waking is done at once`() {
    let sleeper = Sleeper()
    Wakes.wake(sleeper)
    Wakes.wake(sleeper)
    #expect(sleeper.count == 2)
  }

  @Test func `Together each is woken once, at the end`() {
    let (one, other) = (Sleeper(), Sleeper())
    Wakes.together {
      for _ in 0..<5 { Wakes.wake(one) }
      Wakes.together { Wakes.wake(other) }
      #expect(one.count == 0 && other.count == 0)
    }
    #expect(one.count == 1 && other.count == 1)
    Wakes.wake(one)
    #expect(one.count == 2)
  }

  @Test func `What fails wakes too`() {
    let sleeper = Sleeper()
    #expect(throws: Fault.self) {
      try Wakes.together { () throws(Fault) in
        Wakes.wake(sleeper)
        throw Fault.internal("test", "it fails")
      }
    }
    #expect(sleeper.count == 1)
  }

  @Test func `Letters that are posted together wake their owner once and all arrive`() {
    let mailbox = Mailbox<Int>()
    let done = Mailbox<[Int]>()
    WorkerThread.start("owner") {
      var letters: [Int] = []
      var all: [Int] = []
      while all.count < 300 {
        mailbox.take(into: &letters, until: nil)
        all += letters
      }
      done.post(all)
    }
    Wakes.together { for number in 0..<300 { mailbox.post(number) } }
    var result: [[Int]] = []
    done.take(into: &result, until: nil)
    #expect(result == [Array(0..<300)])
  }
}
