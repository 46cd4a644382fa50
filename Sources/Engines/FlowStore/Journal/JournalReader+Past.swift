public import FlowBase

/// What a run that looks for what is done already reads of an item: the facts as they are stored, and no address.
public struct PastRecord: Sendable, Hashable {
  /// Its number.
  public var id: ItemID
  /// Its place in its source then.
  public var index: Int
  /// How it stood.
  public var status: ItemStatus
  /// The number of the run that saw it last.
  public var run: Int
  /// A digest of everything that its result depends on.
  public var fingerprint: [UInt8]
  /// What is needed to tell its end again.
  public var facts: StoredFields
  /// Why it failed.
  public var fault: Fault?
}

/// The least of an output's record that tells whether its file is as it was published.
public struct OutputTrace: Sendable, Hashable {
  /// Whose it is.
  public var owner: ItemID
  /// Its path below the output directory.
  public var path: String
  /// How many bytes it holds.
  public var bytes: Int
  /// What the file system said of it when it was published.
  public var stamp: FileStamp

  /// A trace.
  public init(owner: ItemID, path: String, bytes: Int, stamp: FileStamp) {
    self.owner = owner
    self.path = path
    self.bytes = bytes
    self.stamp = stamp
  }
}

/// Where an item stood in an earlier run.
public struct PastPlace: Sendable, Hashable {
  /// Its place in its source.
  public var index: Int
  /// Its number, where that is known.
  public var id: ItemID?

  /// A place.
  public init(index: Int, id: ItemID? = nil) {
    self.index = index
    self.id = id
  }

  /// So many items further on.
  public func advanced(by count: Int) -> PastPlace { PastPlace(index: index + count, id: id.map { $0 + count }) }
}

/// Reading many items one behind the other, as a run does that finds them done.
///
/// Items have got their numbers and places in the order in which they came, so most of what is asked for stands side by
/// side, and one statement reads it.
extension JournalReader {
  /// The items of a source under some keys, each at its key's place.
  ///
  /// The first probably stood at `place` in an earlier run, and the others behind it; what is not found there is looked
  /// up by its key.
  public func past<Found>(
    source: Int, keys: [String], from place: PastPlace, _ make: (PastRecord) throws(Fault) -> Found
  ) throws(Fault) -> [Found?] {
    try snapshot { () throws(Fault) in
      var found = [Found?](repeating: nil, count: keys.count)
      var missing = keys.count
      /// Takes what stands side by side from a place on, by the column that holds the place.
      func take(_ text: String, from first: Int, _ column: Int32) throws(Fault) {
        try gate.withLock { (_) throws(Fault) in
          let statement = try statement(text)
          defer { statement.reset() }
          statement.bind(1, source)
          statement.bind(2, first)
          statement.bind(3, first + keys.count)
          while try statement.step() {
            let number = statement.int(column) - first
            // Many items may have had one place, in one run and another.
            if keys.indices.contains(number), found[number] == nil, statement.holds(keys[number], at: 2) {
              found[number] = try make(Self.past(statement))
              missing -= 1
            }
          }
        }
      }
      // By their numbers they are found without an index.
      if let id = place.id { try take(Self.pastByNumber, from: id, 0) }
      if missing > 0 { try take(Self.pastByPlace, from: place.index, 1) }
      for number in keys.indices where found[number] == nil {
        found[number] = try past(source: source, key: keys[number]).map(make)
      }
      return found
    }
  }

  /// The item of a source under a key.
  private func past(source: Int, key: String) throws(Fault) -> PastRecord? {
    try rows(Self.pastByKey) {
      $0.bind(1, ItemRecord.hash(source: source, key: key))
      $0.bind(2, source)
      $0.bind(3, key)
    } _: {
      Self.past($0)
    }.first
  }

  private static let pastColumns = "id, idx, key, status, run, fingerprint, facts, code, class, host, message"
  private static let pastByNumber = "SELECT \(pastColumns) FROM items WHERE id >= ?2 AND id < ?3 AND +source = ?1"
  private static let pastByPlace =
    "SELECT \(pastColumns) FROM items INDEXED BY items_by_place WHERE source = ?1 AND idx >= ?2 AND idx < ?3"
  private static let pastByKey =
    "SELECT \(pastColumns) FROM items INDEXED BY items_by_hash WHERE hash = ?1 AND source = ?2 AND key = ?3"

  private static func past(_ row: Statement) -> PastRecord {
    PastRecord(
      id: row.int(0), index: row.int(1), status: ItemStatus(rawValue: row.int(3)) ?? .running, run: row.int(4),
      fingerprint: row.bytes(5), facts: StoredFields(json: row.bytes(6)), fault: fault(row, from: 7))
  }

  /// Whether some numbers in their order lie so close to each other that one reading of all between costs less.
  private static func areClose(_ ids: [ItemID]) -> Bool {
    guard let first = ids.first, let last = ids.last, last - first < 2 * ids.count + 16 else { return false }
    for place in 1..<ids.count where ids[place] <= ids[place - 1] { return false }
    return true
  }

  /// What was published for some items, in the order of the items.
  public func traces(of items: [ItemID]) throws(Fault) -> [OutputTrace] {
    if items.isEmpty { return [] }
    guard Self.areClose(items), let first = items.first, let last = items.last else {
      return try snapshot { () throws(Fault) in
        var found: [OutputTrace] = []
        for item in items { found += try traces(from: item, through: item) }
        return found
      }
    }
    return try traces(from: first, through: last)
  }

  private func traces(from first: ItemID, through last: ItemID) throws(Fault) -> [OutputTrace] {
    try rows(Self.tracesByOwner) {
      $0.bind(1, first)
      $0.bind(2, last)
    } _: { row in
      OutputTrace(
        owner: row.int(0), path: row.text(1), bytes: row.int(2),
        stamp: FileStamp(modified: row.int(3), changed: row.int(4), inode: row.int(5)))
    }
  }

  private static let tracesByOwner = """
    SELECT owner, path, bytes, modified, changed, inode FROM outputs INDEXED BY outputs_by_owner \
    WHERE owner >= ?1 AND owner <= ?2 ORDER BY owner, id
    """

  /// How some items stand, each at its number's place, and the run that saw each last: the least that tells whether
  /// they have changed.
  public func standings(of items: [ItemID]) throws(Fault) -> [(run: Int, status: ItemStatus)?] {
    if items.isEmpty { return [] }
    guard Self.areClose(items), let first = items.first, let last = items.last else {
      return try snapshot { () throws(Fault) in try items.map { (item) throws(Fault) in try standing(of: item) } }
    }
    var found = [(run: Int, status: ItemStatus)?](repeating: nil, count: items.count)
    try gate.withLock { (_) throws(Fault) in
      let statement = try statement("SELECT id, run, status FROM items WHERE id >= ?1 AND id <= ?2 ORDER BY id")
      defer { statement.reset() }
      statement.bind(1, first)
      statement.bind(2, last)
      var place = 0
      while try statement.step() {
        let id = statement.int(0)
        while place < items.count, items[place] < id { place += 1 }
        if place < items.count, items[place] == id {
          found[place] = (statement.int(1), ItemStatus(rawValue: statement.int(2)) ?? .running)
        }
      }
    }
    return found
  }
}
