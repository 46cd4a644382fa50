import FlowBase
import FlowParts
import FlowStore

/// Items that wait on disk behind gates, for the loop.
extension RunStore {
  /// The gate under which all parked items are filed: the machine knows which of them may go on.
  private static let gate = 0

  func park(_ parked: ParkedItem) {
    batch(.park(ParkedRecord(gate: RunStore.gate, item: parked.id, run: run, state: ParkCodec.encode(parked))))
  }

  /// Brings parked items back, the oldest first; `give` gets none when there are none left.
  func unpark(_ count: Int, _ give: @escaping @Sendable ([ParkedItem]) -> Void) {
    flush()
    let (ledger, run) = (ledger, run)
    Task {
      do {
        // Behind everything that was posted before, so that what is being parked is seen.
        try await ledger.perform(.flush)
        let records = try read { (reader) throws(Fault) in
          try reader.parked(at: RunStore.gate, run: run, limit: count)
        }
        if let last = records.last { try await ledger.perform(.unpark(gate: RunStore.gate, through: last.seq)) }
        give(records.compactMap { ParkCodec.decode($0.item, $0.state, holding: waited) })
      } catch {
        give([])
      }
    }
  }

  /// A file that an item has waited with; its own goes with it.
  private func waited(path: String, bytes: Int, sha256: Digest, isOwn: Bool) -> HeldFile {
    let file = held(path: path, bytes: bytes, sha256: sha256)
    guard isOwn, let finished = finishedFile(file) else { return file }
    return HeldFile(path: path, bytes: bytes, sha256: sha256, isTemporary: true) { _ in finished.remove() }
  }
}
