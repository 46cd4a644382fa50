internal import FlowBase

/// The folders below the work directory of one process that its items write their outputs in.
///
/// Making and removing a folder costs more than all else that is said about an item, and most items that only set
/// fields write nothing. So a folder in which an item has left nothing is given to a later item of the same process;
/// every other folder is removed with all that is in it.
final class OutputFolders: Sendable {
  private struct State {
    /// Folders that wait for an item, each as it was when it was found empty.
    var free: [Free] = []
    var isClosed = false
  }

  private struct Free {
    var path: String
    var facts: FileFacts
    var isSettled: Bool
  }

  /// The times of files go on by some milliseconds at once on many systems: what changes twice within that looks as if
  /// it had changed once.
  private static let tick = 50_000_000

  private let workdir: String
  /// So many folders are kept at most: as many as items can be under way at once.
  private let most: Int
  private let state = Guarded(State())

  /// Folders below a work directory, which must be there.
  init(below workdir: String, most: Int) {
    self.workdir = workdir
    self.most = most
  }

  /// An empty folder that is nobody else's; where it must be made, it has the item's number for a name.
  func take(for id: Int) throws(Fault) -> OutputFolder {
    while let known = state.withLock({ $0.free.popLast() }) {
      // Nobody has touched it since: whatever is made or removed in it, and every change of its mode, would show here.
      if let facts = try? FileSystem.facts(known.path, following: false), facts == known.facts {
        return OutputFolder(path: known.path, facts: facts, isSettled: known.isSettled, folders: self)
      }
      try? FileSystem.removeTree(known.path)
    }
    let path = "\(workdir)/\(id)"
    let facts = try naming("make", path) { () throws(Errno) in
      do throws(Errno) { try FileSystem.makeDirectory(path, mode: 0o700) } catch {
        // The plugin has made something of this name, or removed the work directory.
        guard error == .exists || error == .noEntry else { throw error }
        try FileSystem.removeTree(path)
        try FileSystem.makeDirectories(path, mode: 0o700)
      }
      return try FileSystem.facts(path, following: false)
    }
    return OutputFolder(path: path, facts: facts, isSettled: false, folders: self)
  }

  /// Takes a folder back from which all that counts has been taken, to be used again where it is as good as new.
  func giveBack(_ folder: OutputFolder, mayReuse: Bool) {
    if mayReuse, let found = untouched(folder) ?? asNew(folder) {
      let isKept = state.withLock { state in
        guard !state.isClosed, state.free.count < most else { return false }
        state.free.append(found)
        return true
      }
      if isKept { return }
    }
    // Nearly always empty, and then one call is enough.
    do { try FileSystem.removeDirectory(folder.path) } catch { try? FileSystem.removeTree(folder.path) }
  }

  /// The folder as it was given out, if it was empty then and one look tells that nothing has happened to it since.
  private func untouched(_ folder: OutputFolder) -> Free? {
    guard folder.isSettled, (try? FileSystem.facts(folder.path, following: false)) == folder.facts else { return nil }
    return Free(path: folder.path, facts: folder.facts, isSettled: true)
  }

  /// What the folder is like now, if it is the one that was made, with the mode that it was given, and empty.
  ///
  /// Where its last change is long enough ago, every later one will show in its times.
  private func asNew(_ folder: OutputFolder) -> Free? {
    let now = SystemTime().wall().microseconds * 1000
    guard let directory = try? FileSystem.open(folder.path, [.read, .directory, .noFollow]),
      let facts = try? directory.facts(), facts.inode == folder.facts.inode, facts.device == folder.facts.device,
      facts.mode == folder.facts.mode, facts.owner == folder.facts.owner,
      (try? directory.isEmptyDirectory()) == true
    else { return nil }
    return Free(path: folder.path, facts: facts, isSettled: now - facts.changed > OutputFolders.tick)
  }

  /// The process has ended: what it had goes with its items.
  func close() {
    let free = state.withLock { state in
      state.isClosed = true
      defer { state.free = [] }
      return state.free
    }
    for folder in free { try? FileSystem.removeTree(folder.path) }
  }
}

/// The folder that one item writes its outputs in.
struct OutputFolder: Sendable {
  let path: String
  /// What it was like when it was given out.
  let facts: FileFacts
  /// Whether everything that happens to it shows in its facts.
  let isSettled: Bool
  let folders: OutputFolders

  /// Gives it back; it may be another item's after that only where this one has surely let go of it.
  func giveBack(mayReuse: Bool) { folders.giveBack(self, mayReuse: mayReuse) }
}
