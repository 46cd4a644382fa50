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

  init(in folder: TemporaryFolder) {
    self.folder = folder
    name = folder.makeName()
  }

  /// Its absolute path.
  public var path: String { folder.path(of: name) }

  /// Takes the next bytes.
  public func write(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
    let file = try opened()
    do { try unsafe file.write(bytes) } catch { throw error.fault("write", path) }
    unsafe digest.update(bytes)
    count += bytes.count
  }

  /// Takes the next bytes.
  public func write(_ bytes: [UInt8]) throws(Fault) {
    let file = try opened()
    do { try file.write(bytes) } catch { throw error.fault("write", path) }
    digest.update(bytes)
    count += bytes.count
  }

  /// Forgets what was written, for another try from the start.
  public func restart() throws(Fault) {
    _ = digest.finish()
    count = 0
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
    return FinishedFile(name: name, folder: folder, bytes: count, sha256: digest.finish())
  }

  /// Removes the file.
  public func abandon() {
    guard file != nil else { return }
    file = nil
    folder.remove(name)
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
  public func remove() { folder.remove(name) }
}
