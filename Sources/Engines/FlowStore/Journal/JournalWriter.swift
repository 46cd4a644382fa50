internal import FlowBase

/// The statements that write; the ledger's thread alone uses them, within a transaction.
final class JournalWriter {
  private let journal: Journal
  private let database: Database
  private let begin, commit, rollback: Statement
  private let insertIntent, dropIntents: Statement
  private let findOutputs, insertOutput, updateOutput, dropOutput: Statement
  private let upsertItem, reopenItem, confirmItem, confirmItemInPlace, confirmOutputs, touchOutput: Statement
  /// The highest number of an item that an earlier run has seen.
  private let lastKnown: ItemID
  private let disownOutputs: Statement
  private let ownersOfOutputs, confirmItems, confirmAllOutputs: Statement
  private let upsertResult, dropResult: Statement
  private let insertParked, dropParked, insertMember, upsertBarrier, confirmBarrierOutputs: Statement
  private let updateSource, updateRun, nameOfItem, insertMark: Statement
  private var synchronous = ""
  private var checkpoints: CheckpointRule

  init(_ journal: Journal, checkpoints: CheckpointRule = CheckpointRule()) throws(Fault) {
    self.journal = journal
    self.checkpoints = checkpoints
    database = journal.database
    lastKnown = journal.lastKnown
    database.leaveLogToCaller()
    begin = try database.prepare("BEGIN IMMEDIATE")
    commit = try database.prepare("COMMIT")
    rollback = try database.prepare("ROLLBACK")
    insertIntent = try database.prepare(
      "INSERT OR REPLACE INTO intents VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")
    dropIntents = try database.prepare("DELETE FROM intents WHERE id >= ?1")
    findOutputs = try database.prepare(
      "SELECT \(JournalReader.outputColumns), id, owner FROM outputs WHERE hash = ?1")
    insertOutput = try database.prepare(
      """
      INSERT INTO outputs (hash, path, owner, node, grp, bytes, sha256, media, modified, changed, inode, run, ours)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
      """)
    updateOutput = try database.prepare(
      """
      UPDATE outputs SET owner = ?3, node = ?4, grp = ?5, bytes = ?6, sha256 = ?7, media = ?8, modified = ?9,
      changed = ?10, inode = ?11, run = ?12, ours = ?13 WHERE id = ?1
      """)
    dropOutput = try database.prepare("DELETE FROM outputs WHERE id = ?1")
    upsertItem = try database.prepare(
      """
      INSERT INTO items (id, source, key, hash, idx, url, status, run, fingerprint, facts, parent, code, class, host,
      message) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
      ON CONFLICT (id) DO UPDATE SET idx = ?5, url = ?6, status = ?7, run = ?8, fingerprint = ?9, facts = ?10,
      parent = ?11, code = ?12, class = ?13, host = ?14, message = ?15
      """)
    reopenItem = try database.prepare("UPDATE items SET status = 0 WHERE id = ?1 AND status <> 0")
    confirmItem = try database.prepare("UPDATE items SET run = ?2, idx = ?3 WHERE id = ?1")
    confirmItemInPlace = try database.prepare("UPDATE items SET run = ?2 WHERE id = ?1")
    confirmOutputs = try database.prepare("UPDATE outputs SET run = ?2 WHERE owner = ?1")
    disownOutputs = try database.prepare("UPDATE outputs SET owner = 0 WHERE owner = ?1 AND run < ?2")
    ownersOfOutputs = try database.prepare(
      "SELECT owner FROM outputs INDEXED BY outputs_by_owner WHERE owner >= ?1 AND owner <= ?2")
    // A row that cannot be changed undoes the whole transaction, as it would anyhow; only so SQLite keeps no second copy
    // of the pages in a file of its own, for the case that it is to undo this statement alone.
    confirmItems = try database.prepare("UPDATE OR ROLLBACK items SET run = ?3 WHERE id >= ?1 AND id <= ?2")
    confirmAllOutputs = try database.prepare(
      "UPDATE OR ROLLBACK outputs INDEXED BY outputs_by_owner SET run = ?3 WHERE owner >= ?1 AND owner <= ?2")
    touchOutput = try database.prepare(
      "UPDATE outputs SET modified = ?3, changed = ?4, inode = ?5 WHERE owner = ?1 AND path = ?2")
    upsertResult = try database.prepare("INSERT OR REPLACE INTO results VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")
    dropResult = try database.prepare("DELETE FROM results WHERE item = ?1 AND node = ?2")
    insertParked = try database.prepare("INSERT INTO parked (gate, item, run, state) VALUES (?1, ?2, ?3, ?4)")
    dropParked = try database.prepare("DELETE FROM parked WHERE gate = ?1 AND seq <= ?2")
    insertMember = try database.prepare("INSERT OR REPLACE INTO members VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
    upsertBarrier = try database.prepare(
      "INSERT OR REPLACE INTO barriers VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")
    confirmBarrierOutputs = try database.prepare(
      "UPDATE outputs SET run = ?2 WHERE owner = ?1 AND node = ?3 AND (?4 IS NULL OR path = ?4)")
    insertMark = try database.prepare("INSERT OR REPLACE INTO meta VALUES (?1, ?2)")
    updateSource = try database.prepare(
      "UPDATE sources SET run = ?2, total = ?3, items = ?4, duplicates = ?5, exhausted = ?6 WHERE id = ?1")
    updateRun = try database.prepare(
      "UPDATE runs SET ended = ?2, result = ?3, exit = ?4, complete = ?5, facts = ?6 WHERE number = ?1")
    nameOfItem = try database.prepare(
      "SELECT sources.name || '/' || items.key FROM items JOIN sources ON sources.id = items.source WHERE items.id = ?1"
    )
  }

  // MARK: Transactions

  /// How far a commit reaches: `FULL` waits for the disk, `NORMAL` keeps the order, `OFF` trusts the system.
  func setSynchronous(_ mode: String) throws(Fault) {
    guard mode != synchronous else { return }
    try database.run("PRAGMA synchronous = \(mode)")
    synchronous = mode
  }

  /// Runs the body in a transaction; what it throws undoes everything.
  func transaction(_ body: () throws(Fault) -> Void) throws(Fault) {
    try begin.run()
    do {
      try body()
      try commit.run()
    } catch {
      // Some failures, a full disk among them, have undone the transaction by themselves.
      try? rollback.run()
      throw error
    }
    switch checkpoints.step(pages: database.takeLogPages()) {
    case .none: break
    case .copy: database.copyLog()
    case .restart: database.restartLog()
    }
  }

  // MARK: Outputs

  /// A row of the outputs' table, found by its path.
  struct KnownOutput {
    var row: Int
    var record: OutputRecord
    var ownerNumber: Int
  }

  /// The outputs whose paths some file system takes for this one.
  func outputs(folded: String) throws(Fault) -> [KnownOutput] {
    findOutputs.bind(1, PathFolding.hash(folded))
    defer { findOutputs.reset() }
    var found: [KnownOutput] = []
    while try findOutputs.step() {
      let record = try JournalReader.output(findOutputs)
      guard PathFolding.fold(record.path) == folded else { continue }
      found.append(KnownOutput(row: findOutputs.int(11), record: record, ownerNumber: findOutputs.int(12)))
    }
    return found
  }

  func write(_ intent: Intent, id: Int) throws(Fault) {
    insertIntent.bind(1, id)
    insertIntent.bind(2, intent.path)
    insertIntent.bind(3, intent.temporary)
    insertIntent.bind(4, intent.owner.number)
    insertIntent.bind(5, intent.owner.node)
    insertIntent.bind(6, intent.owner.group)
    insertIntent.bind(7, intent.bytes)
    insertIntent.bind(8, intent.sha256.bytes)
    insertIntent.bind(9, intent.media)
    insertIntent.bind(10, intent.run)
    try insertIntent.run()
  }

  func dropIntents(from id: Int) throws(Fault) {
    dropIntents.bind(1, id)
    try dropIntents.run()
  }

  /// Enters an output of which nobody has looked up what the journal has under its path.
  func write(_ output: OutputRecord, isOurs: Bool) throws(Fault) {
    let folded = PathFolding.fold(output.path)
    let known = try outputs(folded: folded).first { $0.record.path == output.path }
    try write(output, folded: folded, known: known, isOurs: isOurs)
  }

  /// Enters an output; whoever had the path before has it no more, and its item counts as unfinished.
  ///
  /// `known` is what the journal has under the path.
  func write(_ output: OutputRecord, folded: String, known: KnownOutput?, isOurs: Bool) throws(Fault) {
    let statement = known == nil ? insertOutput : updateOutput
    if let known {
      statement.bind(1, known.row)
      let isSame = known.record.sha256 == output.sha256 && known.ownerNumber == output.owner.number
      if known.ownerNumber > 0, !isSame {
        reopenItem.bind(1, known.ownerNumber)
        try reopenItem.run()
      }
    } else {
      statement.bind(1, PathFolding.hash(folded))
      statement.bind(2, output.path)
    }
    statement.bind(3, output.owner.number)
    statement.bind(4, output.owner.node)
    statement.bind(5, output.owner.group)
    statement.bind(6, output.bytes)
    statement.bind(7, output.sha256.bytes)
    statement.bind(8, output.media)
    statement.bind(9, output.stamp.modified)
    statement.bind(10, output.stamp.changed)
    statement.bind(11, output.stamp.inode)
    statement.bind(12, output.run)
    statement.bind(13, isOurs ? 1 : 0)
    try statement.run()
  }

  func dropOutput(row: Int) throws(Fault) {
    dropOutput.bind(1, row)
    try dropOutput.run()
  }

  /// An item's name for messages.
  func name(ofOwner number: Int) throws(Fault) -> String? {
    nameOfItem.bind(1, number)
    defer { nameOfItem.reset() }
    return try nameOfItem.step() ? nameOfItem.text(0) : nil
  }

  // MARK: Everything else

  func write(_ item: ItemRecord) throws(Fault) {
    let statement = upsertItem
    statement.bind(1, item.id)
    statement.bind(2, item.source)
    statement.bind(3, item.key)
    statement.bind(4, ItemRecord.hash(source: item.source, key: item.key))
    statement.bind(5, item.index)
    statement.bind(6, item.url)
    statement.bind(7, item.status.rawValue)
    statement.bind(8, item.run)
    statement.bind(9, item.fingerprint)
    statement.bind(10, item.facts)
    statement.bind(11, item.parent)
    bind(item.fault, to: statement, from: 12)
    try statement.run()
    if item.id <= lastKnown, item.status == .ok || item.status == .filtered { try disown(item) }
  }

  /// What an item of an earlier run had, and has no more now that it is done, belongs to nobody: else the next run that
  /// finds the item as it was would take it for the item's again.
  private func disown(_ item: ItemRecord) throws(Fault) {
    disownOutputs.bind(1, item.id)
    disownOutputs.bind(2, item.run)
    try disownOutputs.run()
  }

  private func bind(_ fault: Fault?, to statement: Statement, from place: Int32) {
    statement.bind(place, fault?.code)
    statement.bind(place + 1, fault?.kind.rawValue)
    statement.bind(place + 2, fault?.host)
    statement.bind(place + 3, fault?.message)
  }

  /// Lets an item's row and outputs count for a run; says how many outputs it has.
  func confirm(_ confirmation: Confirmation) throws(Fault) -> Int {
    // The place stands in an index, which is written anew even where it has not changed.
    let statement = confirmation.isInPlace ? confirmItemInPlace : confirmItem
    statement.bind(1, confirmation.item)
    statement.bind(2, confirmation.run)
    if !confirmation.isInPlace { statement.bind(3, confirmation.index) }
    try statement.run()
    if confirmation.outputs == 0 { return 0 }
    confirmOutputs.bind(1, confirmation.item)
    confirmOutputs.bind(2, confirmation.run)
    try confirmOutputs.run()
    let count = database.changes
    for (path, stamp) in confirmation.touched {
      touchOutput.bind(1, confirmation.item)
      touchOutput.bind(2, path)
      touchOutput.bind(3, stamp.modified)
      touchOutput.bind(4, stamp.changed)
      touchOutput.bind(5, stamp.inode)
      try touchOutput.run()
    }
    return count
  }

  /// The same of many items at once; says whether each has its outputs, and writes nothing where one has not.
  func confirm(_ confirmed: ConfirmedItems) throws(Fault) -> Bool {
    let rows = confirmed.rows
    for row in rows where try !haveOutputs(confirmed, row) { return false }
    for row in rows {
      // What an item once had and has no more belongs to no run.
      for statement in confirmed.outputs[row.lowerBound] > 0 ? [confirmItems, confirmAllOutputs] : [confirmItems] {
        statement.bind(1, confirmed.items[row.lowerBound])
        statement.bind(2, confirmed.items[row.upperBound - 1])
        statement.bind(3, confirmed.run)
        try statement.run()
      }
    }
    return true
  }

  private func haveOutputs(_ confirmed: ConfirmedItems, _ row: Range<Int>) throws(Fault) -> Bool {
    if confirmed.outputs[row.lowerBound] == 0 { return true }
    let first = confirmed.items[row.lowerBound]
    var counts = [Int](repeating: 0, count: row.count)
    ownersOfOutputs.bind(1, first)
    ownersOfOutputs.bind(2, confirmed.items[row.upperBound - 1])
    defer { ownersOfOutputs.reset() }
    while try ownersOfOutputs.step() { counts[ownersOfOutputs.int(0) - first] += 1 }
    return zip(counts, confirmed.outputs[row]).allSatisfy { $0 >= $1 }
  }

  func write(_ result: ResultRecord) throws(Fault) {
    upsertResult.bind(1, result.item)
    upsertResult.bind(2, result.node)
    upsertResult.bind(3, result.status.rawValue)
    upsertResult.bind(4, result.run)
    upsertResult.bind(5, result.parts)
    upsertResult.bind(6, result.fields)
    upsertResult.bind(7, result.kept?.name)
    upsertResult.bind(8, result.kept?.bytes)
    upsertResult.bind(9, result.kept?.sha256.bytes)
    try upsertResult.run()
  }

  func dropResults(of item: ItemID, nodes: [Int]) throws(Fault) {
    for node in nodes {
      dropResult.bind(1, item)
      dropResult.bind(2, node)
      try dropResult.run()
    }
  }

  func write(_ parked: ParkedRecord) throws(Fault) {
    insertParked.bind(1, parked.gate)
    insertParked.bind(2, parked.item)
    insertParked.bind(3, parked.run)
    insertParked.bind(4, StoredFields(parked.state))
    try insertParked.run()
  }

  func dropParked(at gate: Int, through place: Int) throws(Fault) {
    dropParked.bind(1, gate)
    dropParked.bind(2, place)
    try dropParked.run()
  }

  func write(_ member: MembershipRecord) throws(Fault) {
    insertMember.bind(1, member.barrier)
    insertMember.bind(2, member.run)
    insertMember.bind(3, member.group)
    insertMember.bind(4, journal.place(ofSource: member.source))
    insertMember.bind(5, member.index)
    insertMember.bind(6, member.item)
    insertMember.bind(7, member.node)
    try insertMember.run()
  }

  /// Enters a barrier; its outputs count for its run, also where they were made by an earlier one.
  func write(_ barrier: BarrierRecord) throws(Fault) {
    upsertBarrier.bind(1, barrier.node)
    upsertBarrier.bind(2, barrier.group)
    upsertBarrier.bind(3, barrier.digest)
    upsertBarrier.bind(4, barrier.status.rawValue)
    upsertBarrier.bind(5, barrier.run)
    upsertBarrier.bind(6, StoredFields(barrier.facts))
    bind(barrier.fault, to: upsertBarrier, from: 7)
    try upsertBarrier.run()
    let owner = OutputOwner.barrier(node: barrier.node, group: barrier.group).number
    for path in barrier.paths.map({ $0.map(Optional.some) }) ?? [nil] {
      confirmBarrierOutputs.bind(1, owner)
      confirmBarrierOutputs.bind(2, barrier.run)
      confirmBarrierOutputs.bind(3, barrier.node)
      confirmBarrierOutputs.bind(4, path)
      try confirmBarrierOutputs.run()
    }
  }

  func write(_ source: SourceRecord) throws(Fault) {
    updateSource.bind(1, source.source)
    updateSource.bind(2, source.run)
    updateSource.bind(3, source.total)
    updateSource.bind(4, source.items)
    updateSource.bind(5, source.duplicates)
    updateSource.bind(6, source.isExhausted ? 1 : 0)
    try updateSource.run()
  }

  func write(mark name: String, _ text: String) throws(Fault) {
    insertMark.bind(1, Journal.markPrefix + name)
    insertMark.bind(2, text)
    try insertMark.run()
  }

  /// What `complete` is of a run that is complete, though only some of the items were to take part.
  static let completePart = 2

  func end(_ run: RunRecord) throws(Fault) {
    updateRun.bind(1, run.number)
    updateRun.bind(2, run.ended?.microseconds)
    updateRun.bind(3, run.result)
    updateRun.bind(4, run.exit)
    updateRun.bind(5, run.isComplete ? run.isWhole ? 1 : JournalWriter.completePart : 0)
    updateRun.bind(6, StoredFields(run.facts))
    try updateRun.run()
  }
}

/// What is about to be published: written down before it is done, so that a crash in between can be understood.
struct Intent {
  var path: String
  var temporary: String?
  var owner: OutputOwner
  var bytes: Int
  var sha256: Digest
  var media: String?
  var run: Int
}
