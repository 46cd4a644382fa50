import FlowBase
import FlowEvents
import FlowParts

/// What an earlier run, or this one, has written down of an item.
///
/// It goes from a source's thread to the loop and on with the item, and is copied nowhere.
final class StoredItem: Sendable {
  let id: Int
  /// Its place in its source then.
  let index: Int
  /// The number of the run that saw it last.
  let run: Int
  let status: ItemStatus
  /// The digest of all that its result depends on, that of what the source said of it in front.
  let fingerprint: [UInt8]
  /// What is needed to tell its end again.
  let facts: StoredFacts
  /// Why it failed.
  let fault: Fault?

  init(
    id: Int, index: Int, run: Int, status: ItemStatus, fingerprint: [UInt8], facts: StoredFacts, fault: Fault?
  ) {
    self.id = id
    self.index = index
    self.run = run
    self.status = status
    self.fingerprint = fingerprint
    self.facts = facts
    self.fault = fault
  }

  /// The digest of what the source said of it.
  var input: [UInt8] { Array(fingerprint.prefix(16)) }

  /// The keys of the items that its stages have made of it.
  var made: [String] { facts.made }

  /// For which stages that gather it was written down; empty where there were none.
  var gathering: String { facts.gathering }
}

/// What the journal is told of an item that has ended.
struct ItemRecordDraft: Sendable {
  /// What a node made, for stages that gather and for later runs.
  struct Result: Sendable {
    var node: Int
    var result: NodeResult
    var key: ResultKey?
  }
  /// That a leg belongs to a group.
  struct Membership: Sendable {
    var barrier: Int
    var node: Int
    var group: String
  }

  var ticket: Int
  var id: Int
  var item: Item
  var source: Int
  var status: ItemStatus
  var input: [UInt8]
  var fingerprint: [UInt8]
  var fault: Fault?
  /// Whether the item has not ended yet.
  var isUnderWay = false
  var end: Payload.ItemEnd?
  /// The keys of the items that were made of it.
  var made: [String] = []
  /// The items in whose favour legs of it were dropped.
  var standIns: [StandIn] = []
  var results: [Result] = []
  /// The nodes whose results of earlier runs are not to be taken any more.
  var dropped: Set<Int> = []
  /// The memberships that are to be written.
  var memberships: [Membership] = []
  /// All memberships, for later runs that find the item done.
  var groups: [Membership] = []
}

/// What the store answers.
enum StoreReply: Sendable {
  /// All that was posted before is safe.
  case flushed
  /// An item's end is safe, or could not be written.
  case itemEnded(ticket: Int, Fault?)
  /// The ends of the items of a lot are safe, or could not be written together.
  case lotEnded(Int, Fault?)
  /// Something else could not be written.
  case runFault(Fault)
}
