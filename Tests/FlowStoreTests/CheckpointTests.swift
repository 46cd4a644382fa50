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
    // Each commit is long, and each begins it anew.
    ([300, 300, 300, 250, 400, 300], "ccccrc"),
    // It began anew with a commit that is long itself.
    ([100, 150, 120, 130, 90, 100], "crcr-c"),
    // Not begun anew although it was copied: somebody reads.
    ([100, 101], "cr"),
    // Nobody is waited for again before as much has come once more.
    ([100, 101, 102, 199, 200, 201, 300, 301], "cr---r-r"),
    // A commit that wrote nothing leaves the length as it was.
    ([100, 0, 0, 101], "c--r"),
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
    let limit = 200
    let work = try LedgerWork(
      journal: place.store.journal, tree: place.store.tree, temporary: place.store.temporary,
      checkpoints: CheckpointRule(limit: limit))
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
    defer {
      isOver.store(true, ordering: .releasing)
      var over: [Void] = []
      ended.take(into: &over, until: nil)
    }
    let log = place.path + "/state/m/journal.sqlite-wal"
    let text = String(repeating: "k", count: 3000)
    var longest = 0
    var batch = 0
    while batch < 100 || looked.load(ordering: .relaxed) < 20 {
      let orders = (0..<50).map { place in batch * 50 + place }.map { number in
        StoreOrder.item(
          ItemRecord(id: number + 1, source: 1, key: "\(text)\(number)", index: number + 1, status: .ok, run: place.run)
        )
      }
      for outcome in work.perform(orders, durability: .process) { _ = try outcome.get() }
      longest = max(longest, try FileSystem.facts(log).size)
      batch += 1
    }
    #expect(longest < 8 * limit * 4096)
  }
}
