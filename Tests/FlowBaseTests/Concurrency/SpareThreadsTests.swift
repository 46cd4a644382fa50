import Testing

@testable import FlowBase

/// Threads that were made before there is work for them.
@Suite struct SpareThreadsTests {
  private func reply(_ box: Mailbox<String>) -> [String] {
    var replies: [String] = []
    box.take(into: &replies, until: SystemTime().now() + .seconds(20))
    return replies
  }

  private static var nameOfThread: String {
    let bytes = (try? FileSystem.read("/proc/thread-self/comm", limit: 64)) ?? []
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }

  @Test func `Each does one piece of work, under its name, and none is made for it`() {
    let spares = SpareThreads()
    let box = Mailbox<String>()
    #expect(!spares.take(WorkerThread.Work("nobody") { box.post("by nobody") }))
    spares.make(2)
    #expect(spares.count == 2)
    for name in ["first", "second"] {
      #expect(spares.take(WorkerThread.Work(name) { box.post(Self.nameOfThread) }))
      #expect(reply(box) == [name])
    }
    #expect(spares.count == 0)
    #expect(!spares.take(WorkerThread.Work("third") { box.post("third") }))
  }

  @Test func `Work is begun at once, also by a thread that puts its wakes off`() {
    let spares = SpareThreads()
    spares.make(1)
    let box = Mailbox<String>()
    Wakes.together {
      #expect(spares.take(WorkerThread.Work("work") { box.post("done") }))
      #expect(reply(box) == ["done"])
    }
  }
}
