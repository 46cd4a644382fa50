internal import CPosix
internal import Glibc

/// The names in a directory, handed out one by one, so that a million cost no more memory than ten.
///
/// Not Sendable: one thread at a time reads it.
@safe public final class DirectoryListing {
  /// A name in a directory.
  public struct Entry: Sendable, Hashable {
    /// The name.
    public var name: String
    /// What it stands for; links are not followed.
    public var kind: FileFacts.Kind
  }

  /// The directory itself, for calls that name what is in it.
  public let directory: Descriptor
  private let stream: OpaquePointer

  /// A listing of an open directory.
  public init(of directory: Descriptor) throws(Errno) {
    self.directory = directory
    // The stream owns and closes its descriptor, so it gets one of its own, with a place of its own.
    let own = try Errno.retry { unsafe Glibc.openat(directory.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard let stream = unsafe fdopendir(own) else {
      let failure = Errno.last
      close(own)
      throw failure
    }
    unsafe self.stream = stream
  }

  /// A listing of a directory by its path.
  public convenience init(of path: String) throws(Errno) {
    try self.init(of: FileSystem.open(path, [.read, .directory]))
  }

  deinit { unsafe closedir(stream) }

  /// The next name, in no order, without `.` and `..`; nil at the end.
  public func next() throws(Errno) -> Entry? {
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else {
        if errno == 0 { return nil }
        throw .last
      }
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
        unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name == "." || name == ".." { continue }
      let kind: FileFacts.Kind
      switch unsafe Int(entry.pointee.d_type) {
      case DT_REG: kind = .file
      case DT_DIR: kind = .directory
      case DT_LNK: kind = .link
      case DT_UNKNOWN: kind = try FileSystem.facts(name, in: directory, following: false).kind
      default: kind = .other
      }
      return Entry(name: name, kind: kind)
    }
  }
}

extension Descriptor {
  /// Whether an open directory, of which nothing has been read yet, has no names in it; hidden ones count.
  public func isEmptyDirectory() throws(Errno) -> Bool {
    // Room for `.` and `..` and a few more: one name that is neither is enough to know.
    var buffer = [UInt8](repeating: 0, count: 1024)
    while true {
      let count = try Errno.retry { unsafe imgflow_read_directory(number, &buffer, 1024) }
      if count == 0 { return true }
      var place = 0
      while place < Int(count) {
        // The layout of `struct linux_dirent64`: the record's length at byte 16, its name from byte 19 on.
        let length = Int(buffer[place + 16]) | Int(buffer[place + 17]) << 8
        let name = buffer[(place + 19)..<(place + length)].prefix { $0 != 0 }
        if !name.elementsEqual(".".utf8), !name.elementsEqual("..".utf8) { return false }
        place += length
      }
    }
  }
}
