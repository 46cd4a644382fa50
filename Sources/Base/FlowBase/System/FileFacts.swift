internal import CPosix
internal import Glibc

/// What the file system knows of a file; where all of it is unchanged, so is the content.
public struct FileFacts: Sendable, Hashable {
  /// What a name stands for.
  public enum Kind: UInt8, Sendable, Hashable {
    case file, directory, link, other
  }

  /// What it is.
  public var kind: Kind
  /// Its length in bytes.
  public var size: Int
  /// When its content was last changed, in nanoseconds since 1970.
  public var modified: Int
  /// When its facts were last changed, in nanoseconds since 1970.
  public var changed: Int
  /// Its number on its file system.
  public var inode: UInt64
  /// Its file system.
  public var device: UInt64
  /// Its permissions, the lowest 12 bits.
  public var mode: Int
  /// Who owns it.
  public var owner: Int

  init(_ status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .directory
      case S_IFLNK: .link
      default: .other
      }
    size = Int(status.st_size)
    modified = FileFacts.nanoseconds(status.st_mtim)
    changed = FileFacts.nanoseconds(status.st_ctim)
    inode = UInt64(status.st_ino)
    device = UInt64(status.st_dev)
    mode = Int(status.st_mode & 0o7777)
    owner = Int(status.st_uid)
  }

  /// A time in nanoseconds; of a file from beyond what these reach (1677 to 2262), the nearest that there is.
  private static func nanoseconds(_ time: timespec) -> Int {
    let seconds = min(max(Int(time.tv_sec), Int.min / 1_000_000_000 + 1), Int.max / 1_000_000_000 - 1)
    return seconds * 1_000_000_000 + Int(time.tv_nsec)
  }
}
