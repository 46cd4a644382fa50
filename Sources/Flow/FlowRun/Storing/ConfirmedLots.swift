import FlowBase
import FlowStore

/// Items that an earlier run has left as they are, on their way to the ledger many at a time: a pure value.
///
/// An order of many either holds for all of them or writes nothing. Then they are confirmed one by one, so that each can
/// be told what is wrong with it.
struct ConfirmedLots {
  private struct Lot {
    var tickets: [Int] = []
    /// The places of the items in their source.
    var places: [Int] = []
    var confirmed: ConfirmedItems

    init(run: Int) { confirmed = ConfirmedItems(run: run) }
  }

  private let run: Int
  /// What gathers for the next order.
  private var next: Lot
  private var number = 0
  private var underWay: [Int: Lot] = [:]

  init(run: Int) {
    self.run = run
    next = Lot(run: run)
  }

  /// Takes an item into the next order; false where it needs one of its own, since more than its run is to be written.
  mutating func take(_ ticket: Int, _ confirmation: Confirmation) -> Bool {
    guard confirmation.isInPlace, confirmation.touched.isEmpty else { return false }
    next.tickets.append(ticket)
    next.places.append(confirmation.index)
    next.confirmed.items.append(confirmation.item)
    next.confirmed.outputs.append(confirmation.outputs)
    return true
  }

  /// The next order and the number of its lot, if something has gathered.
  mutating func close() -> (number: Int, confirmed: ConfirmedItems)? {
    if next.tickets.isEmpty { return nil }
    number += 1
    underWay[number] = next
    defer { next = Lot(run: run) }
    return (number, next.confirmed)
  }

  /// What follows from the answer to an order: the tickets of the items that have ended with it, or those that are to
  /// be confirmed one by one.
  mutating func end(_ number: Int, _ fault: Fault?) -> (ended: [Int], single: [(ticket: Int, Confirmation)]) {
    guard let lot = underWay.removeValue(forKey: number) else { return ([], []) }
    guard fault?.code == "path.collision" else { return (lot.tickets, []) }
    let single = lot.tickets.indices.map { place in
      var one = Confirmation(
        item: lot.confirmed.items[place], index: lot.places[place], outputs: lot.confirmed.outputs[place], run: run)
      one.isInPlace = true
      return (lot.tickets[place], one)
    }
    return ([], single)
  }
}
