public import FlowBase

/// What was mended after a run that did not end by itself.
public struct Recovery: Sendable, Hashable {
  /// Files that had got their final names, but stood in the journal as an intent only, and stand there now.
  public var adoptedFiles = 0
  /// Intents that came to nothing.
  public var droppedIntents = 0
  /// Temporary files that nobody needs any more.
  public var removedFiles = 0

  /// Nothing was to be mended.
  public init() {}
}

extension Journal {
  /// Mends what a crash has left: published files that match an intent are taken in, other intents and stray temporary
  /// files go.
  ///
  /// Only for who holds the state's lock, and before the ledger is started. A crash in here is mended by the next call.
  public func recover(tree: OutputTree, temporary: TemporaryFolder) throws(Fault) -> Recovery {
    var recovery = Recovery()
    let intents = try intents()
    if !intents.isEmpty {
      let writer = try JournalWriter(self)
      try writer.transaction { () throws(Fault) in
        for intent in intents {
          if let stamp = try matching(intent, in: tree) {
            try writer.write(
              OutputRecord(
                path: intent.path, owner: intent.owner, bytes: intent.bytes, sha256: intent.sha256,
                media: intent.media, stamp: stamp, run: intent.run),
              isOurs: true)
            recovery.adoptedFiles += 1
          } else {
            recovery.droppedIntents += 1
          }
        }
        try writer.dropIntents(from: 0)
      }
    }
    let kept = try database.prepare("SELECT 1 FROM results WHERE kept = ?1")
    recovery.removedFiles = try temporary.sweep { (name) throws(Fault) in
      kept.bind(1, name)
      defer { kept.reset() }
      return try kept.step()
    }
    return recovery
  }

  private func intents() throws(Fault) -> [Intent] {
    let statement = try database.prepare(
      "SELECT path, temporary, owner, node, grp, bytes, sha256, media, run FROM intents ORDER BY id")
    var intents: [Intent] = []
    while try statement.step() {
      guard let digest = Digest(.sha256, bytes: statement.bytes(6)) else { continue }
      let group = statement.textIfAny(4)
      intents.append(
        Intent(
          path: statement.text(0), temporary: statement.textIfAny(1),
          owner: OutputOwner(item: group == nil ? statement.int(2) : 0, node: statement.int(3), group: group),
          bytes: statement.int(5), sha256: digest, media: statement.textIfAny(7), run: statement.int(8)))
    }
    return intents
  }

  /// The stamp of the file under an intent's final name, if it is the one that was meant.
  private func matching(_ intent: Intent, in tree: OutputTree) throws(Fault) -> FileStamp? {
    guard let facts = try? tree.facts(intent.path), facts.kind == .file, facts.size == intent.bytes,
      (try? tree.digest(intent.path)) == intent.sha256
    else { return nil }
    return FileStamp(facts)
  }
}
