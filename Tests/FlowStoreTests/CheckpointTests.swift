import FlowBase
import Synchronization
import Testing

@testable import FlowStore

@Suite struct `The journal's log` {
  @Test(arguments: [
    // Short: nothing to do, however often.
    ([1, 99, 50], "---"),
    // Long once, and anew with the next commit.
    ([60, 120, 3, 99, 101, 2], "-c--c-"),
    // Not begun anew although it was copied: somebody reads.
    ([100, 101], "cr"),
    // Nobody is waited for again before as much has come once more.
    ([100, 101, 102, 199, 200, 201, 300, 301], "cr---r-r"),
    // A commit that wrote nothing leaves the length as it was.
    ([100, 100, 100], "c--"),
    // After a wait that brought something.
    ([100, 150, 4, 100, 101], "cr-cr"),
  ]) func `is copied when it is long, and readers are waited for when that did not make it short`(
    _ lengths: [Int], _ steps: String
  ) {
    var rule = CheckpointRule(limit: 100)
    let taken = lengths.map { length in
      switch rule.step(pages: length) {
      case .none: "-"
      case .copy: "c"
      case .restart: "r"
      }
    }
    #expect(taken.joined() == steps)
  }

  @Test func `stays short while somebody reads all the time`() throws {
    let place = try Sandbox()
    let reader = try place.reader()
    let isOver = Atomic(false)
    let looked = Atomic(0)
    let ended = Mailbox<Void>()
    WorkerThread.start("reader") {
      while !isOver.load(ordering: .acquiring) {
        _ = try? reader.snapshot { () throws(Fault) in
          _ = try reader.sourceNames()
          WorkerThread.rest(.milliseconds(3))
        }
        looked.wrappingAdd(1, ordering: .relaxed)
      }
      ended.post(())
    }
    let log = place.path + "/state/m/journal.sqlite-wal"
    var longest = 0
    let text = String(repeating: "k", count: 3000)
    for batch in 0..<250 {
      let orders = (0..<50).map { place in batch * 50 + place }.map { number in
        StoreOrder.item(
          ItemRecord(id: number + 1, source: 1, key: "\(text)\(number)", index: number + 1, status: .ok, run: place.run)
        )
      }
      for outcome in place.work.perform(orders, durability: .process) { _ = try outcome.get() }
      longest = max(longest, try FileSystem.facts(log).size)
    }
    isOver.store(true, ordering: .releasing)
    var over: [Void] = []
    ended.take(into: &over, until: nil)
    #expect(looked.load(ordering: .relaxed) > 100)
    #expect(longest < 4 * 2000 * 4096)
  }
}
