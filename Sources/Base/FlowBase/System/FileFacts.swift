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
    modified = Int(status.st_mtim.tv_sec) * 1_000_000_000 + Int(status.st_mtim.tv_nsec)
    changed = Int(status.st_ctim.tv_sec) * 1_000_000_000 + Int(status.st_ctim.tv_nsec)
    inode = UInt64(status.st_ino)
    device = UInt64(status.st_dev)
    mode = Int(status.st_mode & 0o7777)
    owner = Int(status.st_uid)
  }
}
