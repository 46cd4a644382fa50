public import FlowBase
internal import Synchronization

/// Where bytes lie until they are published: on the output's file system, under names that are nobody else's.
public final class TemporaryFolder: Sendable {
  /// Its absolute path.
  public let path: String
  /// The folder, opened.
  public let directory: Descriptor
  /// What the names of this state's files begin with; files of other states may lie beside them.
  let owner: String
  private let run: String
  private let isRemovedWhenEmpty: Bool
  private let counter = Atomic<Int>(0)

  /// Opens a folder, and makes it where it is missing.
  ///
  /// - Parameters:
  ///   - owner: what tells the files of this state from those of other states.
  ///   - isRemovedWhenEmpty: whether `close` removes the folder when nothing is left in it.
  public init(path: String, owner: String, isRemovedWhenEmpty: Bool) throws(Fault) {
    self.path = path
    self.owner = owner
    self.isRemovedWhenEmpty = isRemovedWhenEmpty
    run = Entropy.token(6)
    directory = try naming("open", path) { () throws(Errno) in
      try FileSystem.makeDirectories(path, mode: 0o700)
      return try FileSystem.open(path, [.read, .directory, .noFollow])
    }
  }

  /// A name that no other file has.
  func makeName() -> String {
    "\(owner)-\(run)-\(counter.wrappingAdd(1, ordering: .relaxed).newValue)"
  }

  /// The absolute path of a file in it.
  public func path(of name: String) -> String { path + "/" + name }

  /// Starts a new temporary file.
  public func makePartial() -> PartialFile { PartialFile(in: self) }

  /// A temporary file with the bytes of another, shared with it where the file system can.
  ///
  /// - Parameter isDurable: whether the bytes are on the disk when this returns.
  func copy(
    of path: String, bytes: Int, sha256: Digest, isDurable: Bool = false, mode: Int = 0o600
  ) throws(Fault) -> FinishedFile {
    let copy = FinishedFile(name: makeName(), folder: self, bytes: bytes, sha256: sha256)
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
    let listing = try naming("read", path) { () throws(Errno) in try DirectoryListing(of: directory) }
    while let entry = try naming("read", path, { () throws(Errno) in try listing.next() }) {
      guard entry.name.hasPrefix(owner + "-"), !entry.name.hasPrefix("\(owner)-\(run)-") else { continue }
      if try isKept(entry.name) { continue }
      remove(entry.name)
      removed += 1
    }
    return removed
  }

  /// Removes the folder if it was made for this run and nothing is left in it.
  public func close() {
    if isRemovedWhenEmpty { try? FileSystem.removeDirectory(path) }
  }
}
