import FlowBase
import FlowStore
import Testing

@testable import FlowRun

@Suite struct ConfirmedLotsTests {
  private func confirmation(_ item: Int) -> FlowStore.Confirmation {
    var one = FlowStore.Confirmation(item: item, index: item + 100, outputs: item % 3, run: 7)
    one.isInPlace = true
    return one
  }

  private func lots(_ items: ClosedRange<Int>) -> ConfirmedLots {
    var lots = ConfirmedLots(run: 7)
    for item in items {
      let isTaken = lots.take(item * 10, confirmation(item))
      #expect(isTaken)
    }
    return lots
  }

  @Test func `what has gathered is one order, and its tickets end with it`() {
    var lots = lots(1...4)
    let first = lots.close()
    #expect(first?.confirmed.items == [1, 2, 3, 4])
    #expect(first?.confirmed.outputs == [1, 2, 0, 1])
    #expect(first?.confirmed.run == 7)
    let none = lots.close()
    #expect(none == nil)
    let isTaken = lots.take(50, confirmation(5))
    #expect(isTaken)
    let second = lots.close()
    #expect(second?.confirmed.items == [5])
    let ended = [second, first, first].map { lots.end($0?.number ?? 0, nil).ended }
    #expect(ended == [[50], [10, 20, 30, 40], []])
  }

  @Test func `what cannot be written at all fails for each`() {
    var lots = lots(1...2)
    let number = lots.close()?.number ?? 0
    let outcome = lots.end(number, Fault("disk.full", .local, "full"))
    #expect(outcome.ended == [10, 20] && outcome.single.isEmpty)
  }

  @Test func `where one of many lacks an output, each is asked about alone`() {
    var lots = lots(1...3)
    let number = lots.close()?.number ?? 0
    let outcome = lots.end(number, Fault("path.collision", .permanent, "taken"))
    #expect(outcome.ended.isEmpty)
    #expect(outcome.single.map(\.ticket) == [10, 20, 30])
    #expect(outcome.single.map(\.1) == [1, 2, 3].map(confirmation))
  }

  @Test func `an item at another place, or with a touched file, has an order of its own`() {
    var lots = ConfirmedLots(run: 7)
    var moved = confirmation(1)
    moved.isInPlace = false
    var touched = confirmation(2)
    touched.touched = ["x": FileStamp(modified: 1, changed: 2, inode: 3)]
    let taken = [lots.take(10, moved), lots.take(20, touched)]
    #expect(taken == [false, false])
    let none = lots.close()
    #expect(none == nil)
  }
}
