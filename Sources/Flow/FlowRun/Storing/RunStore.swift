import FlowBase
import FlowEvents
import FlowParts
import FlowPlan
import FlowStore

/// The run's view of its journal and its files: items and stages by the plan's places instead of the journal's numbers.
///
/// What only the loop calls says so; the rest may be called from anywhere.
final class RunStore: @unchecked Sendable {
  let run: Int
  let plan: Plan
  private let journal: Journal
  let ledger: Ledger
  let tree: OutputTree
  let temporary: TemporaryFolder
  let sourceNumbers: [Int]
  let nodeNumbers: [Int]
  /// The journal's numbers of stages that gather, by the plan's place; -1 for others.
  let barrierNumbers: [Int]
  /// How files are compared with what the journal knows of them.
  let check: OutputCheck
  let isFresh: Bool
  /// Whether files that are there are written anew, whatever they hold.
  let rewrites: Bool
  /// The run before this one, where it did not come to its end.
  let cutOffRun: Int?
  let gathering: String
  let standIns: StandIns
  /// The run since which items count for stages that gather, where not all of them take part in this one.
  let gathersSince: Int?
  let redaction: Redaction
  /// Whether a stage that gathers reads the bytes of a node's results, by node.
  let gathered: [Bool]
  private let loopReader: JournalReader
  private let content: ContentStore?
  private var batch: [(ticket: UInt64, order: StoreOrder)] = []
  /// Items that were found as they were since the last other order: one order is made of them all.
  private var lots: ConfirmedLots
  /// Opened by the first job that reads: most runs have none, and each reader reads the tables' definitions anew.
  private let jobReader = Guarded<JournalReader?>(nil)

  init(
    plan: Plan, options: RunOptions, journal: Journal, ledger: Ledger, tree: OutputTree, temporary: TemporaryFolder,
    run: Int, cutOffRun: Int?, sourceNumbers: [Int], nodeNumbers: [Int]
  ) throws(Fault) {
    self.plan = plan
    self.run = run
    lots = ConfirmedLots(run: run)
    self.cutOffRun = cutOffRun
    self.journal = journal
    self.ledger = ledger
    self.tree = tree
    self.temporary = temporary
    self.sourceNumbers = sourceNumbers
    self.nodeNumbers = nodeNumbers
    barrierNumbers = plan.stages.indices.map { stage in
      guard plan.stages[stage].scope.isBarrier else { return -1 }
      return plan.nodes.firstIndex { $0.stage == stage }.map { nodeNumbers[$0] } ?? -1
    }
    gathered = plan.nodes.indices.map { plan.isGathered($0) }
    check = options.checksDigests ? .digest : .stat
    gathering = Fingerprints(plan).gathering
    redaction = Redaction(secrets: plan.secrets)
    content = plan.state.cache.map { ContentStore(path: $0) }
    isFresh = options.fresh || plan.state.refresh == .always
    rewrites = options.fresh
    loopReader = try journal.reader()
    standIns = try StandIns(plan, loopReader, tree: tree)
    gathersSince = options.isWhole ? nil : try loopReader.lastCompleteRun() ?? 1
  }

  // MARK: Items, for the loop

  /// What is known of an item.
  func lookup(source: Int, key: String) throws(Fault) -> StoredItem? {
    try lookup(source: source, key: key, in: loopReader)
  }

  /// What is known of an item, read by a reader of one's own; from any thread.
  func lookup(source: Int, key: String, in reader: JournalReader) throws(Fault) -> StoredItem? {
    guard let record = try reader.item(source: sourceNumbers[source], key: key) else { return nil }
    return try StoredItem(record)
  }

  /// What is known of some items, the first of which probably stood at a place of the source in an earlier run.
  func lookup(source: Int, keys: [String], from place: PastPlace, in reader: JournalReader) throws(Fault)
    -> [StoredItem?]
  {
    try reader.past(source: sourceNumbers[source], keys: keys, from: place) { (record) throws(Fault) in
      try StoredItem(record)
    }
  }

  /// Whether the files of an item that is done stand as they were published; nil where more has to be looked up to know.
  func areInPlace(
    _ known: StoredItem, fingerprint: [UInt8], _ traces: ArraySlice<OutputTrace>, in reader: JournalReader
  ) -> Bool? {
    guard mayReuse(known, fingerprint: fingerprint, in: reader) else { return false }
    guard plan.state.rerunOn.contains(.outputMissing) else { return true }
    for output in known.facts.outputs {
      guard let trace = traces.first(where: { $0.path == output.path }), tree.isInPlace(trace) else { return nil }
    }
    return true
  }

  /// Which of some items whose files are in place have one with other bytes than it was published with.
  func altered(_ items: [StoredItem]) -> Set<Int> {
    guard check == .digest, plan.state.rerunOn.contains(.outputMissing) else { return [] }
    let outputs = items.flatMap { item in item.facts.outputs.map { (item: item.id, output: $0) } }
    var altered: Set<Int> = []
    for (entry, digest) in zip(outputs, tree.digests(outputs.map(\.output.path)))
    where (try? digest.get())?.hex != entry.output.sha256 {
      altered.insert(entry.item)
    }
    return altered
  }

  /// Whether what an item's result depends on is as it was.
  private func mayReuse(
    _ known: StoredItem, fingerprint: [UInt8], in reader: JournalReader, asDropped: Bool = false
  ) -> Bool {
    guard !isFresh, known.run != run, known.status == .ok || known.status == .filtered,
      asDropped || known.facts.standIns.allSatisfy({ standIns.stands($0, in: reader) })
    else { return false }
    if known.fingerprint == fingerprint { return true }
    let compares = plan.state.rerunOn
    if compares.contains(.config) { return false }
    return !compares.contains(.input) || known.input == Array(fingerprint.prefix(16))
  }

  /// The end of an item that needs no work, since nothing that it depends on has changed; nil where there is work.
  ///
  /// - Parameter asDropped: Whether what was dropped for another item stays so without another look at that one.
  func reusable(_ known: StoredItem, fingerprint: [UInt8], asDropped: Bool = false) -> Payload.ItemEnd? {
    var stamps: [String: FileStamp] = [:]
    let end = reusable(known, fingerprint: fingerprint, in: loopReader, &stamps, asDropped: asDropped)
    if !stamps.isEmpty { touched[known.id] = stamps }
    return end
  }

  /// The same by a reader of one's own, from any thread; `stamps` are those of files that were touched.
  func reusable(
    _ known: StoredItem, fingerprint: [UInt8], in reader: JournalReader, _ stamps: inout [String: FileStamp],
    asDropped: Bool = false
  ) -> Payload.ItemEnd? {
    guard mayReuse(known, fingerprint: fingerprint, in: reader, asDropped: asDropped) else { return nil }
    let end = known.facts.cachedEnd(known.status)
    guard plan.state.rerunOn.contains(.outputMissing), !end.outputs.isEmpty else { return end }
    guard let outputs = try? reader.outputs(of: known.id) else { return nil }
    for fact in end.outputs {
      guard let output = outputs.first(where: { $0.path == fact.path }) else { return nil }
      switch try? tree.condition(of: output, by: check) {
      case .unchanged: continue
      case .touched(let stamp): stamps[output.path] = stamp
      default: return nil
      }
    }
    return end
  }

  private var touched: [Int: [String: FileStamp]] = [:]

  /// A reader for a thread of its own.
  func makeReader() throws(Fault) -> JournalReader { try journal.reader() }

  /// Takes over what was looked up on another thread, unless the journal has come to know better since.
  ///
  /// What the journal knows now is read for many items at once, by `standings`.
  func takes(_ past: PastItem, _ standing: Standing?) throws(Fault) -> Bool {
    guard let known = past.known else { return false }
    var now = standing
    if now == nil { now = try loopReader.standing(of: known.id) }
    guard let now, now.run == known.run, now.status.name == known.status.rawValue else { return false }
    if !past.touched.isEmpty { touched[known.id] = past.touched }
    return true
  }

  /// How an item stands in the journal, and the run that saw it last.
  typealias Standing = (run: Int, status: FlowStore.ItemStatus)

  /// How items stand that were looked up on another thread, each at its place; nil where that is not known.
  func standings(of items: ArraySlice<(source: Int, item: PreparedItem)>) -> [Standing?] {
    var ids: [ItemID] = []
    ids.reserveCapacity(items.count)
    for entry in items {
      guard let id = entry.item.past?.known?.id else { return Array(repeating: nil, count: items.count) }
      ids.append(id)
    }
    return (try? loopReader.standings(of: ids)) ?? Array(repeating: nil, count: items.count)
  }

  /// Looks many items up in one reading of the journal.
  func snapshot(_ body: () -> Void) {
    var isDone = false
    try? loopReader.snapshot { () throws(Fault) in
      body()
      isDone = true
    }
    if !isDone { body() }
  }

  /// How many bytes temporary files hold.
  var temporaryBytes: Int { temporary.usedBytes }

  func makeItemID() -> Int { journal.makeItemID() }

  /// Says that an item is as an earlier run left it.
  ///
  /// - Parameter item: What this run has written of it as being under way since, if it has.
  func touch(ticket: Int, index: Int, source: Int, known: StoredItem, writtenAs item: Item? = nil) {
    var confirmation = Confirmation(
      item: known.id, index: index, outputs: known.facts.outputs.count, run: run)
    confirmation.isInPlace = known.index == index
    if !touched.isEmpty, let stamps = touched.removeValue(forKey: known.id) { confirmation.touched = stamps }
    if let item {
      post(UInt64(ticket), .restore(record(of: known, item, source), confirmation))
    } else {
      if known.facts.groups.isEmpty, lots.take(ticket, confirmation) { return }
      post(UInt64(ticket), .confirm(confirmation))
    }
    addMemberships(known, index, source)
  }

  /// How an item ended in an earlier run, as it is to be written again.
  private func record(of known: StoredItem, _ item: Item, _ source: Int) -> ItemRecord {
    var draft = ItemRecordDraft(
      ticket: 0, id: known.id, item: item, source: source, status: known.status, input: known.input,
      fingerprint: known.fingerprint, fault: nil)
    draft.end = known.facts.cachedEnd(known.status)
    draft.made = known.made
    draft.standIns = known.facts.standIns
    draft.groups = known.facts.groups.compactMap { entry in
      guard let barrier = plan.stages.firstIndex(where: { $0.id == entry.stage }),
        let node = nodeNumbers.firstIndex(of: entry.node)
      else { return nil }
      return ItemRecordDraft.Membership(barrier: barrier, node: node, group: entry.group)
    }
    return record(draft, FlowStore.ItemStatus(known.status), nil)
  }

  /// Puts an item that needs no work into the groups that it was in.
  private func addMemberships(_ known: StoredItem, _ index: Int, _ source: Int) {
    if known.facts.groups.isEmpty { return }
    let records = known.facts.groups.compactMap { entry -> MembershipRecord? in
      guard let barrier = plan.stages.firstIndex(where: { $0.id == entry.stage }), barrierNumbers[barrier] >= 0 else {
        return nil
      }
      return MembershipRecord(
        barrier: barrierNumbers[barrier], group: entry.group, item: known.id, source: sourceNumbers[source],
        index: index, node: entry.node, run: run)
    }
    if !records.isEmpty { post(0, .members(records)) }
  }

  /// Writes an item's end; its ticket is answered when that is safe.
  func end(_ draft: ItemRecordDraft) {
    addResults(draft)
    let fault = draft.status == .failed || draft.status == .cancelled ? draft.fault : nil
    let record = record(draft, FlowStore.ItemStatus(draft.status), fault)
    post(UInt64(draft.ticket), .item(record))
  }

  /// Writes what stages that gather read of an item that goes on.
  func begin(_ draft: ItemRecordDraft) {
    post(UInt64(draft.ticket), .item(record(draft, .running, nil)))
    addResults(draft)
  }

  private func addResults(_ draft: ItemRecordDraft) {
    let keeps = !draft.isUnderWay && draft.status != .ok && draft.status != .filtered
    if !draft.dropped.isEmpty {
      post(0, .dropResults(item: draft.id, nodes: draft.dropped.map { nodeNumbers[$0] }))
    }
    for result in draft.results { post(0, .result(record(draft.id, result, keeps: keeps))) }
    let grouped = draft.memberships.filter { plan.stages[$0.barrier].scope != .run }
    guard !grouped.isEmpty else { return }
    let records = grouped.map {
      MembershipRecord(
        barrier: barrierNumbers[$0.barrier], group: $0.group, item: draft.id, source: sourceNumbers[draft.source],
        index: draft.item.index, node: nodeNumbers[$0.node], run: run)
    }
    post(0, .members(records))
  }

  /// Asks to be told when all that was posted is safe.
  func askForFlush() {
    post(RunStore.flushTicket, .flush)
    flush()
  }

  /// The ticket of a flush; those of lots and, far below them, items lie below it.
  static let flushTicket = UInt64(1) << 62
  /// Tickets of lots begin here.
  static let lotTicket = UInt64(1) << 61

  /// What an earlier run made of a node, where it depends on the same and its bytes are still there.
  ///
  /// `loan` is the output that has them, where no file of the run's own has: another item may come to take its name.
  func reusableResult(
    _ known: StoredItem, node: Int, key: ResultKey
  ) -> (result: NodeResult, loan: OutputRecord?)? {
    guard !isFresh, let record = try? loopReader.result(of: known.id, node: nodeNumbers[node]),
      record.parts == key.parts, let facts = try? record.fields.fields()
    else { return nil }
    var result = NodeResult(fields: facts["fields"]?.asMap ?? [:])
    guard let text = facts["sha256"]?.asString, let digest = Digest(.sha256, parsing: text) else {
      return (result, nil)
    }
    if let kept = record.kept, let file = temporary.takeKept(kept.name, bytes: kept.bytes, sha256: kept.sha256) {
      // Programs have had it in their hands, and the system may have gone down before it was on disk.
      if (try? Digest(.sha256, ofFileAt: file.path)) == file.sha256 {
        result.content = .file(
          HeldFile(path: file.path, bytes: file.bytes, sha256: file.sha256, isTemporary: true) { _ in file.remove() })
        return (result, nil)
      }
      file.remove()
    }
    if let output = published(known, digest) {
      result.content = .file(held(path: tree.absolute(output.path), bytes: output.bytes, sha256: digest))
      return (result, output)
    }
    guard let file = stored(digest) else { return nil }
    result.content = .file(file)
    return (result, nil)
  }

  /// Whether an output still has the bytes for which it was taken.
  func stillHas(_ output: OutputRecord) -> Bool {
    switch try? tree.condition(of: output) {
    case .unchanged, .touched: true
    case .altered, .missing, nil: false
    }
  }

  /// Whether the bytes of an earlier result seem to be here still; they are compared only where they are taken.
  func mayHold(_ known: StoredItem, node: Int, key: ResultKey) -> Bool {
    guard !isFresh, let record = try? loopReader.result(of: known.id, node: nodeNumbers[node]),
      record.parts == key.parts,
      let text = (try? record.fields.fields())?["sha256"]?.asString, let digest = Digest(.sha256, parsing: text)
    else { return false }
    if let kept = record.kept, temporary.hasKept(kept.name, bytes: kept.bytes) { return true }
    return published(known, digest) != nil || content?.has(digest) == true
  }

  /// Whether a node's result was made by the run that was cut off right before this one.
  func isOfCutOffRun(_ known: StoredItem, node: Int) -> Bool {
    guard let cutOffRun else { return false }
    return (try? loopReader.result(of: known.id, node: nodeNumbers[node]))?.run == cutOffRun
  }

  /// The bytes of a digest in the content store.
  private func stored(_ digest: Digest) -> HeldFile? {
    guard let content, let bytes = content.check(digest) else { return nil }
    return held(path: content.place(of: digest), bytes: bytes, sha256: digest)
  }

  /// The output that has the bytes of a digest, as far as it is there as it was published.
  private func published(_ known: StoredItem, _ digest: Digest) -> OutputRecord? {
    guard let outputs = try? loopReader.outputs(of: known.id) else { return nil }
    for var output in outputs where output.sha256 == digest {
      guard let condition = try? tree.condition(of: output, by: check) else { continue }
      switch condition {
      case .unchanged: return output
      case .touched(let stamp):
        output.stamp = stamp
        return output
      case .altered, .missing: continue
      }
    }
    return nil
  }

  /// What the fields of a node's result were in an earlier run, where it depends on the same.
  func earlierFields(_ known: StoredItem, node: Int, key: ResultKey) -> Fields? {
    guard let record = try? loopReader.result(of: known.id, node: nodeNumbers[node]), record.parts == key.parts else {
      return nil
    }
    return RunStore.fields(of: record)
  }

  /// What an earlier run wrote down of a node's result, whatever it depended on.
  func remembered(_ known: StoredItem, node: Int) -> Fields? {
    (try? loopReader.result(of: known.id, node: nodeNumbers[node])).flatMap(RunStore.fields)
  }

  /// A temporary file with the bytes of a digest out of the content store.
  func kept(_ digest: Digest) throws(Fault) -> HeldFile? {
    guard let content, let file = try content.take(digest, into: temporary) else { return nil }
    return HeldFile(path: file.path, bytes: file.bytes, sha256: digest, isTemporary: true) { _ in file.remove() }
  }

  /// Whether there is a content store.
  var keepsContent: Bool { content != nil }

  /// Takes a file into the content store.
  func keep(_ file: HeldFile) throws(Fault) { try content?.add(try file.path, file.sha256) }

  func sourceEnded(_ source: Int, items: Int, duplicates: Int) {
    post(
      0,
      .source(
        SourceRecord(
          source: sourceNumbers[source], run: run, total: items, items: items, duplicates: duplicates,
          isExhausted: true)))
  }

  /// Puts an order behind those that were posted before.
  private func post(_ ticket: UInt64, _ order: StoreOrder) {
    closeLot()
    batch.append((ticket, order))
  }

  /// Makes one order of the items that were found as they were.
  private func closeLot() {
    guard let lot = lots.close() else { return }
    batch.append((RunStore.lotTicket + UInt64(lot.number), .confirmAll(lot.confirmed)))
  }

  /// The tickets of the items that have ended with a lot.
  func endLot(_ number: Int, _ fault: Fault?) -> [Int] {
    let outcome = lots.end(number, fault)
    for (ticket, confirmation) in outcome.single { post(UInt64(ticket), .confirm(confirmation)) }
    return outcome.ended
  }

  /// Hands what has gathered to the ledger.
  func flush() {
    closeLot()
    guard !batch.isEmpty else { return }
    ledger.post(contentsOf: batch)
    batch.removeAll(keepingCapacity: true)
  }

  /// A text without secrets.
  func redact(_ text: String) -> String { redaction.redact(text) }

  /// Whether a text may be written down as it is.
  func hidesNothing(_ text: String) -> Bool { redaction.redact(text) == text }

  // MARK: For jobs

  /// Reads the journal on a job's thread.
  func read<Result>(_ body: (JournalReader) throws(Fault) -> Result) throws(Fault) -> Result {
    try jobReader.withLock { (known) throws(Fault) in
      let reader = if let known { known } else { try journal.reader() }
      known = reader
      return try body(reader)
    }
  }

  /// Hands an order over, behind those that were posted before.
  func batch(_ order: StoreOrder) { post(0, order) }

  /// Has an order done, and waits for that.
  func perform(_ order: StoreOrder) async throws(Fault) { try await ledger.perform(order) }

  /// Writes the run's end, and with it all that is left; once the loop is over.
  func recordEnd(_ record: RunRecord) async throws(Fault) {
    flush()
    try await ledger.perform(.endRun(record))
  }

  /// Writes everything that is left and ends the writing; blocks until that is done.
  func close(_ record: RunRecord) {
    flush()
    ledger.post(.endRun(record), ticket: 0)
    ledger.close()
  }
}

extension StoredItem {
  /// What a record of the journal says.
  convenience init(_ record: ItemRecord) throws(Fault) {
    self.init(
      id: record.id, index: record.index, run: record.run,
      status: FlowEvents.ItemStatus(rawValue: record.status.name) ?? .failed,
      fingerprint: record.fingerprint, facts: try StoredFacts(record.facts), fault: record.fault)
  }

  /// What a record of the journal says whose facts have not been read yet.
  convenience init(_ record: PastRecord) throws(Fault) {
    self.init(
      id: record.id, index: record.index, run: record.run,
      status: FlowEvents.ItemStatus(rawValue: record.status.name) ?? .failed,
      fingerprint: record.fingerprint, facts: try StoredFacts(record.facts), fault: record.fault)
  }
}

extension FlowStore.ItemStatus {
  init(_ status: FlowEvents.ItemStatus) {
    switch status {
    case .ok: self = .ok
    case .filtered: self = .filtered
    case .failed: self = .failed
    case .cancelled: self = .cancelled
    }
  }
}
