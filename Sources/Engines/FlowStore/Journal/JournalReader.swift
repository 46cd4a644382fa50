public import FlowBase

/// Looks into a journal, also while a run of this or another process writes to it.
///
/// Its calls may come from any thread, one after the other; each sees what was committed before it. Lists come in pages
/// that go on behind a cursor, so that ten million rows cost no more memory than a page.
public final class JournalReader: @unchecked Sendable {
  let database: Database
  /// The connection and its statements belong to whoever is in here.
  let gate = Guarded<Void>(())
  private var statements: [StatementText: Statement] = [:]
  /// How many snapshots are being read at the moment.
  private var snapshots = 0

  /// Opens a journal for reading; one that is missing, damaged or newer is refused with words.
  public init(path: String) throws(Fault) {
    guard (try? FileSystem.facts(path)) != nil else {
      throw Fault("state.missing", .local, "there is no journal at \(path); nothing was run here yet")
    }
    database = try Database(path: path, isReadOnly: true)
    try database.run("PRAGMA cache_size = -16000; PRAGMA query_only = ON")
    try Schema.check(database)
  }

  /// A statement that is prepared once; call it within `gate` only.
  func statement(_ text: String) throws(Fault) -> Statement {
    let key = StatementText(text: text)
    if let known = statements[key] {
      known.reset()
      return known
    }
    let prepared = try database.prepare(text)
    statements[key] = prepared
    return prepared
  }

  /// Lets many calls see the journal as it is now, which also costs less than if each looked for itself.
  ///
  /// Keep it short: the journal's file grows for as long as somebody looks at an old state of it.
  public func snapshot<Result>(_ body: () throws(Fault) -> Result) throws(Fault) -> Result {
    try gate.withLock { (_) throws(Fault) in
      if snapshots == 0 { try statement("BEGIN").run() }
      snapshots += 1
    }
    defer {
      gate.withLock { _ in
        snapshots -= 1
        if snapshots == 0 { try? statement("COMMIT").run() }
      }
    }
    return try body()
  }

  /// All rows of a statement.
  func rows<Row>(
    _ text: String, _ bind: (Statement) -> Void, _ read: (Statement) throws(Fault) -> Row
  ) throws(Fault) -> [Row] {
    try gate.withLock { (_) throws(Fault) in
      let statement = try statement(text)
      defer { statement.reset() }
      bind(statement)
      var rows: [Row] = []
      while try statement.step() { rows.append(try read(statement)) }
      return rows
    }
  }
}

// MARK: Items

extension JournalReader {
  static let itemColumns = """
    items.id, items.source, items.key, items.idx, items.url, items.status, items.run, items.fingerprint, items.facts, \
    items.parent, items.code, items.class, items.host, items.message
    """

  static func item(_ row: Statement) throws(Fault) -> ItemRecord {
    ItemRecord(
      id: row.int(0), source: row.int(1), key: row.text(2), index: row.int(3), url: row.textIfAny(4),
      status: ItemStatus(rawValue: row.int(5)) ?? .running, run: row.int(6), fingerprint: row.bytes(7),
      facts: StoredFields(json: row.bytes(8)), parent: row.intIfAny(9), fault: fault(row, from: 10))
  }

  static func fault(_ row: Statement, from column: Int32) -> Fault? {
    guard let code = row.textIfAny(column) else { return nil }
    return Fault(
      code, FaultClass(rawValue: row.text(column + 1)) ?? .internal, row.text(column + 3),
      host: row.textIfAny(column + 2))
  }

  /// The item of a source under a key.
  public func item(source: Int, key: String) throws(Fault) -> ItemRecord? {
    // Without being told, SQLite takes the index over sources, and reads all items of one.
    try rows(Self.itemByKey) {
      $0.bind(1, ItemRecord.hash(source: source, key: key))
      $0.bind(2, source)
      $0.bind(3, key)
    } _: { (row) throws(Fault) in
      try Self.item(row)
    }.first
  }

  private static let itemByKey =
    "SELECT \(itemColumns) FROM items INDEXED BY items_by_hash WHERE hash = ?1 AND source = ?2 AND key = ?3"

  /// How an item stands, and the run that saw it last: the least that tells whether it has changed.
  public func standing(of id: ItemID) throws(Fault) -> (run: Int, status: ItemStatus)? {
    try rows("SELECT run, status FROM items WHERE id = ?1") {
      $0.bind(1, id)
    } _: { (row) throws(Fault) in
      (row.int(0), ItemStatus(rawValue: row.int(1)) ?? .running)
    }.first
  }

  /// The items of a source under some keys, each at its key's place.
  public func items(source: Int, keys: [String]) throws(Fault) -> [ItemRecord?] {
    try snapshot { () throws(Fault) in try keys.map { (key) throws(Fault) in try item(source: source, key: key) } }
  }

  /// An item by its number.
  public func item(_ id: ItemID) throws(Fault) -> ItemRecord? {
    try rows("SELECT \(Self.itemColumns) FROM items WHERE id = ?1") {
      $0.bind(1, id)
    } _: { (row) throws(Fault) in
      try Self.item(row)
    }.first
  }

  /// Which items a list is to hold; what is nil is not asked about.
  public struct ItemFilter: Sendable, Hashable {
    /// The run that saw them last.
    public var run: Int?
    /// How they stand.
    public var status: ItemStatus?
    /// The code that they failed with.
    public var code: String?
    /// The class of their failure.
    public var kind: FaultClass?
    /// The host of their failure.
    public var host: String?
    /// Their source.
    public var source: Int?

    /// A filter.
    public init(
      run: Int? = nil, status: ItemStatus? = nil, code: String? = nil, kind: FaultClass? = nil, host: String? = nil,
      source: Int? = nil
    ) {
      self.run = run
      self.status = status
      self.code = code
      self.kind = kind
      self.host = host
      self.source = source
    }
  }

  /// The items that a filter keeps, by their numbers, behind the given one.
  public func items(_ filter: ItemFilter, after last: ItemID = 0, limit: Int) throws(Fault) -> [ItemRecord] {
    var text = "SELECT \(Self.itemColumns) FROM items WHERE id > ?1"
    if filter.run != nil { text += " AND +run = ?3" }
    if filter.status != nil { text += " AND status = ?4" }
    if filter.code != nil { text += " AND +code = ?5" }
    if filter.kind != nil { text += " AND class = ?6" }
    if filter.host != nil { text += " AND host = ?7" }
    if filter.source != nil { text += " AND +source = ?8" }
    text += " ORDER BY id LIMIT ?2"
    return try rows(text) {
      $0.bind(1, last)
      $0.bind(2, limit)
      if let run = filter.run { $0.bind(3, run) }
      if let status = filter.status { $0.bind(4, status.rawValue) }
      if let code = filter.code { $0.bind(5, code) }
      if let kind = filter.kind { $0.bind(6, kind.rawValue) }
      if let host = filter.host { $0.bind(7, host) }
      if let source = filter.source { $0.bind(8, source) }
    } _: { (row) throws(Fault) in
      try Self.item(row)
    }
  }
}

// MARK: Results and outputs

extension JournalReader {
  static let resultColumns = """
    results.item, results.node, results.status, results.run, results.parts, results.fields, results.kept, \
    results.bytes, results.sha256
    """

  static func result(_ row: Statement, from column: Int32 = 0) throws(Fault) -> ResultRecord {
    var kept: ResultRecord.Kept?
    if let name = row.textIfAny(column + 6), let digest = Digest(.sha256, bytes: row.bytes(column + 8)) {
      kept = ResultRecord.Kept(name: name, bytes: row.int(column + 7), sha256: digest)
    }
    return ResultRecord(
      item: row.int(column), node: row.int(column + 1), status: ItemStatus(rawValue: row.int(column + 2)) ?? .running,
      run: row.int(column + 3), parts: StoredFields(json: row.bytes(column + 4)),
      fields: StoredFields(json: row.bytes(column + 5)), kept: kept)
  }

  /// What the stages made of an item, by their numbers.
  public func results(of item: ItemID) throws(Fault) -> [ResultRecord] {
    try rows("SELECT \(Self.resultColumns) FROM results WHERE item = ?1") {
      $0.bind(1, item)
    } _: { (row) throws(Fault) in
      try Self.result(row)
    }
  }

  /// What one stage made of a leg of an item.
  public func result(of item: ItemID, node: Int) throws(Fault) -> ResultRecord? {
    try rows("SELECT \(Self.resultColumns) FROM results WHERE item = ?1 AND node = ?2") {
      $0.bind(1, item)
      $0.bind(2, node)
    } _: { (row) throws(Fault) in
      try Self.result(row)
    }.first
  }

  static let outputColumns =
    "outputs.path, outputs.owner, outputs.node, outputs.grp, outputs.bytes, outputs.sha256, outputs.media, "
    + "outputs.modified, outputs.changed, outputs.inode, outputs.run"

  static func output(_ row: Statement) throws(Fault) -> OutputRecord {
    guard let digest = Digest(.sha256, bytes: row.bytes(5)) else {
      throw Fault(
        "state.damaged", .local, "the journal's row of \(row.text(0)) holds no digest; put back a copy of the journal")
    }
    let group = row.textIfAny(3)
    return OutputRecord(
      path: row.text(0), owner: OutputOwner(item: group == nil ? row.int(1) : 0, node: row.int(2), group: group),
      bytes: row.int(4), sha256: digest, media: row.textIfAny(6),
      stamp: FileStamp(modified: row.int(7), changed: row.int(8), inode: row.int(9)), run: row.int(10))
  }

  /// What was published for an item.
  public func outputs(of item: ItemID) throws(Fault) -> [OutputRecord] {
    try rows(Self.outputsByOwner) {
      $0.bind(1, item)
    } _: { (row) throws(Fault) in
      try Self.output(row)
    }
  }

  private static let outputsByOwner = "SELECT \(outputColumns) FROM outputs WHERE owner = ?1 ORDER BY id"

  /// What was published for some items, each at its item's place.
  public func outputs(of items: [ItemID]) throws(Fault) -> [[OutputRecord]] {
    try snapshot { () throws(Fault) in try items.map { (item) throws(Fault) in try outputs(of: item) } }
  }

  /// What a stage that gathers has published for a group.
  public func outputs(ofBarrier node: Int, group: String) throws(Fault) -> [OutputRecord] {
    try rows("SELECT \(Self.outputColumns) FROM outputs WHERE owner = ?1 AND grp = ?2 AND node = ?3 ORDER BY id") {
      $0.bind(1, OutputOwner.barrier(node: node, group: group).number)
      $0.bind(2, group)
      $0.bind(3, node)
    } _: { (row) throws(Fault) in
      try Self.output(row)
    }
  }

  /// The output at a path, also where only letter case or Unicode form differ.
  public func output(at path: String) throws(Fault) -> OutputRecord? {
    let folded = PathFolding.fold(path)
    return try rows("SELECT \(Self.outputColumns) FROM outputs WHERE hash = ?1") {
      $0.bind(1, PathFolding.hash(folded))
    } _: { (row) throws(Fault) in
      try Self.output(row)
    }.first { PathFolding.fold($0.path) == folded }
  }
}

/// A statement as it is written, to be found again.
///
/// There are some dozens, mostly of different lengths, and to hash all of such a text costs as much as to run it.
private struct StatementText: Hashable {
  var text: String

  func hash(into hasher: inout Hasher) { hasher.combine(text.utf8.count) }
}
