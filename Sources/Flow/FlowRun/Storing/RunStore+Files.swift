import FlowBase
import FlowParts
import FlowStore

/// Temporary files, and files under their final names.
extension RunStore {
  func owner(item: Int, node: Int) -> OutputOwner { .item(item, node: nodeNumbers[node]) }
  func owner(barrier: Int, group: String?) -> OutputOwner {
    .barrier(node: barrierNumbers[barrier], group: group ?? "")
  }
  func absolute(_ path: String) -> String { tree.absolute(path) }
  func makeScratch() throws(Fault) -> String { try temporary.makeFolder() }
  func makePartial() -> any PartialWriter { PartialAdapter(temporary.makePartial()) }
  /// Bytes that go to a file only where there is no room for them, or where somebody needs a path.
  func makePartial(room: any MemoryRoom) -> any PartialWriter {
    MemoryFirstAdapter(temporary.makePartial(room: room)) { [self] bytes throws(Fault) in try spill(bytes) }
  }

  /// Writes bytes from memory into a temporary file.
  func spill(_ bytes: [UInt8]) throws(Fault) -> HeldFile {
    let partial = makePartial()
    do throws(Fault) {
      try partial.write(contentsOf: bytes)
      return try partial.finish()
    } catch {
      partial.abandon()
      throw error
    }
  }
  var hasUnfinished: Bool { !isFresh && temporary.hasUnfinished }
  func takeUnfinished(where isWanted: (String) -> Bool) -> (file: any PartialWriter, note: String)? {
    guard !isFresh, let found = temporary.takeUnfinished(where: isWanted) else { return nil }
    return (PartialAdapter(found.file), found.note)
  }

  /// The temporary file that a held file is, if it is one of ours.
  func finishedFile(_ file: HeldFile) -> FinishedFile? {
    guard let name = file.writtenPath.flatMap(temporary.name) else { return nil }
    return FinishedFile(name: name, folder: temporary, bytes: file.bytes, sha256: file.sha256)
  }

  /// A file that stays where it is: published, or kept for a later part of the run.
  func held(path: String, bytes: Int, sha256: Digest) -> HeldFile {
    HeldFile(path: path, bytes: bytes, sha256: sha256, isTemporary: false) { _ in }
  }

  func temporaryPath(_ name: String) -> String { temporary.path(of: name) }

  func publish(_ bytes: PublishOrder.Bytes, at path: String, _ options: PublishOptions, _ owner: OutputOwner)
    async throws(Fault) -> OutputFact
  {
    OutputFact(try await ledger.publish(order(bytes, path, options, owner)), options)
  }

  func publish(
    _ bytes: PublishOrder.Bytes, at path: String, _ options: PublishOptions, _ owner: OutputOwner,
    done: @escaping @Sendable (Result<OutputFact, Fault>) -> Void
  ) {
    ledger.publish(order(bytes, path, options, owner)) { done($0.map { OutputFact($0, options) }) }
  }

  private func order(
    _ bytes: PublishOrder.Bytes, _ path: String, _ options: PublishOptions, _ owner: OutputOwner
  ) -> PublishOrder {
    let onExists = PublishOrder.OnExists(rawValue: options.onExists.rawValue) ?? .keep
    return PublishOrder(
      path: path, bytes: bytes, owner: owner, ownerName: options.owner,
      // Where nothing of earlier runs is believed, neither is what they say of a file that is there.
      onExists: rewrites && onExists == .keep ? .overwrite : onExists,
      check: check, mode: options.mode, media: options.media, run: run)
  }

  /// Removes what earlier runs have published and no item makes any more.
  ///
  /// Files that were altered since stay.
  func prune() async throws(Fault) -> Pruning {
    let standIns = try read { (reader) throws(Fault) in try StandIns.all(in: reader) }
    var pruning = Pruning()
    let emptied = try read { (reader) throws(Fault) in try reader.emptied() }
    pruning.emptied = emptied
    var last = 0
    while let page = try? read({ [last] (reader) throws(Fault) in
      try reader.orphans(after: last, limit: 256, beside: emptied)
    }),
      let end = page.last
    {
      last = end.row
      for orphan in page {
        if standIns.contains(orphan.output.owner.item) {
          pruning.standing += 1
        } else if (try? await perform(.prune(path: orphan.output.path, evenIfAltered: false, check: check))) != nil {
          pruning.removed += 1
        }
      }
    }
    return pruning
  }
}

extension OutputFact {
  /// What stages are told of a file that was published.
  fileprivate init(_ done: PublishedFile, _ options: PublishOptions) {
    self.init(path: done.path, bytes: done.bytes, sha256: done.sha256.hex, media: done.media ?? options.media)
  }
}

/// A temporary file of the store as stages see it.
private final class PartialAdapter: PartialWriter {
  private let file: PartialFile

  init(_ file: PartialFile) { self.file = file }

  var count: Int { file.count }
  func write(_ bytes: UnsafeRawBufferPointer) throws(Fault) { unsafe try file.write(bytes) }
  func restart() throws(Fault) { try file.restart() }
  func abandon() { file.abandon() }
  func remember(_ note: String) throws(Fault) { try file.remember(note) }
  func leave() { file.leave() }

  func finish() throws(Fault) -> HeldFile { HeldFile(try file.finish()) }
}

/// Bytes that may stay in memory as stages see them.
private final class MemoryFirstAdapter: PartialWriter {
  private let file: MemoryFirstFile
  private let write: @Sendable ([UInt8]) throws(Fault) -> HeldFile

  init(_ file: MemoryFirstFile, write: @escaping @Sendable ([UInt8]) throws(Fault) -> HeldFile) {
    self.file = file
    self.write = write
  }

  var count: Int { file.count }
  func write(_ bytes: UnsafeRawBufferPointer) throws(Fault) { unsafe try file.write(bytes) }
  func restart() throws(Fault) { try file.restart() }
  func abandon() { file.abandon() }
  func remember(_ note: String) throws(Fault) { try file.remember(note) }
  func leave() { file.leave() }

  func finish() throws(Fault) -> HeldFile {
    switch try file.finish() {
    case .memory(let bytes, let sha256, let room):
      HeldFile(memory: bytes, sha256: sha256, room: room, write: write)
    case .file(let finished): HeldFile(finished)
    }
  }
}

extension HeldFile {
  /// A temporary file of the store.
  fileprivate convenience init(_ finished: FinishedFile) {
    self.init(path: finished.path, bytes: finished.bytes, sha256: finished.sha256, isTemporary: true) { _ in
      finished.remove()
    }
  }
}
