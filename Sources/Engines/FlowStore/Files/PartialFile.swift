public import FlowBase

/// A temporary file that takes bytes as they come and knows their digest at the end.
///
/// It is made at its first byte, with mode 0600, and gone when it is abandoned. One thread at a time uses it, which is
/// also why it may be sent from one to another.
public final class PartialFile: ByteSink, @unchecked Sendable {
  /// The file's name in its folder.
  public let name: String
  /// The folder in which it lies.
  public let folder: TemporaryFolder
  /// How many bytes it holds.
  public private(set) var count = 0
  private let digest = DigestStream(.sha256)
  private var file: Descriptor?
  private var hasNote = false

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
    let (digest, directory) = (digest, folder.directory)
    let (opened, length) = try naming("read", path) { () throws(Errno) in
      let opened = try FileSystem.open(name, [.readWrite, .noFollow], in: directory)
      var length = 0
      while true {
        let piece = try opened.read(upTo: 1 << 20)
        if piece.isEmpty { break }
        digest.update(piece)
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
    if hasNote { file = nil } else { abandon() }
  }

  private func forget() {
    guard hasNote else { return }
    hasNote = false
    folder.remove(name + TemporaryFolder.noteSuffix)
  }

  /// Its absolute path.
  public var path: String { folder.path(of: name) }

  /// Takes the next bytes.
  public func write(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
    let file = try opened()
    do { try unsafe file.write(bytes) } catch { throw error.fault("write", path) }
    unsafe digest.update(bytes)
    count += bytes.count
    folder.count(bytes.count)
  }

  /// Takes the next bytes.
  public func write(_ bytes: [UInt8]) throws(Fault) {
    let file = try opened()
    do { try file.write(bytes) } catch { throw error.fault("write", path) }
    digest.update(bytes)
    count += bytes.count
    folder.count(bytes.count)
  }

  /// Forgets what was written, for another try from the start.
  public func restart() throws(Fault) {
    _ = digest.finish()
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
    file = nil
    forget()
    return FinishedFile(name: name, folder: folder, bytes: count, sha256: digest.finish())
  }

  /// Removes the file.
  public func abandon() {
    guard file != nil else { return }
    file = nil
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
