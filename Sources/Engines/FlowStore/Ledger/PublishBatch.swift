internal import FlowBase

/// The files of one batch on their way to their final names, step by step; a crash between any two steps loses nothing.
///
/// The steps, in their order:
///
/// 1. `add`: whose path it is, what is there already, and the bytes into a temporary file.
/// 2. `writeIntents`: path, size and digest into the journal, without waiting for the disk.
/// 3. `syncFiles`: the bytes reach the disk (not at the durability `process`).
/// 4. `moveFiles`: each file gets its final name, in one step.
/// 5. `syncFolders`: the names reach the disk (not at the durability `process`).
/// 6. `commit`: the outputs stand in the journal, the intents go; in the same transaction as the results that rest on
///    them.
struct PublishBatch {
  /// One file on its way.
  private struct Entry {
    var ticket: Int
    var order: PublishOrder
    var folded: String
    /// What the journal has under the path; nobody changes that until `commit`.
    var known: JournalWriter.KnownOutput?
    var place: OutputPlace
    /// The bytes; nil where what is there stays.
    var file: FinishedFile?
    /// Whether the file was made here and is nobody else's to remove.
    var isOwnFile = false
    var bytes: Int
    var sha256: Digest
    var replaces: Bool
    var isOurs = true
    var stamp: FileStamp?
    var fault: Fault?
  }

  private let writer: JournalWriter
  private let tree: OutputTree
  private let temporary: TemporaryFolder
  private let firstIntent: Int
  private var entries: [Entry] = []
  private var claims: [String: Int] = [:]

  init(writer: JournalWriter, tree: OutputTree, temporary: TemporaryFolder, firstIntent: Int) {
    self.writer = writer
    self.tree = tree
    self.temporary = temporary
    self.firstIntent = firstIntent
  }

  /// How many files are on their way.
  var count: Int { entries.count }

  // MARK: 1. Whose, and what is there

  /// Whether another order of this batch wants the same path: it has to be done first.
  func holds(_ path: String) -> Bool { claims[PathFolding.fold(path)] != nil }

  /// Takes an order; one that cannot be done throws, and its temporary file stays its owner's.
  mutating func add(_ order: PublishOrder, ticket: Int) throws(Fault) {
    try OutputPath.check(order.path)
    let folded = PathFolding.fold(order.path)
    let known = try writer.outputs(folded: folded)
    try refuseCollision(order, known)
    let ours = known.first { $0.record.path == order.path }
    if let entry = try staying(order, ours, folded, ticket) {
      claims[folded] = entries.count
      entries.append(entry)
      return
    }
    let place = try tree.place(order.path, making: true)
    let (file, isOwnFile) = try bytes(of: order)
    let isOfThisRun = ours.map { $0.record.run == order.run } ?? false
    claims[folded] = entries.count
    entries.append(
      Entry(
        ticket: ticket, order: order, folded: folded, known: ours, place: place, file: file, isOwnFile: isOwnFile,
        bytes: file.bytes, sha256: file.sha256, replaces: order.onExists != .fail || isOfThisRun))
  }

  private func refuseCollision(_ order: PublishOrder, _ known: [JournalWriter.KnownOutput]) throws(Fault) {
    for other in known where other.record.run == order.run && other.record.owner != order.owner {
      let owner = try writer.name(ofOwner: other.ownerNumber) ?? "another stage"
      let how =
        other.record.path == order.path
        ? "" : " as \(other.record.path), and some file systems take the two names for one"
      throw Fault(
        "path.collision", .permanent,
        "\(order.ownerName) wants the path \(order.path), which \(owner) has in this run already\(how); "
          + "put something into the path that tells them apart")
    }
  }

  /// The entry of an order for which what is there stays.
  private func staying(
    _ order: PublishOrder, _ known: JournalWriter.KnownOutput?, _ folded: String, _ ticket: Int
  ) throws(Fault) -> Entry? {
    switch order.onExists {
    case .overwrite: return nil
    case .keep, .fail:
      // What a run that was cut off has published of this very leg is no other file.
      if order.onExists == .fail, known?.ownerNumber != order.owner.number { return nil }
      // Without a row nobody knows the file, and it is written anew; with one, equal bytes stay.
      guard let known, let wanted = order.knownDigest, known.record.sha256 == wanted else { return nil }
      let stamp: FileStamp
      switch try tree.condition(of: known.record, by: order.check) {
      case .unchanged: stamp = known.record.stamp
      case .touched(let now): stamp = now
      case .altered, .missing: return nil
      }
      return Entry(
        ticket: ticket, order: order, folded: folded, known: known, place: try tree.place(order.path, making: false),
        bytes: known.record.bytes, sha256: wanted, replaces: false, stamp: stamp)
    case .skip:
      guard let facts = try tree.facts(order.path), facts.kind == .file else { return nil }
      if let known, known.record.run == order.run { return nil }
      guard let digest = try tree.digest(order.path) else { return nil }
      let isOurs = known.map { $0.record.sha256 == digest } ?? false
      return Entry(
        ticket: ticket, order: order, folded: folded, known: known, place: try tree.place(order.path, making: false),
        bytes: facts.size, sha256: digest, replaces: false, isOurs: isOurs, stamp: FileStamp(facts))
    }
  }

  /// The bytes in a temporary file, and whether it was made for this.
  private func bytes(of order: PublishOrder) throws(Fault) -> (FinishedFile, isOwn: Bool) {
    switch order.bytes {
    case .file(let file): return (file, false)
    case .memory(let bytes):
      let partial = temporary.makePartial()
      do throws(Fault) {
        try partial.write(bytes)
        return (try partial.finish(), true)
      } catch {
        partial.abandon()
        throw error
      }
    case .copy(let path, let count, let sha256):
      let isKnown = try isInPlace(path, sha256, order.check)
      let file = try temporary.copy(of: path, bytes: count, sha256: sha256)
      if isKnown || temporary.holds(path) { return (file, true) }
      guard (try? Digest(.sha256, ofFileAt: file.path)) == sha256 else {
        file.remove()
        throw Fault(
          "content.changed", .permanent, "\(path) does not hold any more what was to be published as \(order.path)")
      }
      return (file, true)
    }
  }

  /// Whether a path is that of an output which has these bytes, as far as the journal and its stamp tell.
  ///
  /// Between the look at what an earlier run has left and the copy another item may have taken the path.
  private func isInPlace(_ path: String, _ sha256: Digest, _ check: OutputCheck) throws(Fault) -> Bool {
    let root = tree.root + "/"
    guard path.utf8.starts(with: root.utf8) else { return false }
    let output = String(path[path.utf8.index(path.startIndex, offsetBy: root.utf8.count)...])
    guard let known = try writer.outputs(folded: PathFolding.fold(output)).first(where: { $0.record.path == output }),
      known.record.sha256 == sha256, case .unchanged = try tree.condition(of: known.record, by: check)
    else { return false }
    return true
  }

  // MARK: 2. Intents

  /// Writes down what is about to happen, within the caller's transaction.
  func writeIntents() throws(Fault) {
    for (number, entry) in entries.enumerated() where entry.file != nil {
      try writer.write(
        Intent(
          path: entry.order.path, temporary: entry.file?.name, owner: entry.order.owner, bytes: entry.bytes,
          sha256: entry.sha256, media: entry.order.media, run: entry.order.run),
        id: firstIntent + number)
    }
  }

  // MARK: 3. Bytes

  /// Waits until the bytes of all files are on the disk.
  mutating func syncFiles() {
    // All are set going before the first is waited for, so that the file system can group them.
    if entries.count > 1 {
      for entry in entries {
        if let file = entry.file, let open = try? FileSystem.open(file.name, .read, in: file.folder.directory) {
          open.startWriting()
        }
      }
    }
    each { (entry, file) throws(Fault) in
      try naming("sync", file.path) { () throws(Errno) in
        try FileSystem.open(file.name, .read, in: file.folder.directory).sync()
      }
    }
  }

  // MARK: 4. Names

  /// Gives each file its final name.
  mutating func moveFiles() {
    let tree = tree
    each { (entry, file) throws(Fault) in
      try naming("set the mode of", file.path) { () throws(Errno) in
        do throws(Errno) {
          try FileSystem.setMode(file.name, entry.order.mode ?? tree.defaultMode, in: file.folder.directory)
        } catch {
          // File systems without modes refuse every one, and nobody has asked for one.
          if entry.order.mode != nil || error != .notPermitted && error != .notSupported { throw error }
        }
      }
      if try !tree.move(file, to: &entry.place, replacing: entry.replaces) {
        let copy = try tree.nearbyTemporary(owner: file.folder.owner).copy(
          of: file.path, bytes: file.bytes, sha256: file.sha256, isDurable: true,
          mode: entry.order.mode ?? tree.defaultMode)
        guard try tree.move(copy, to: &entry.place, replacing: entry.replaces) else {
          throw Fault(
            "disk.io", .local, "cannot publish \(tree.absolute(entry.order.path)): it lies on a file system of its own")
        }
        file.remove()
        copy.folder.close()
      }
      let facts = try naming("look at", tree.absolute(entry.order.path)) { () throws(Errno) in
        try FileSystem.facts(entry.place.name, in: entry.place.directory, following: false)
      }
      entry.stamp = FileStamp(facts)
    }
  }

  // MARK: 5. Folders

  /// Waits until the new names are on the disk.
  mutating func syncFolders() {
    let folders = Set(entries.compactMap { $0.file != nil && $0.fault == nil ? $0.place.folder : nil })
    guard !folders.isEmpty else { return }
    do { try tree.syncFolders(folders) } catch { fail(with: error) }
  }

  // MARK: 6. The journal

  /// Enters the outputs and drops the intents, within the caller's transaction.
  func commit() throws(Fault) {
    for entry in entries where entry.fault == nil {
      guard let stamp = entry.stamp else { continue }
      try writer.write(
        OutputRecord(
          path: entry.order.path, owner: entry.order.owner, bytes: entry.bytes, sha256: entry.sha256,
          media: entry.order.media, stamp: stamp, run: entry.order.run),
        folded: entry.folded, known: entry.known, isOurs: entry.isOurs)
    }
    if !entries.isEmpty { try writer.dropIntents(from: firstIntent) }
  }

  /// What became of each order, by its ticket.
  var outcomes: [(ticket: Int, outcome: Result<PublishedFile?, Fault>)] {
    entries.map { entry in
      if let fault = entry.fault { return (entry.ticket, .failure(fault)) }
      let file = PublishedFile(
        path: entry.order.path, bytes: entry.bytes, sha256: entry.sha256, media: entry.order.media,
        isWritten: entry.file != nil)
      return (entry.ticket, .success(file))
    }
  }

  /// Lets every file fail that has not failed yet.
  mutating func fail(with fault: Fault) {
    for place in entries.indices where entries[place].fault == nil { entries[place].fault = fault }
  }

  /// Removes the temporary files that nobody needs any more.
  ///
  /// Those are our own of what failed, and those whose bytes are in place already. One in whose place other bytes stay is
  /// its owner's as before.
  func removeLeftovers() {
    for entry in entries {
      if entry.fault != nil {
        if entry.isOwnFile && entry.stamp == nil { entry.file?.remove() }
      } else if entry.file == nil, case .file(let file) = entry.order.bytes, file.sha256 == entry.sha256 {
        file.remove()
      }
    }
  }

  private mutating func each(_ body: (inout Entry, FinishedFile) throws(Fault) -> Void) {
    for place in entries.indices {
      guard let file = entries[place].file, entries[place].fault == nil else { continue }
      do { try body(&entries[place], file) } catch { entries[place].fault = error }
    }
  }
}

extension PublishOrder {
  /// The digest of the bytes, where it is known without reading them.
  var knownDigest: Digest? {
    switch bytes {
    case .file(let file): file.sha256
    case .memory(let bytes): Digest.sha256(of: bytes)
    case .copy(_, _, let sha256): sha256
    }
  }
}
