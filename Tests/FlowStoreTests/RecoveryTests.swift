import FlowBase
import Testing

@testable import FlowStore

@Suite struct `After a crash` {
  private static let steps: [LedgerWork.Step] = [.prepare, .intents, .syncFiles, .moveFiles, .syncFolders, .commit]

  @Test(arguments: steps)
  func `no other bytes stand under a final name, and nothing is left over`(step: LedgerWork.Step) throws {
    let place = try Sandbox()
    try place.publish("d/x", "old")
    let order = try place.order("d/x", "new")
    _ = place.work.perform([.publish(order)], durability: .full, stoppingAfter: step)
    let recovery = try place.reopened()
    let isMoved = step >= .moveFiles
    #expect(try place.text("d/x") == (isMoved ? "new" : "old"))
    let record = try #require(try place.reader().output(at: "d/x"))
    #expect(record.sha256 == Digest.sha256(of: isMoved ? "new" : "old"))
    #expect(try place.store.tree.condition(of: record) == .unchanged)
    #expect(recovery.adoptedFiles == (step == .moveFiles || step == .syncFolders ? 1 : 0))
    #expect(try place.temporaries().isEmpty)
    #expect(try place.store.journal.database.number("SELECT count(*) FROM intents") == 0)
    // A second look finds nothing more to mend.
    #expect(try place.reopened() == Recovery())
  }

  @Test func `an intent whose file was altered since comes to nothing`() throws {
    let place = try Sandbox()
    _ = try place.work.perform(
      [.publish(place.order("x", "new"))], durability: .process, stoppingAfter: .moveFiles)
    try place.write("x", "bad")
    let recovery = try place.reopened()
    #expect(recovery.droppedIntents == 1)
    #expect(try place.reader().output(at: "x") == nil)
    #expect(try place.text("x") == "bad")
  }

  @Test func `an item whose output an unfinished run has replaced is done no more`() throws {
    let place = try Sandbox()
    let source = try place.store.journal.register(sources: ["s"])[0]
    let item = ItemRecord(id: 1, source: source, key: "k", index: 1, status: .ok, run: place.run)
    try place.publish("x", "old", item: 1)
    _ = place.work.perform([.item(item)], durability: .process)
    _ = try place.work.perform(
      [.publish(place.order("x", "new", item: 1))], durability: .process, stoppingAfter: .moveFiles)
    _ = try place.reopened()
    #expect(try place.reader().item(1)?.status == .running)
  }

  @Test(arguments: steps.filter { $0 >= .intents })
  func `the number of an item that was not written down any more is not given again`(step: LedgerWork.Step) throws {
    let place = try Sandbox()
    let source = try place.store.journal.register(sources: ["s"])[0]
    // One file is out, and the run ends before the item's own row is written.
    let lost = place.store.journal.makeItemID()
    _ = try place.work.perform(
      [.publish(place.order("x", "same", item: lost))], durability: .process, stoppingAfter: step)
    _ = try place.reopened()
    let run = try place.store.journal.beginRun(
      RunRecord(id: "02TEST", manifest: "m.yaml", manifestDigest: "00", started: WallTime(microseconds: 2)))
    // The next run takes up another item first, which is done by the time at which the first one is published again.
    let (other, again) = (place.store.journal.makeItemID(), place.store.journal.makeItemID())
    let done = ItemRecord(id: other, source: source, key: "k", index: 2, status: .ok, run: run)
    _ = place.work.perform([.item(done)], durability: .process)
    try place.publish("x", "same", item: again, run: run)
    #expect(try place.reader().item(other)?.status == .ok)
    #expect(try place.reader().outputs(of: other).isEmpty)
    #expect(try place.reader().outputs(of: again).map(\.path) == ["x"])
  }

  @Test func `kept files stay, strays go, and the files of others are not touched`() throws {
    let place = try Sandbox()
    let kept = try place.file("kept")
    let stray = try place.file("stray")
    try FileSystem.replace(place.store.temporary.path(of: "other-1"), with: [1])
    let result = ResultRecord(
      item: 1, node: 1, run: place.run,
      kept: ResultRecord.Kept(name: kept.name, bytes: kept.bytes, sha256: kept.sha256))
    _ = place.work.perform([.result(result)], durability: .process)
    let recovery = try place.reopened()
    #expect(recovery.removedFiles == 1)
    #expect(try Set(place.temporaries()) == [kept.name, "other-1"])
    #expect(stray.name != kept.name)
    #expect(try place.reader().result(of: 1, node: 1)?.kept == result.kept)
  }
}
