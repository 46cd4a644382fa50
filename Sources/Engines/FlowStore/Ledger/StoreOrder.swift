public import FlowBase

/// What the ledger is asked to write.
public indirect enum StoreOrder: Sendable {
  /// Puts bytes under a final name.
  case publish(PublishOrder)
  /// Takes an item up, or ends it; a row of the same number is replaced.
  case item(ItemRecord)
  /// Says that a run found an item as an earlier one left it: its row and its outputs count for this run now.
  case confirm(Confirmation)
  /// The same of an item whose row was written as being under way since: it is written as it stands now.
  case restore(ItemRecord, Confirmation)
  /// The same of many items whose places are those that the journal knows; `path.collision` where one of them lacks an
  /// output, and then nothing is written.
  case confirmAll(ConfirmedItems)
  /// Enters a stage's result; one of the same item and node is replaced.
  case result(ResultRecord)
  /// Forgets the results of an item at some nodes.
  case dropResults(item: ItemID, nodes: [Int])
  /// Puts a leg behind a gate.
  case park(ParkedRecord)
  /// Forgets what waited at a gate, up to a place in the order of arrival.
  case unpark(gate: Int, through: Int)
  /// Puts legs into groups.
  case members([MembershipRecord])
  /// Enters how a stage that gathers ended.
  case barrier(BarrierRecord)
  /// Enters how far a source was read.
  case source(SourceRecord)
  /// Writes down a text under a name, in place of what stood there.
  case mark(name: String, text: String)
  /// Ends a run.
  case endRun(RunRecord)
  /// Removes an output of an earlier run and forgets it; one that was altered since stays, unless told otherwise.
  case prune(path: String, evenIfAltered: Bool, check: OutputCheck = .stat)
  /// Writes nothing: its answer says that all orders before it are safe. It also ends the wait for more orders.
  case flush
}

/// That an item is as an earlier run left it.
public struct Confirmation: Sendable, Hashable {
  /// The item.
  public var item: ItemID
  /// Its place in its source now.
  public var index: Int
  /// How many outputs it has; fewer mean that another item has taken one in this run, which is a collision.
  public var outputs: Int
  /// The number of the run.
  public var run: Int
  /// Whether its place is the one that the journal knows, so that only the run is written.
  public var isInPlace = false
  /// Stamps of outputs whose bytes are the same though the file was touched, by path.
  public var touched: [String: FileStamp]

  /// A confirmation.
  public init(item: ItemID, index: Int, outputs: Int, run: Int, touched: [String: FileStamp] = [:]) {
    self.item = item
    self.index = index
    self.outputs = outputs
    self.run = run
    self.touched = touched
  }
}

/// Items that are as an earlier run left them, at the places where they were.
public struct ConfirmedItems: Sendable, Hashable {
  /// The items.
  public var items: [ItemID] = []
  /// How many outputs each has.
  public var outputs: [Int] = []
  /// The number of the run.
  public var run: Int

  /// No items yet.
  public init(run: Int) { self.run = run }

  /// The places of items whose numbers follow one on the other, as they do where the items came in their old order, and
  /// all of which have outputs, or none.
  var rows: [Range<Int>] {
    var rows: [Range<Int>] = []
    var start = 0
    for place in items.indices where place > start {
      if items[place] == items[place - 1] + 1, (outputs[place] == 0) == (outputs[place - 1] == 0) { continue }
      rows.append(start..<place)
      start = place
    }
    if start < items.count { rows.append(start..<items.count) }
    return rows
  }
}

/// A file that is to be published.
public struct PublishOrder: Sendable {
  /// Where its bytes are.
  public enum Bytes: Sendable {
    /// A temporary file. When its bytes are in place it is gone from its own; when the order failed, or other bytes stay
    /// in the place, it stays the caller's.
    case file(FinishedFile)
    /// Bytes in memory.
    case memory([UInt8])
    /// A file that stays, such as one that was published before; it is shared or copied.
    case copy(path: String, bytes: Int, sha256: Digest)
  }

  /// What to do about a file that is there already.
  public enum OnExists: String, Sendable, Hashable, CaseIterable {
    /// What the journal knows and finds unchanged stays; anything else is written anew.
    case keep
    /// Whatever is there stays.
    case skip
    /// It is replaced.
    case overwrite
    /// The order fails.
    case fail
  }

  /// The path below the output directory.
  public var path: String
  /// Where its bytes are.
  public var bytes: Bytes
  /// Whose it is.
  public var owner: OutputOwner
  /// Who that is in messages: the item's name and the leg.
  public var ownerName: String
  /// What to do about a file that is there already.
  public var onExists: OnExists
  /// How a file that is there already is compared with what the journal knows of it.
  public var check: OutputCheck
  /// The permissions; nil follows the umask.
  public var mode: Int?
  /// The media type, where known.
  public var media: String?
  /// The number of the run.
  public var run: Int

  /// An order.
  public init(
    path: String, bytes: Bytes, owner: OutputOwner, ownerName: String, onExists: OnExists = .keep,
    check: OutputCheck = .stat, mode: Int? = nil, media: String? = nil, run: Int
  ) {
    self.path = path
    self.bytes = bytes
    self.owner = owner
    self.ownerName = ownerName
    self.onExists = onExists
    self.check = check
    self.mode = mode
    self.media = media
    self.run = run
  }
}

/// What became of a file that was to be published.
public struct PublishedFile: Sendable, Hashable {
  /// Its path below the output directory.
  public var path: String
  /// How many bytes it holds.
  public var bytes: Int
  /// Their SHA-256.
  public var sha256: Digest
  /// Its media type, where known.
  public var media: String?
  /// Whether it was written now; false where what was there stayed.
  public var isWritten: Bool

  /// A published file.
  public init(path: String, bytes: Int, sha256: Digest, media: String?, isWritten: Bool) {
    self.path = path
    self.bytes = bytes
    self.sha256 = sha256
    self.media = media
    self.isWritten = isWritten
  }
}

/// The answer to an order: from now on what it asked for is true at the chosen durability, or it failed.
public struct StoreAnswer: Sendable {
  /// What the order was posted with.
  public var ticket: UInt64
  /// What was done: the file for `publish`, nothing for others.
  public var outcome: Result<PublishedFile?, Fault>
}

/// When an order counts as done.
public enum Durability: String, Sendable, Hashable, CaseIterable {
  /// On the disk, batch by batch as they come.
  case full
  /// On the disk, in larger groups.
  case batch
  /// In the system's memory: it survives the death of the process, not of the machine.
  case process
}
