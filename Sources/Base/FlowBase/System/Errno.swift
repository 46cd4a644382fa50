internal import CPosix
internal import Glibc

/// The number with which a system call failed, and what it means to people.
public struct Errno: Error, Sendable, Hashable {
  /// The number as the C library has it.
  public let number: Int32

  /// A failure by its number.
  public init(_ number: Int32) { self.number = number }

  /// The failure of the call that has just returned on this thread.
  static var last: Errno { Errno(errno) }

  /// Nothing has this name.
  public static let noEntry = Errno(ENOENT)
  /// Something has this name already.
  public static let exists = Errno(EEXIST)
  /// A step of the path is no directory.
  public static let notDirectory = Errno(ENOTDIR)
  /// The name is that of a directory.
  public static let isDirectory = Errno(EISDIR)
  /// A directory still holds something.
  public static let notEmpty = Errno(ENOTEMPTY)
  /// A symbolic link stands where none may be followed.
  public static let loop = Errno(ELOOP)
  /// Two names lie on different file systems.
  public static let crossDevice = Errno(EXDEV)
  /// The kernel lacks the call.
  public static let noCall = Errno(ENOSYS)
  /// The file system lacks the operation.
  public static let notSupported = Errno(EOPNOTSUPP)
  /// An argument does not fit.
  public static let invalid = Errno(EINVAL)
  /// It would have to wait.
  public static let wouldBlock = Errno(EAGAIN)
  /// A name is longer than the file system takes.
  public static let nameTooLong = Errno(ENAMETOOLONG)
  /// This process has as many files open as it may.
  public static let tooManyFiles = Errno(EMFILE)
  /// The machine has as many files open as it can.
  public static let tooManyFilesInSystem = Errno(ENFILE)
  /// Nobody listens.
  public static let refused = Errno(ECONNREFUSED)
  /// The call is not permitted.
  public static let notPermitted = Errno(EPERM)
  /// The other end is gone.
  public static let brokenPipe = Errno(EPIPE)

  /// What the C library says of it, such as `No such file or directory`.
  public var words: String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
  }

  /// The fault that it stands for, when `action` (as "write", "create") was tried on a path.
  public func fault(_ action: String, _ path: String) -> Fault { fault("cannot \(action) \(path)") }

  /// The fault that it stands for, behind words that say what was tried.
  public func fault(_ doing: String) -> Fault {
    switch number {
    case ENOSPC, EDQUOT: Fault("disk.full", .local, "\(doing): \(words); free some space and run again")
    case EACCES, EPERM: Fault("disk.denied", .local, "\(doing): \(words); change its owner or mode")
    case EROFS: Fault("disk.denied", .local, "\(doing): \(words); name a place that can be written")
    case ENOENT, ENOTDIR: Fault("disk.missing", .local, "\(doing): \(words)")
    case EEXIST: Fault("disk.exists", .local, "\(doing): \(words)")
    case EMFILE, ENFILE: Fault("disk.handles", .transient, "\(doing): \(words); `ulimit -n` allows too few")
    case ENAMETOOLONG:
      Fault("path.too_long", .permanent, "\(doing): the name is longer than the file system takes")
    default: Fault("disk.io", .local, "\(doing): \(words)")
    }
  }

  /// Runs a call again for as long as a signal interrupts it, and throws what else it fails with.
  @inline(__always)
  static func retry<Number: FixedWidthInteger>(_ call: () -> Number) throws(Errno) -> Number {
    while true {
      let result = call()
      if result != -1 { return result }
      if errno != EINTR { throw last }
    }
  }
}

/// Does something to a path; a system call that fails in it becomes a fault that names both.
public func naming<Result>(
  _ action: String, _ path: @autoclosure () -> String, _ body: () throws(Errno) -> Result
) throws(Fault) -> Result {
  do { return try body() } catch { throw error.fault(action, path()) }
}
