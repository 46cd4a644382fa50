public import FlowBase

/// A temporary file that takes bytes as they come and knows their digest at the end.
///
/// It is made at its first byte, with mode 0600, and gone when it is abandoned. One thread at a time uses it, which is
/// also why it may be sent from one to another. Where it grows long in short pieces, other threads hash and write them.
public final class PartialFile: ByteSink, @unchecked Sendable {
  /// The file's name in its folder.
  public let name: String
  /// The folder in which it lies.
  public let folder: TemporaryFolder
  /// How many bytes it has taken.
  public private(set) var count = 0
  /// Most bodies stay in memory, and need none here.
  private lazy var digest = GatheredDigest(folder.lanes)
  private var file: Descriptor?
  /// What takes the bytes from some length on.
  private var behind: WriteBehind?
  private var hasNote = false
  /// How long a file must be to be worth another thread.
  static let longEnough = 1 << 20

  init(in folder: TemporaryFolder) {
    self.folder = folder
    name = folder.makeName()
  }

  /// Opens a file that an earlier run left, to go on behind its last byte; blocks while it is read.
  init(reopening name: String, in folder: TemporaryFolder) throws(Fault) {
    self.folder = folder
    self.name = name
    hasNote = true
    let path = folder.path(of: name)
    let (stream, directory) = (digest.settled(), folder.directory)
    let (opened, length) = try naming("read", path) { () throws(Errno) in
      let opened = try FileSystem.open(name, [.readWrite, .noFollow], in: directory)
      var length = 0
      while true {
        let piece = try opened.read(upTo: 1 << 20)
        if piece.isEmpty { break }
        stream.update(piece)
        length += piece.count
      }
      return (opened, length)
    }
    file = opened
    count = length
    folder.count(length)
  }

  /// Writes down what a later run needs to go on with this file, should this run not come to its end.
  public func remember(_ note: String) throws(Fault) {
    try SmallFiles.replace(path + TemporaryFolder.noteSuffix, Array(note.utf8), mode: 0o600)
    hasNote = true
  }

  /// Lets go of the file; what was noted of it is for a later run.
  public func leave() {
    guard hasNote else { return abandon() }
    // What cannot be written is missing at its end: the later run looks how long it is.
    try? drain()
    behind = nil
    file = nil
    digest.restart()
  }

  private func forget() {
    guard hasNote else { return }
    hasNote = false
    folder.remove(name + TemporaryFolder.noteSuffix)
  }

  /// Its absolute path.
  public var path: String { folder.path(of: name) }

  /// Takes the next bytes; throws where these, or some that it took before, cannot be written.
  public func write(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
    let file = try opened()
    if behind == nil, count >= PartialFile.longEnough, bytes.count < WriteCrew.chunk, folder.crew.isAny {
      behind = WriteBehind(file, path, digest.settled(), from: count, crew: folder.crew)
    }
    if let behind {
      do throws(Fault) { try unsafe behind.write(bytes) } catch { throw settle(error) }
    } else {
      do { try unsafe file.write(bytes) } catch { throw error.fault("write", path) }
      unsafe digest.update(bytes)
    }
    count += bytes.count
    folder.count(bytes.count)
  }

  /// Takes the next bytes.
  public func write(_ bytes: [UInt8]) throws(Fault) { try write(contentsOf: bytes) }

  /// Takes its first bytes, which a digest has taken that goes on with those that come.
  func begin(with bytes: [UInt8], _ digest: GatheredDigest) throws(Fault) {
    self.digest = digest
    let file = try opened()
    do { try file.write(bytes) } catch { throw error.fault("write", path) }
    count = bytes.count
    folder.count(count)
  }

  private func drain() throws(Fault) {
    guard let behind else { return }
    do throws(Fault) { try behind.drain() } catch { throw settle(error) }
  }

  /// Goes back to what has been written before a fault, so that the count is true.
  private func settle(_ fault: Fault) -> Fault {
    guard let behind else { return fault }
    behind.stop()
    self.behind = nil
    folder.count(behind.written - count)
    count = behind.written
    try? file?.truncate(to: count)
    try? file?.seek(to: count)
    return fault
  }

  /// Forgets what was written, for another try from the start.
  public func restart() throws(Fault) {
    behind?.stop()
    behind = nil
    digest.restart()
    folder.count(-count)
    count = 0
    forget()
    guard let file else { return }
    try naming("empty", path) { () throws(Errno) in
      try file.truncate(to: 0)
      try file.seek(to: 0)
    }
  }

  /// Ends the file: its length and digest are known, and nothing more may be written.
  public func finish() throws(Fault) -> FinishedFile {
    _ = try opened()
    try drain()
    behind = nil
    file = nil
    forget()
    return FinishedFile(name: name, folder: folder, bytes: count, sha256: digest.finish())
  }

  /// Removes the file.
  public func abandon() {
    guard file != nil else { return }
    behind?.stop()
    behind = nil
    file = nil
    digest.restart()
    folder.count(-count)
    folder.remove(name)
    forget()
  }

  private func opened() throws(Fault) -> Descriptor {
    if let file { return file }
    do {
      let made = try FileSystem.open(
        name, [.write, .create, .exclusive, .noFollow], mode: 0o600, in: folder.directory)
      file = made
      return made
    } catch { throw error.fault("create", path) }
  }
}

/// A temporary file that is whole: ready to be published, read, or removed.
public struct FinishedFile: Sendable {
  /// Its name in its folder.
  public var name: String
  /// The folder in which it lies.
  public var folder: TemporaryFolder
  /// How many bytes it holds.
  public var bytes: Int
  /// Their SHA-256.
  public var sha256: Digest

  /// A file in a folder for temporary files.
  public init(name: String, folder: TemporaryFolder, bytes: Int, sha256: Digest) {
    self.name = name
    self.folder = folder
    self.bytes = bytes
    self.sha256 = sha256
  }

  /// Its absolute path.
  public var path: String { folder.path(of: name) }
  /// Removes it.
  public func remove() {
    folder.count(-bytes)
    folder.remove(name)
  }
}
