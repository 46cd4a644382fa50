internal import FlowBase

/// A letter to the ledger.
struct LedgerLetter: Sendable {
  /// Who waits for the answer.
  enum Reply: Sendable {
    /// The callback, under this ticket.
    case ticket(UInt64)
    /// Whoever has left this with the order; called on the ledger's thread.
    case call(@Sendable (Result<PublishedFile?, Fault>) -> Void)
  }

  var order: StoreOrder
  var reply: Reply
}

/// What the ledger's thread does with a batch of orders; without a thread, so that tests can stop it after any step.
final class LedgerWork {
  /// The steps of a batch, in their order.
  enum Step: Int, Comparable {
    case prepare, intents, syncFiles, moveFiles, syncFolders, commit
    static func < (left: Step, right: Step) -> Bool { left.rawValue < right.rawValue }
  }

  private let writer: JournalWriter
  private let tree: OutputTree
  private let temporary: TemporaryFolder
  private var nextIntent = 1

  init(
    journal: Journal, tree: OutputTree, temporary: TemporaryFolder, checkpoints: CheckpointRule = CheckpointRule()
  ) throws(Fault) {
    writer = try JournalWriter(journal, checkpoints: checkpoints)
    self.tree = tree
    self.temporary = temporary
    nextIntent = (try journal.database.number("SELECT max(id) FROM intents") ?? 0) + 1
  }

  /// Does all that is asked, and gives the outcomes in the order of the orders.
  ///
  /// Orders for one path are done one after the other, the later ones in a batch of their own.
  func perform(
    _ orders: [StoreOrder], durability: Durability, stoppingAfter last: Step = .commit
  ) -> [Result<PublishedFile?, Fault>] {
    var outcomes: [Result<PublishedFile?, Fault>] = []
    outcomes.reserveCapacity(orders.count)
    while outcomes.count < orders.count {
      outcomes += performPart(orders[outcomes.count...], durability: durability, stoppingAfter: last)
    }
    return outcomes
  }

  private func performPart(
    _ orders: ArraySlice<StoreOrder>, durability: Durability, stoppingAfter last: Step
  ) -> [Result<PublishedFile?, Fault>] {
    var outcomes: [Result<PublishedFile?, Fault>] = []
    var files = PublishBatch(writer: writer, tree: tree, temporary: temporary, firstIntent: nextIntent)
    do {
      if orders.contains(where: \.isPublish) {
        try writer.setSynchronous(durability == .process ? "OFF" : "NORMAL")
        // One transaction for looking up and writing down: each of its own would cost the locks of the file.
        try writer.transaction { () throws(Fault) in
          prepare(orders, &files, &outcomes)
          if last >= .intents { try files.writeIntents() }
        }
      } else {
        prepare(orders, &files, &outcomes)
      }
    } catch {
      if outcomes.isEmpty { outcomes = orders.map { _ in .success(nil) } }
      return giveUp(&files, &outcomes, error)
    }
    nextIntent += files.count
    let part = orders.prefix(outcomes.count)
    do {
      move(&files, durability: durability, stoppingAfter: last)
      if last < .commit { return outcomes }
      try writer.setSynchronous(durability == .process ? "OFF" : "FULL")
      try writer.transaction { () throws(Fault) in
        try files.commit()
        for (place, order) in part.enumerated() {
          do throws(Fault) { try record(order) } catch {
            // A collision is the order's own; what the database refuses undoes the batch.
            guard error.code == "path.collision" else { throw error }
            outcomes[place] = .failure(error)
          }
        }
      }
      // Pruned files go after the journal has forgotten them: what is left over by a crash is only a file too many.
      for (place, order) in part.enumerated() { prune(order, &outcomes[place]) }
      for (place, outcome) in files.outcomes { outcomes[place] = outcome }
    } catch { return giveUp(&files, &outcomes, error) }
    files.removeLeftovers()
    return outcomes
  }

  /// Takes orders up to the first that has to wait for another of this batch.
  private func prepare(
    _ orders: ArraySlice<StoreOrder>, _ files: inout PublishBatch, _ outcomes: inout [Result<PublishedFile?, Fault>]
  ) {
    for order in orders {
      guard case .publish(let publish) = order else {
        outcomes.append(.success(nil))
        continue
      }
      if files.holds(publish.path) { return }
      do throws(Fault) {
        try files.add(publish, ticket: outcomes.count)
        outcomes.append(.success(nil))
      } catch { outcomes.append(.failure(error)) }
    }
  }

  /// Lets everything fail that has not failed yet.
  private func giveUp(
    _ files: inout PublishBatch, _ outcomes: inout [Result<PublishedFile?, Fault>], _ fault: Fault
  ) -> [Result<PublishedFile?, Fault>] {
    files.fail(with: fault)
    for place in outcomes.indices {
      if case .success = outcomes[place] { outcomes[place] = .failure(fault) }
    }
    files.removeLeftovers()
    return outcomes
  }

  private func move(_ files: inout PublishBatch, durability: Durability, stoppingAfter last: Step) {
    if files.count == 0 || last < .syncFiles { return }
    if durability != .process { files.syncFiles() }
    if last < .moveFiles { return }
    files.moveFiles()
    if last < .syncFolders { return }
    if durability != .process { files.syncFolders() }
  }

  private static let takenOutput = Fault(
    "path.collision", .permanent,
    "another item has taken an output of this one in this run; put something into the path that tells them apart")

  private func confirm(_ confirmation: Confirmation) throws(Fault) {
    if try writer.confirm(confirmation) < confirmation.outputs { throw LedgerWork.takenOutput }
  }

  private func record(_ order: StoreOrder) throws(Fault) {
    switch order {
    case .publish, .flush: break
    case .item(let item): try writer.write(item)
    case .confirm(let confirmation): try confirm(confirmation)
    case .restore(let item, let confirmation):
      // First: outputs that do not count for this run yet would be taken from it with its row.
      try confirm(confirmation)
      try writer.write(item)
    case .confirmAll(let confirmed):
      if try !writer.confirm(confirmed) { throw LedgerWork.takenOutput }
    case .result(let result): try writer.write(result)
    case .dropResults(let item, let nodes): try writer.dropResults(of: item, nodes: nodes)
    case .park(let parked): try writer.write(parked)
    case .unpark(let gate, let place): try writer.dropParked(at: gate, through: place)
    case .members(let members): for member in members { try writer.write(member) }
    case .barrier(let barrier): try writer.write(barrier)
    case .source(let source): try writer.write(source)
    case .mark(let name, let text): try writer.write(mark: name, text)
    case .endRun(let run): try writer.end(run)
    case .prune: break
    }
  }

  /// Removes an output of an earlier run, if it is as it was published.
  private func prune(_ order: StoreOrder, _ outcome: inout Result<PublishedFile?, Fault>) {
    guard case .prune(let path, let evenIfAltered, let check) = order else { return }
    do throws(Fault) {
      let alike = try writer.outputs(folded: PathFolding.fold(path))
      guard let known = alike.first(where: { $0.record.path == path }) else { return }
      if !evenIfAltered, try tree.condition(of: known.record, by: check) == .altered {
        throw Fault("prune.altered", .permanent, "\(path) was altered since it was published, and stays")
      }
      // Where names fold case, another output's may lead to the same file.
      let file = try tree.facts(path)
      var isShared = false
      for other in alike where other.row != known.row {
        guard let file, let facts = try tree.facts(other.record.path) else { continue }
        if facts.inode == file.inode && facts.device == file.device { isShared = true }
      }
      try writer.transaction { () throws(Fault) in try writer.dropOutput(row: known.row) }
      if !isShared { _ = try tree.remove(path) }
    } catch { outcome = .failure(error) }
  }
}

extension StoreOrder {
  /// Whether it is about a file.
  fileprivate var isPublish: Bool { if case .publish = self { true } else { false } }
}
