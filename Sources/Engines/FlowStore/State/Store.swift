public import FlowBase

/// Everything that a run writes with: the locked state, its journal, the output tree and the temporary files.
///
/// Opening takes the lock, opens the journal, and mends what a crash has left behind.
public final class Store: Sendable {
  /// The state's folder.
  public let folder: StateFolder
  /// The journal.
  public let journal: Journal
  /// The output directory.
  public let tree: OutputTree
  /// Where temporary files go: on the output's file system.
  public let temporary: TemporaryFolder
  /// What was mended while opening.
  public let recovery: Recovery
  private let lock: RunLock
  private let waitsForDisk = Guarded(true)

  /// Opens a state for a run.
  ///
  /// - Parameter waits: whether to wait for another run to end; blocks the thread.
  public init(folder: StateFolder, outputFolder: String, waits: Bool = false) throws(Fault) {
    self.folder = folder
    try folder.make()
    lock = try RunLock(path: folder.lock, waits: waits)
    journal = try Journal(path: folder.journal)
    tree = try OutputTree(root: outputFolder)
    let inState = try TemporaryFolder(path: folder.temporary, owner: journal.token, isRemovedWhenEmpty: false)
    let stateDevice = try naming("look at", folder.temporary) { [directory = inState.directory] () throws(Errno) in
      try directory.facts().device
    }
    temporary = try stateDevice == tree.device() ? inState : tree.nearbyTemporary(owner: journal.token)
    var recovery = try journal.recover(tree: tree, temporary: temporary)
    if temporary !== inState { recovery.removedFiles += try inState.sweep { _ in false } }
    self.recovery = recovery
  }

  /// Starts the ledger.
  public func startLedger(
    durability: Durability? = nil, answer: @escaping @Sendable ([StoreAnswer]) -> Void = { _ in }
  ) throws(Fault) -> Ledger {
    waitsForDisk.withLock { $0 = durability != .process }
    return try Ledger(journal: journal, tree: tree, temporary: temporary, durability: durability, answer: answer)
  }

  /// Gives the lock back and removes the folder for temporary files where it is empty and below the output.
  ///
  /// The ledger is closed before.
  public func close() {
    journal.settle(waitsForDisk: waitsForDisk.withLock { $0 })
    temporary.close()
    lock.release()
  }
}
