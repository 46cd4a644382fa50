public import FlowBase
internal import Synchronization

/// Where bytes lie until they are published: on the output's file system, under names that are nobody else's.
public final class TemporaryFolder: Sendable {
  /// Its absolute path.
  public let path: String
  /// What the paths of files in it begin with.
  private let prefix: String
  /// The folder, opened.
  public let directory: Descriptor
  /// What the names of this state's files begin with; files of other states may lie beside them.
  let owner: String
  /// What the names of this run's files begin with.
  private let stem: String
  private let isRemovedWhenEmpty: Bool
  private let counter = Atomic<Int>(0)
  /// What earlier runs noted of files that they left unfinished, by the files' names.
  private let unfinished = Guarded<[String: String]>([:])
  private let held = Atomic<Int>(0)
  /// Who hashes and writes the bytes of long files.
  let crew: WriteCrew
  /// What hashes the bytes of shorter ones, where several come at once.
  let lanes = DigestLanes.ofThreads(2)

  /// Opens a folder, and makes it where it is missing.
  ///
  /// - Parameters:
  ///   - owner: what tells the files of this state from those of other states.
  ///   - isRemovedWhenEmpty: whether `close` removes the folder when nothing is left in it.
  public convenience init(path: String, owner: String, isRemovedWhenEmpty: Bool) throws(Fault) {
    try self.init(path: path, owner: owner, isRemovedWhenEmpty: isRemovedWhenEmpty, crew: WriteCrew())
  }

  init(path: String, owner: String, isRemovedWhenEmpty: Bool, crew: WriteCrew) throws(Fault) {
    self.crew = crew
    self.path = path
    prefix = path + "/"
    self.owner = owner
    self.isRemovedWhenEmpty = isRemovedWhenEmpty
    stem = "\(owner)-\(Entropy.token(6))-"
    directory = try naming("open", path) { () throws(Errno) in
      try FileSystem.makeDirectories(path, mode: 0o700)
      return try FileSystem.open(path, [.read, .directory, .noFollow])
    }
  }

  /// How many bytes the files hold that this run has made here, or taken up, and not moved away or removed.
  public var usedBytes: Int { held.load(ordering: .relaxed) }

  /// Counts bytes that have come, or that have gone.
  func count(_ bytes: Int) { held.wrappingAdd(bytes, ordering: .relaxed) }

  /// A name that no other file has.
  func makeName() -> String { stem + String(counter.wrappingAdd(1, ordering: .relaxed).newValue) }

  /// The absolute path of a file in it.
  public func path(of name: String) -> String { prefix + name }

  /// The name of a file in it, by its absolute path; nil where the file lies elsewhere.
  public func name(of path: String) -> String? {
    // By bytes: to find the place by characters would be to look at each of them.
    guard path.utf8.starts(with: prefix.utf8) else { return nil }
    return String(path[path.utf8.index(path.startIndex, offsetBy: prefix.utf8.count)...])
  }

  /// Starts a new temporary file.
  public func makePartial() -> PartialFile { PartialFile(in: self) }

  /// Starts what becomes a temporary file only where there is no room for it in memory.
  public func makePartial(room: any MemoryRoom) -> MemoryFirstFile { MemoryFirstFile(makePartial(), room: room) }

  /// A temporary file with the bytes of another, shared with it where the file system can.
  ///
  /// - Parameter isDurable: whether the bytes are on the disk when this returns.
  func copy(
    of path: String, bytes: Int, sha256: Digest, isDurable: Bool = false, mode: Int = 0o600
  ) throws(Fault) -> FinishedFile {
    let copy = FinishedFile(name: makeName(), folder: self, bytes: bytes, sha256: sha256)
    count(bytes)
    do throws(Fault) {
      let source = try naming("read", path) { () throws(Errno) in try FileSystem.open(path, .read) }
      try naming("write", copy.path) { () throws(Errno) in
        let target = try FileSystem.open(
          copy.name, [.write, .create, .exclusive, .noFollow], mode: 0o600, in: directory)
        try target.copy(from: source)
        if mode != 0o600 { try target.setMode(mode) }
        if isDurable { try target.sync() }
      }
      let size = try naming("look at", copy.path) { () throws(Errno) in
        try FileSystem.facts(copy.name, in: directory).size
      }
      guard size == bytes else {
        throw Fault("disk.io", .local, "\(path) was changed while it was copied: \(bytes) bytes became \(size)")
      }
    } catch {
      copy.remove()
      throw error
    }
    return copy
  }

  /// Whether a path lies in it: only this run changes what does.
  func holds(_ path: String) -> Bool { path.utf8.starts(with: prefix.utf8) }

  /// A file that an earlier run has kept, this run's from now on; nil where it is not there as it was.
  public func takeKept(_ name: String, bytes: Int, sha256: Digest) -> FinishedFile? {
    guard hasKept(name, bytes: bytes) else { return nil }
    count(bytes)
    return FinishedFile(name: name, folder: self, bytes: bytes, sha256: sha256)
  }

  /// Whether a file that an earlier run has kept is there, by its length.
  public func hasKept(_ name: String, bytes: Int) -> Bool {
    (try? FileSystem.facts(name, in: directory))?.size == bytes
  }

  /// Makes an empty folder in it; its absolute path.
  public func makeFolder() throws(Fault) -> String {
    let name = makeName()
    try naming("make the folder", path(of: name)) { () throws(Errno) in
      try FileSystem.makeDirectory(name, mode: 0o700, in: directory)
    }
    return path(of: name)
  }

  /// Removes a file, or a folder with all that is in it, whether it is still there or not.
  public func remove(_ name: String) {
    do { try FileSystem.remove(name, in: directory) } catch {
      if error == .isDirectory { try? FileSystem.removeTree(name, in: directory) }
    }
  }

  /// Removes the files of this state's earlier runs, but for those that are kept; says how many.
  ///
  /// Only for who holds the state's lock: then no other run of this state is alive.
  func sweep(keeping isKept: (String) throws(Fault) -> Bool) throws(Fault) -> Int {
    var removed = 0
    var names = Set<String>()
    let listing = try naming("read", path) { () throws(Errno) in try DirectoryListing(of: directory) }
    while let entry = try naming("read", path, { () throws(Errno) in try listing.next() }) {
      guard entry.name.hasPrefix(owner + "-"), !entry.name.hasPrefix(stem) else { continue }
      names.insert(entry.name)
    }
    for name in names where !name.hasSuffix(TemporaryFolder.noteSuffix) {
      if try isKept(name) { continue }
      if names.contains(name + TemporaryFolder.noteSuffix), let note = note(of: name) {
        unfinished.withLock { $0[name] = note }
        continue
      }
      remove(name)
      removed += 1
    }
    let kept = unfinished.withLock { $0 }
    for name in names where name.hasSuffix(TemporaryFolder.noteSuffix) {
      if kept[String(name.dropLast(TemporaryFolder.noteSuffix.count))] == nil { remove(name) }
    }
    return removed
  }

  // MARK: Unfinished files

  /// What the name of a note adds to that of its file.
  static let noteSuffix = ".note"
  private static let longestNote = 16 * 1024

  private func note(of name: String) -> String? {
    guard let bytes = try? SmallFiles.read(path(of: name + TemporaryFolder.noteSuffix), limit: Self.longestNote),
      !bytes.isEmpty
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether earlier runs left any file unfinished.
  public var hasUnfinished: Bool { unfinished.withLock { !$0.isEmpty } }

  /// A file that an earlier run left unfinished and whose note is the wanted one; it is read once, for its digest.
  public func takeUnfinished(where isWanted: (String) -> Bool) -> (file: PartialFile, note: String)? {
    let found = unfinished.withLock { unfinished -> (String, String)? in
      guard let entry = unfinished.first(where: { isWanted($0.value) }) else { return nil }
      unfinished[entry.key] = nil
      return (entry.key, entry.value)
    }
    guard let (name, note) = found else { return nil }
    do { return (try PartialFile(reopening: name, in: self), note) } catch {
      remove(name)
      remove(name + TemporaryFolder.noteSuffix)
      return nil
    }
  }

  /// Removes the folder if it was made for this run and nothing is left in it.
  ///
  /// What earlier runs left unfinished and this one did not want goes too.
  public func close() {
    for name in unfinished.withLock({ $0.keys }) {
      remove(name)
      remove(name + TemporaryFolder.noteSuffix)
    }
    if isRemovedWhenEmpty { try? FileSystem.removeDirectory(path) }
  }
}
