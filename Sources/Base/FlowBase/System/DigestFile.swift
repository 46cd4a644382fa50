/// A new file that is hashed while it is written.
open class DigestFile: ByteSink, @unchecked Sendable {
  /// Where it is.
  public let path: String
  private let file: Descriptor
  private let digest = DigestStream(.sha256)
  /// How many bytes it holds.
  public private(set) var count = 0

  /// Makes the file; one that is there already is a fault.
  public init(_ path: String) throws(Fault) {
    self.path = path
    file = try naming("create", path) { () throws(Errno) in
      try FileSystem.open(path, [.write, .create, .exclusive], mode: 0o600)
    }
  }

  /// Adds bytes at its end.
  public func write(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
    do { try unsafe file.write(bytes) } catch { throw error.fault("write", path) }
    unsafe digest.update(bytes)
    count += bytes.count
  }

  /// Forgets what was written.
  public func restart() throws(Fault) {
    do throws(Errno) {
      try file.truncate(to: 0)
      try file.seek(to: 0)
    } catch {
      throw error.fault("truncate", path)
    }
    _ = digest.finish()
    count = 0
  }

  /// The digest of what was written; after that it begins anew.
  public func takeDigest() -> Digest { digest.finish() }
}
