internal import CPosix
internal import Glibc

/// The calls by which files are opened, named and removed; paths are taken from `directory`, or from the process's own.
///
/// What is called for every item is given the text's own bytes by `withCString`: a text that is handed over as it is
/// would be copied for each call.
public enum FileSystem {
  /// How a file is opened.
  public struct OpenOptions: OptionSet, Sendable {
    /// The flags as the kernel has them.
    public let rawValue: Int32
    /// Options from flags.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// For reading.
    public static let read = OpenOptions(rawValue: O_RDONLY)
    /// For writing.
    public static let write = OpenOptions(rawValue: O_WRONLY)
    /// For both.
    public static let readWrite = OpenOptions(rawValue: O_RDWR)
    /// Made if it is missing.
    public static let create = OpenOptions(rawValue: O_CREAT)
    /// Together with `create`: must not be there yet.
    public static let exclusive = OpenOptions(rawValue: O_EXCL)
    /// Emptied first.
    public static let truncate = OpenOptions(rawValue: O_TRUNC)
    /// Every write goes to the end.
    public static let append = OpenOptions(rawValue: O_APPEND)
    /// A symbolic link in the last step is refused.
    public static let noFollow = OpenOptions(rawValue: O_NOFOLLOW)
    /// It must be a directory.
    public static let directory = OpenOptions(rawValue: O_DIRECTORY)
    /// Only a handle for calls that name things below it.
    public static let handle = OpenOptions(rawValue: 0o10000000)
    /// Does not wait for the other end of a pipe.
    public static let nonBlocking = OpenOptions(rawValue: O_NONBLOCK)
  }

  static func number(_ directory: Descriptor?) -> Int32 { directory?.number ?? AT_FDCWD }

  /// Opens a file; `mode` is what the umask is taken from when it is made.
  public static func open(
    _ path: String, _ options: OpenOptions, mode: Int = 0o666, in directory: Descriptor? = nil
  ) throws(Errno) -> Descriptor {
    Descriptor(
      try Errno.retry {
        unsafe path.withCString { unsafe imgflow_openat(number(directory), $0, options.rawValue, mode_t(mode)) }
      })
  }

  /// Opens a file that lies below a directory, without a link or `..` on the way; `noCall` where the kernel cannot.
  public static func openBeneath(
    _ path: String, _ options: OpenOptions, mode: Int = 0o666, in directory: Descriptor
  ) throws(Errno) -> Descriptor {
    Descriptor(
      try Errno.retry { unsafe imgflow_open_beneath(directory.number, path, options.rawValue, mode_t(mode)) })
  }

  /// Makes a directory; the umask is taken from the mode.
  public static func makeDirectory(_ path: String, mode: Int = 0o777, in directory: Descriptor? = nil) throws(Errno) {
    _ = try Errno.retry { unsafe mkdirat(number(directory), path, mode_t(mode)) }
  }

  /// Makes a directory and those above it; what is there already stays as it is.
  public static func makeDirectories(_ path: String, mode: Int = 0o777) throws(Errno) {
    do throws(Errno) {
      try makeDirectory(path, mode: mode)
    } catch {
      switch error {
      case .exists:
        guard try facts(path).kind == .directory else { throw .notDirectory }
      case .noEntry:
        let above = PathText.parent(of: path)
        guard above != path, !above.isEmpty else { throw error }
        try makeDirectories(above, mode: mode)
        do throws(Errno) { try makeDirectory(path, mode: mode) } catch { if error != .exists { throw error } }
      default: throw error
      }
    }
  }

  /// Gives a file another name, in one step; what had that name is replaced unless `replacing` is false.
  public static func rename(
    _ old: String, in oldDirectory: Descriptor? = nil, to new: String, in newDirectory: Descriptor? = nil,
    replacing: Bool = true
  ) throws(Errno) {
    _ = try Errno.retry {
      unsafe old.withCString { old in
        unsafe new.withCString { new in
          unsafe imgflow_rename(number(oldDirectory), old, number(newDirectory), new, replacing ? 0 : 1)
        }
      }
    }
  }

  /// Removes a name.
  public static func remove(_ path: String, in directory: Descriptor? = nil) throws(Errno) {
    _ = try Errno.retry { unsafe unlinkat(number(directory), path, 0) }
  }

  /// Removes an empty directory.
  public static func removeDirectory(_ path: String, in directory: Descriptor? = nil) throws(Errno) {
    _ = try Errno.retry { unsafe unlinkat(number(directory), path, AT_REMOVEDIR) }
  }

  /// Removes a directory with all that is in it; links in it are removed and not followed.
  public static func removeTree(_ path: String, in directory: Descriptor? = nil) throws(Errno) {
    do throws(Errno) {
      let listing = try DirectoryListing(
        of: open(path, [.read, .directory, .noFollow], in: directory))
      while let entry = try listing.next() {
        if entry.kind == .directory {
          try removeTree(entry.name, in: listing.directory)
        } else {
          try remove(entry.name, in: listing.directory)
        }
      }
    } catch {
      switch error {
      case .noEntry: return
      case .notDirectory, .loop: return try remove(path, in: directory)
      default: throw error
      }
    }
    try removeDirectory(path, in: directory)
  }

  /// What a name stands for; a symbolic link is followed unless told otherwise.
  public static func facts(
    _ path: String, in directory: Descriptor? = nil, following: Bool = true
  ) throws(Errno) -> FileFacts {
    var status = stat()
    _ = try Errno.retry {
      unsafe path.withCString { unsafe fstatat(number(directory), $0, &status, following ? 0 : AT_SYMLINK_NOFOLLOW) }
    }
    return FileFacts(status)
  }

  /// Sets the permissions of a file.
  public static func setMode(_ path: String, _ mode: Int, in directory: Descriptor? = nil) throws(Errno) {
    _ = try Errno.retry { unsafe path.withCString { unsafe fchmodat(number(directory), $0, mode_t(mode), 0) } }
  }

  /// Makes a symbolic link.
  public static func makeLink(_ path: String, to target: String, in directory: Descriptor? = nil) throws(Errno) {
    _ = try Errno.retry { unsafe symlinkat(target, number(directory), path) }
  }

  /// What a symbolic link leads to, as it is written in it.
  public static func target(ofLink path: String) throws(Errno) -> String {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = try Errno.retry {
      unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe bytes.baseAddress.map { unsafe readlink(path, $0, bytes.count) } ?? 0
      }
    }
    return String(decoding: buffer.prefix(count), as: UTF8.self)
  }

  /// Gives a file a second name; links are not followed.
  public static func link(_ path: String, as new: String, in directory: Descriptor? = nil) throws(Errno) {
    _ = try Errno.retry { unsafe linkat(AT_FDCWD, path, number(directory), new, 0) }
  }

  /// Sets the time of a file's last change to now, and makes an empty one where there is none.
  public static func touch(_ path: String) throws(Errno) {
    let file = try open(path, [.write, .create, .noFollow], mode: 0o600)
    // Given as numbers, since the kernel's own idea of now is some milliseconds old.
    let now = SystemTime().wall().microseconds
    let time = timespec(tv_sec: now / 1_000_000, tv_nsec: now % 1_000_000 * 1000)
    let times = [time, time]
    _ = try Errno.retry { unsafe futimens(file.number, times) }
  }

  /// How many bytes are free for this process on the file system of a path.
  public static func freeSpace(at path: String) throws(Errno) -> Int {
    var status = statvfs()
    _ = try Errno.retry { unsafe statvfs(path, &status) }
    return Int(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
  }
}

// MARK: Whole files

extension FileSystem {
  /// The content of a file, at most so many bytes of it.
  public static func read(_ path: String, limit: Int = .max) throws(Errno) -> [UInt8] {
    try open(path, .read).readAll(limit: limit)
  }

  /// Writes a file wholly or not at all: aside, then renamed.
  public static func replace(_ path: String, with content: [UInt8], mode: Int = 0o666) throws(Errno) {
    let aside = PathText.join(PathText.parent(of: path), ".\(Entropy.token(8)).part")
    do throws(Errno) {
      let file = try open(aside, [.write, .create, .exclusive, .noFollow], mode: mode)
      try file.write(content)
      try rename(aside, to: path)
    } catch {
      try? remove(aside)
      throw error
    }
  }
}
