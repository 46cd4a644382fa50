public import FlowBase

/// Files by the SHA-256 of their bytes, shared between projects and runs.
///
/// `files/ab/cdef…` holds the bytes, and the time of `used/ab/cdef…` says when they were needed last. Any number of
/// programs may use one store at once: files come in by renaming, and whoever takes one out looks at its bytes first,
/// so that a torn or altered file is as good as none.
public final class ContentStore: Sendable {
  /// The store's folder.
  public let path: String

  /// A store in a folder, which is made with its first file.
  public init(path: String) { self.path = path }

  /// Where the bytes of a digest lie, if they do.
  public func place(of digest: Digest) -> String { path + "/files/" + ContentStore.name(digest) }

  /// Whether there is a file for a digest; its bytes are not looked at.
  public func has(_ digest: Digest) -> Bool {
    guard let facts = try? FileSystem.facts(place(of: digest), following: false) else { return false }
    return facts.kind == .file
  }

  /// The size of the file of a digest whose bytes are right; one whose bytes are wrong is removed.
  ///
  /// Blocks the thread while it reads.
  public func check(_ digest: Digest) -> Int? {
    let place = place(of: digest)
    guard let facts = try? FileSystem.facts(place, following: false), facts.kind == .file,
      let actual = try? Digest(.sha256, ofFileAt: place)
    else { return nil }
    guard actual == digest else {
      try? FileSystem.remove(place)
      return nil
    }
    noteUse(of: digest)
    return facts.size
  }

  /// Takes a file in, shared with the original where the file system can; one that is there already, as long, stays.
  public func add(_ file: String, _ digest: Digest) throws(Fault) {
    let place = place(of: digest)
    // A shorter one was torn when the system went down.
    if let facts = try? FileSystem.facts(place, following: false), facts.kind == .file,
      facts.size == (try? FileSystem.facts(file, following: false))?.size
    {
      return noteUse(of: digest)
    }
    let aside = path + "/files/.\(Entropy.token(8)).part"
    try naming("make", PathText.parent(of: place)) { () throws(Errno) in
      try FileSystem.makeDirectories(PathText.parent(of: place), mode: 0o700)
    }
    do throws(Errno) {
      let source = try FileSystem.open(file, [.read, .noFollow])
      let target = try FileSystem.open(aside, [.write, .create, .exclusive, .noFollow], mode: 0o600)
      try target.copy(from: source)
      try FileSystem.rename(aside, to: place)
    } catch {
      try? FileSystem.remove(aside)
      throw error.fault("write", place)
    }
    noteUse(of: digest)
  }

  /// A temporary file with the bytes of a digest, by reflink, hard link or copy; nil where there is none.
  ///
  /// Blocks the thread: the bytes are looked at before they are given out.
  public func take(_ digest: Digest, into folder: TemporaryFolder) throws(Fault) -> FinishedFile? {
    guard let bytes = check(digest) else { return nil }
    return try folder.share(place(of: digest), bytes: bytes, sha256: digest)
  }

  private func noteUse(of digest: Digest) {
    let mark = path + "/used/" + ContentStore.name(digest)
    do throws(Errno) { try FileSystem.touch(mark) } catch {
      try? FileSystem.makeDirectories(PathText.parent(of: mark), mode: 0o700)
      try? FileSystem.touch(mark)
    }
  }

  static func name(_ digest: Digest) -> String {
    let hex = digest.hex
    return hex.prefix(2) + "/" + hex.dropFirst(2)
  }
}

extension TemporaryFolder {
  /// A temporary file that shares its bytes with a file that nobody changes in place.
  func share(_ path: String, bytes: Int, sha256: Digest) throws(Fault) -> FinishedFile {
    let shared = FinishedFile(name: makeName(), folder: self, bytes: bytes, sha256: sha256)
    count(bytes)
    do throws(Errno) {
      let source = try FileSystem.open(path, [.read, .noFollow])
      let target = try FileSystem.open(
        shared.name, [.write, .create, .exclusive, .noFollow], mode: 0o600, in: directory)
      if target.clone(source) { return shared }
      try FileSystem.remove(shared.name, in: directory)
      try FileSystem.link(path, as: shared.name, in: directory)
      return shared
    } catch {
      // Another file system, or one without links.
      shared.remove()
      return try copy(of: path, bytes: bytes, sha256: sha256)
    }
  }
}
