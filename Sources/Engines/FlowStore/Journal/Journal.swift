public import FlowBase
internal import Synchronization

/// What was done and what came of it, kept across runs: a SQLite database with one writer and any number of readers.
///
/// Opened by who holds the state's lock. The calls here write at once and belong before the `Ledger` is started; from
/// then on the ledger alone writes, and everybody reads through a `JournalReader`.
public final class Journal: @unchecked Sendable {
  /// What stands before the names of marks, beside which the table holds what the journal needs itself.
  static let markPrefix = "mark:"

  /// The file's path.
  public let path: String
  /// What tells the temporary files of this state from those of others.
  public let token: String
  let database: Database
  private let lastItem: Atomic<Int>
  /// The highest number that an item had been given when the journal was opened.
  let lastKnown: ItemID
  /// Where each source stands in the manifest, by its number.
  private let sourcePlaces = Guarded<[Int: Int]>([:])

  /// Opens a journal, and makes it where it is missing; a damaged or newer one is refused with words.
  public init(path: String) throws(Fault) {
    self.path = path
    var isNew = false
    switch try Journal.size(path) {
    case nil:
      try Journal.make(path)
      isNew = true
    case 0?: throw Database.damaged(path, "it is empty")
    default: break
    }
    database = try Database(path: path, isReadOnly: false)
    try database.run("PRAGMA journal_mode = WAL")
    try database.run("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8000; PRAGMA temp_store = FILE")
    // What one long transaction has left is given back when the log begins anew.
    try database.run("PRAGMA journal_size_limit = \(16 << 20)")
    try Schema.check(database)
    // What was made a moment ago, and brought to the disk, has had no time to be damaged.
    if !isNew { try Journal.refuseDamage(database) }
    guard let token = try database.texts("SELECT value FROM meta WHERE name = 'token'").first else {
      throw Database.damaged(path, "it does not know its own name")
    }
    self.token = token
    lastKnown = try Journal.lastItem(database)
    lastItem = Atomic(lastKnown)
  }

  /// The highest number that an item has been given.
  ///
  /// A run that was killed may have left files and results of items whose own rows it had not written yet: another item
  /// under such a number would be taken for the owner of what is not its own.
  private static func lastItem(_ database: Database) throws(Fault) -> Int {
    try database.number(
      """
      SELECT max(ifnull((SELECT max(id) FROM items), 0), ifnull((SELECT max(item) FROM results), 0),
      ifnull((SELECT max(owner) FROM outputs), 0), ifnull((SELECT max(owner) FROM intents), 0))
      """) ?? 0
  }

  /// How long the file is; nil where there is none, and not where nobody can say.
  private static func size(_ path: String) throws(Fault) -> Int? {
    do throws(Errno) { return try FileSystem.facts(path).size } catch {
      if error == .noEntry { return nil }
      throw error.fault("look at", path)
    }
  }

  /// Makes an empty journal aside and gives it its name when it is whole: one without tables is always a damaged one.
  private static func make(_ path: String) throws(Fault) {
    let aside = path + ".new"
    // The log of a journal that somebody has taken away would be read into the new one.
    for old in [aside, path + "-wal", path + "-shm"] {
      do throws(Errno) { try FileSystem.remove(old) } catch {
        if error != .noEntry { throw error.fault("remove", old) }
      }
    }
    do {
      let database = try Database(path: aside, isReadOnly: false)
      try database.run("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY")
      try Schema.make(in: database)
      // Here, where nothing waits for the disk: the file is brought there as a whole below.
      try database.run("PRAGMA journal_mode = WAL")
    }
    try naming("make", path) { () throws(Errno) in
      // A journal holds addresses and names, which are nobody else's business.
      try FileSystem.setMode(aside, 0o600)
      try FileSystem.open(aside, .read).sync()
      try FileSystem.rename(aside, to: path)
    }
  }

  /// Looks through all pages where that is quick, and where the last run did not end by itself.
  ///
  /// What is damaged beyond that is noticed when it is read.
  private static func refuseDamage(_ database: Database) throws(Fault) {
    let pages = try database.number("PRAGMA page_count") ?? 0
    let unended = try database.number("SELECT ended IS NULL FROM runs ORDER BY number DESC LIMIT 1") ?? 0
    guard pages < 1000 || unended != 0 else { return }
    let words = try database.texts("PRAGMA quick_check(1)").first ?? "the check gave no answer"
    if words != "ok" { throw Database.damaged(database.path, words) }
  }

  /// Brings everything into the one file, at the end of a run; what readers hold back stays beside it.
  ///
  /// With `waitsForDisk` it is also on the disk then.
  func settle(waitsForDisk: Bool) {
    let synchronous = waitsForDisk ? "NORMAL" : "OFF"
    try? database.run(
      "PRAGMA busy_timeout = 500; PRAGMA synchronous = \(synchronous); PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// A connection of its own for reading, also while a run writes.
  public func reader() throws(Fault) -> JournalReader { try JournalReader(path: path) }

  /// A number for an item that the journal does not know yet.
  public func makeItemID() -> ItemID { lastItem.wrappingAdd(1, ordering: .relaxed).newValue }

  /// Numbers for sources, in the manifest's order, which is the order of streams from now on.
  public func register(sources: [String]) throws(Fault) -> [Int] {
    let numbers = try database.transaction { () throws(Fault) in
      let insert = try database.prepare(
        "INSERT INTO sources (name, place) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET place = ?2 RETURNING id")
      return try sources.enumerated().map { (place, name) throws(Fault) in
        insert.bind(1, name)
        insert.bind(2, place)
        defer { insert.reset() }
        return try insert.step() ? insert.int(0) : 0
      }
    }
    sourcePlaces.withLock { $0 = Dictionary(zip(numbers, 0...)) { first, _ in first } }
    return numbers
  }

  /// Numbers for stages and legs, in the plan's order, which is the order of legs from now on.
  public func register(nodes: [NodeName]) throws(Fault) -> [Int] {
    try database.transaction { () throws(Fault) in
      let insert = try database.prepare(
        """
        INSERT INTO nodes (stage, leg, place) VALUES (?1, ?2, ?3)
        ON CONFLICT (stage, leg) DO UPDATE SET place = ?3 RETURNING id
        """)
      return try nodes.enumerated().map { (place, node) throws(Fault) in
        insert.bind(1, node.stage)
        insert.bind(2, Value.map(node.leg).text)
        insert.bind(3, place)
        defer { insert.reset() }
        return try insert.step() ? insert.int(0) : 0
      }
    }
  }

  /// Where a source stands in the manifest.
  func place(ofSource source: Int) -> Int { sourcePlaces.withLock { $0[source] ?? source } }

  /// The run that was started last.
  public func lastRun() throws(Fault) -> RunRecord? {
    let statement = try database.prepare(
      "SELECT \(JournalReader.runColumns) FROM runs ORDER BY number DESC LIMIT 1")
    return try statement.step() ? JournalReader.run(statement) : nil
  }

  /// Enters a run and gives its number.
  public func beginRun(_ run: RunRecord) throws(Fault) -> Int {
    try database.transaction { () throws(Fault) in
      let insert = try database.prepare(
        """
        INSERT INTO runs (id, manifest, digest, started, complete, facts) VALUES (?1, ?2, ?3, ?4, 0, ?5)
        RETURNING number
        """)
      insert.bind(1, run.id)
      insert.bind(2, run.manifest)
      insert.bind(3, run.manifestDigest)
      insert.bind(4, run.started.microseconds)
      insert.bind(5, StoredFields(run.facts))
      guard try insert.step() else { throw .internal("journal", "a run got no number") }
      let number = insert.int(0)
      insert.reset()
      // What earlier runs left at gates is of no use to this one, which fills them anew.
      try database.run("DELETE FROM parked WHERE run <> \(number)")
      // Groups are read again by a run in which not all items take part, since the last in which all did. Where an item
      // has come by since, its rows of before say nothing.
      let whole = JournalReader.lastCompleteRunQuery
      try database.run("DELETE FROM members WHERE run < coalesce((\(whole)), 0)")
      try database.run(
        """
        DELETE FROM members WHERE run <> (SELECT run FROM items WHERE id = members.item)
          AND (SELECT complete FROM runs WHERE number < \(number) ORDER BY number DESC LIMIT 1) = 0
        """)
      return number
    }
  }
}
