public import FlowBase

/// What was removed from a content store, and what is left.
public struct ContentPruning: Sendable, Hashable {
  /// How many files went.
  public var removedFiles = 0
  /// How many bytes they held.
  public var removedBytes = 0
  /// How many files are left.
  public var leftFiles = 0
  /// How many bytes they hold.
  public var leftBytes = 0

  /// Nothing was removed.
  public init() {}
}

extension ContentStore {
  private struct Entry {
    var digest: Digest
    var bytes: Int
    var used: Int
  }

  /// Removes the files that were not needed for longest until the rest takes no more than so many bytes.
  ///
  /// - Parameter kept: the digests of files that stay in any case.
  public func prune(toBytes limit: Int, keeping kept: Set<Digest> = []) throws(Fault) -> ContentPruning {
    var pruning = ContentPruning()
    var entries = try self.entries()
    entries.sort { ($0.used, $0.digest.hex) < ($1.used, $1.digest.hex) }
    pruning.leftFiles = entries.count
    pruning.leftBytes = entries.reduce(0) { $0 + $1.bytes }
    for entry in entries where pruning.leftBytes > limit && !kept.contains(entry.digest) {
      let place = place(of: entry.digest)
      try naming("remove", place) { () throws(Errno) in
        do throws(Errno) { try FileSystem.remove(place) } catch { if error != .noEntry { throw error } }
      }
      try? FileSystem.remove(path + "/used/" + ContentStore.name(entry.digest))
      pruning.removedFiles += 1
      pruning.removedBytes += entry.bytes
      pruning.leftFiles -= 1
      pruning.leftBytes -= entry.bytes
    }
    return pruning
  }

  /// All files; what a crash has left aside goes.
  private func entries() throws(Fault) -> [Entry] {
    var entries: [Entry] = []
    let root = path + "/files"
    guard SmallFiles.isFolder(root) else { return [] }
    let now = SystemTime().wall()
    for folder in try SmallFiles.names(in: root) {
      if folder.hasSuffix(".part") {
        // Another program may be writing it just now, but not for a day.
        let file = root + "/" + folder
        if let facts = try? FileSystem.facts(file), facts.modified / 1000 < now.microseconds - 86_400_000_000 {
          try? FileSystem.remove(file)
        }
        continue
      }
      guard SmallFiles.isFolder(root + "/" + folder) else { continue }
      for name in try SmallFiles.names(in: root + "/" + folder) {
        guard let digest = Digest(.sha256, parsing: folder + name),
          let facts = try? FileSystem.facts(root + "/" + folder + "/" + name, following: false), facts.kind == .file
        else { continue }
        let used = try? FileSystem.facts(path + "/used/" + ContentStore.name(digest))
        entries.append(Entry(digest: digest, bytes: facts.size, used: used?.modified ?? facts.modified))
      }
    }
    return entries
  }
}
