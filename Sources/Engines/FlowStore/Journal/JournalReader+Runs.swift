public import FlowBase

/// How many items of a run failed alike.
public struct FailureCount: Sendable, Hashable {
  /// The code.
  public var code: String
  /// The class.
  public var kind: FaultClass
  /// The host, where there was one.
  public var host: String?
  /// How many.
  public var count: Int
}

/// A source that has given nothing, and had given items before.
public struct EmptiedSource: Sendable, Hashable {
  /// Its number.
  public var number: Int
  /// Its id.
  public var name: String
  /// How many files are there of what it gave before.
  public var files: Int
}

// MARK: Runs

extension JournalReader {
  static let runColumns = "number, id, manifest, digest, started, ended, result, exit, complete, facts"

  static func run(_ row: Statement) throws(Fault) -> RunRecord {
    RunRecord(
      number: row.int(0), id: row.text(1), manifest: row.text(2), manifestDigest: row.text(3),
      started: WallTime(microseconds: row.int(4)), ended: row.intIfAny(5).map { WallTime(microseconds: $0) },
      result: row.textIfAny(6), exit: row.intIfAny(7), isComplete: row.int(8) != 0,
      isWhole: row.int(8) != JournalWriter.completePart,
      facts: try StoredFields(json: row.bytes(9)).fields())
  }

  /// The runs of this journal, newest first, older than the given number.
  public func runs(before number: Int = .max, limit: Int = 100) throws(Fault) -> [RunRecord] {
    try rows("SELECT \(Self.runColumns) FROM runs WHERE number < ?1 ORDER BY number DESC LIMIT ?2") {
      $0.bind(1, number)
      $0.bind(2, limit)
    } _: { (row) throws(Fault) in
      try Self.run(row)
    }
  }

  /// The run that was started last.
  public func lastRun() throws(Fault) -> RunRecord? { try runs(limit: 1).first }

  /// The runs whose ids begin so, at most two: one is the answer, two mean that the beginning is not enough.
  public func runs(prefix: String) throws(Fault) -> [RunRecord] {
    let exact = try rows("SELECT \(Self.runColumns) FROM runs WHERE id = ?1") {
      $0.bind(1, prefix)
    } _: { (row) throws(Fault) in
      try Self.run(row)
    }
    if !exact.isEmpty { return exact }
    return try rows(
      "SELECT \(Self.runColumns) FROM runs WHERE substr(id, 1, ?2) = ?1 ORDER BY number DESC LIMIT 2"
    ) {
      $0.bind(1, prefix)
      $0.bind(2, prefix.unicodeScalars.count)
    } _: { (row) throws(Fault) in
      try Self.run(row)
    }
  }

  static let lastCompleteRunQuery =
    "SELECT number FROM runs WHERE complete NOT IN (0, \(JournalWriter.completePart)) ORDER BY number DESC LIMIT 1"

  /// The number of the last run that saw everything; nil if none has.
  public func lastCompleteRun() throws(Fault) -> Int? {
    try rows(Self.lastCompleteRunQuery) { _ in
    } _: { (row) throws(Fault) in
      row.int(0)
    }.first
  }

  /// Outputs that no item and no stage of the last complete run made any more, behind the given row.
  ///
  /// What belongs to an item that did not make it in that run is none: its next success may find it unchanged. Nor is
  /// what came of a source that is `emptied`, and of groups while there is one.
  public func orphans(after last: Int = 0, limit: Int, beside emptied: [EmptiedSource] = []) throws(Fault) -> [(
    row: Int, output: OutputRecord
  )] {
    guard let run = try lastCompleteRun() else { return [] }
    let numbers = emptied.map { String($0.number) }.joined(separator: ", ")
    let kept =
      emptied.isEmpty
      ? ""
      : """
      AND ifnull(grp, '') = ''
      AND ifnull((SELECT source FROM items WHERE items.id = outputs.owner), 0) NOT IN (\(numbers))
      """
    return try rows(
      """
      SELECT \(Self.outputColumns), id FROM outputs WHERE id > ?1 AND run < ?2 AND ours <> 0 AND NOT EXISTS (
        SELECT 1 FROM items WHERE items.id = outputs.owner AND items.run >= ?2
        AND items.status NOT IN (\(ItemStatus.ok.rawValue), \(ItemStatus.filtered.rawValue)))
      \(kept) ORDER BY id LIMIT ?3
      """
    ) {
      $0.bind(1, last)
      $0.bind(2, run)
      $0.bind(3, limit)
    } _: { (row) throws(Fault) in
      (row: row.int(11), output: try Self.output(row))
    }
  }

  /// The sources that have given nothing since the last complete run began, and of which files are there.
  ///
  /// A list with nothing in it is rather one that could not be made than the wish that all be gone.
  public func emptied() throws(Fault) -> [EmptiedSource] {
    guard let run = try lastCompleteRun() else { return [] }
    return try rows(
      """
      SELECT id, name, (
        SELECT count(*) FROM items JOIN outputs ON outputs.owner = items.id
        WHERE items.source = sources.id AND outputs.run < ?1 AND outputs.ours <> 0)
      FROM sources WHERE run >= ?1 AND items = 0 ORDER BY place
      """
    ) {
      $0.bind(1, run)
    } _: { (row) throws(Fault) in
      EmptiedSource(number: row.int(0), name: row.text(1), files: row.int(2))
    }.filter { $0.files > 0 }
  }

  /// The facts that have a word in them of items that a run, or a later one, has seen, in the order of their numbers.
  public func facts(
    holding word: String, since run: Int, after last: ItemID = 0, limit: Int
  ) throws(Fault) -> [(item: ItemID, facts: StoredFields)] {
    try rows(
      """
      SELECT id, facts FROM items WHERE id > ?1 AND run >= ?2 AND instr(CAST(facts AS TEXT), ?3) > 0
      ORDER BY id LIMIT ?4
      """
    ) {
      $0.bind(1, last)
      $0.bind(2, run)
      $0.bind(3, word)
      $0.bind(4, limit)
    } _: { (row) throws(Fault) in
      (item: row.int(0), facts: StoredFields(json: row.bytes(1)))
    }
  }

  /// All outputs, behind the given row, in the order in which their paths were first taken.
  public func outputs(after last: Int = 0, limit: Int) throws(Fault) -> [(row: Int, output: OutputRecord)] {
    try rows("SELECT \(Self.outputColumns), id FROM outputs WHERE id > ?1 ORDER BY id LIMIT ?2") {
      $0.bind(1, last)
      $0.bind(2, limit)
    } _: { (row) throws(Fault) in
      (row: row.int(11), output: try Self.output(row))
    }
  }
}

// MARK: Counts

extension JournalReader {
  /// How many items of a run stand how; without a run, all that the journal knows.
  public func counts(run: Int? = nil) throws(Fault) -> [ItemStatus: Int] {
    var counts: [ItemStatus: Int] = [:]
    let groups = try rows("SELECT status, count(*) FROM items WHERE ?1 IS NULL OR run = ?1 GROUP BY status") {
      $0.bind(1, run)
    } _: { (row) throws(Fault) in
      (ItemStatus(rawValue: row.int(0)), row.int(1))
    }
    for case (let status?, let count) in groups { counts[status] = count }
    return counts
  }

  /// How many items stand how of each run that has not come to its end, by the runs' numbers.
  ///
  /// An item counts for the last run that saw it. However many such runs there are, the items are gone through once.
  public func countsOfOpenRuns() throws(Fault) -> [Int: [ItemStatus: Int]] {
    var counts: [Int: [ItemStatus: Int]] = [:]
    let groups = try rows(
      """
      SELECT run, status, count(*) FROM items WHERE run IN (SELECT number FROM runs WHERE ended IS NULL)
      GROUP BY run, status
      """
    ) { _ in
    } _: { (row) throws(Fault) in
      (row.int(0), ItemStatus(rawValue: row.int(1)), row.int(2))
    }
    for case (let run, let status?, let count) in groups { counts[run, default: [:]][status] = count }
    return counts
  }

  /// The failures of a run, alike ones counted together, the most frequent first.
  public func failures(run: Int, limit: Int = 100) throws(Fault) -> [FailureCount] {
    try rows(
      """
      SELECT code, class, host, count(*) AS n FROM items INDEXED BY items_failed
      WHERE run = ?1 AND code IS NOT NULL AND status = \(ItemStatus.failed.rawValue)
      GROUP BY code, class, host ORDER BY n DESC, code, host LIMIT ?2
      """
    ) {
      $0.bind(1, run)
      $0.bind(2, limit)
    } _: { (row) throws(Fault) in
      FailureCount(
        code: row.text(0), kind: FaultClass(rawValue: row.text(1)) ?? .internal, host: row.textIfAny(2),
        count: row.int(3))
    }
  }

  /// How far a source was read last.
  public func source(_ source: Int) throws(Fault) -> SourceRecord? {
    try rows(
      "SELECT run, total, items, duplicates, exhausted FROM sources WHERE id = ?1 AND run IS NOT NULL"
    ) {
      $0.bind(1, source)
    } _: { (row) throws(Fault) in
      SourceRecord(
        source: source, run: row.int(0), total: row.intIfAny(1), items: row.int(2), duplicates: row.int(3),
        isExhausted: row.int(4) != 0)
    }.first
  }

  /// The ids of the sources that the journal knows, by their numbers.
  public func sourceNames() throws(Fault) -> [Int: String] {
    var names: [Int: String] = [:]
    for (id, name) in try rows(
      "SELECT id, name FROM sources", { _ in }, { (row) throws(Fault) in (row.int(0), row.text(1)) })
    {
      names[id] = name
    }
    return names
  }

  /// The stages and legs that the journal knows, by their numbers; legs are JSON.
  public func nodeNames() throws(Fault) -> [Int: (stage: String, leg: String)] {
    var names: [Int: (stage: String, leg: String)] = [:]
    for (id, stage, leg) in try rows(
      "SELECT id, stage, leg FROM nodes", { _ in }, { (row) throws(Fault) in (row.int(0), row.text(1), row.text(2)) })
    {
      names[id] = (stage, leg)
    }
    return names
  }
}

// MARK: Going on where an earlier run was

extension JournalReader {
  /// The text that was written down under a name.
  public func mark(_ name: String) throws(Fault) -> String? {
    try rows("SELECT value FROM meta WHERE name = ?1") {
      $0.bind(1, Journal.markPrefix + name)
    } _: { (row) throws(Fault) in
      row.text(0)
    }.first
  }

  /// The items that a source itself gave in a run, by their places, behind one place and up to another.
  public func items(
    source: Int, run: Int, after index: Int, through last: Int, limit: Int
  ) throws(Fault) -> [ItemRecord] {
    // Items that stages made have the place of the one that they were made of, and a longer key.
    try rows(
      """
      SELECT \(Self.itemColumns), MIN(LENGTH(items.key)) FROM items INDEXED BY items_by_place
      WHERE source = ?1 AND idx > ?2 AND idx <= ?3 AND run = ?4 GROUP BY idx ORDER BY idx LIMIT ?5
      """
    ) {
      $0.bind(1, source)
      $0.bind(2, index)
      $0.bind(3, last)
      $0.bind(4, run)
      $0.bind(5, limit)
    } _: { (row) throws(Fault) in
      try Self.item(row)
    }
  }
}
