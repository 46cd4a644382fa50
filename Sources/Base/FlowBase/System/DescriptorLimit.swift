internal import CPosix
internal import Glibc

/// How many files and connections this process can have open.
public enum DescriptorLimit {
  /// Raises the limit as far as the system lets a process raise its own.
  public static func raise() { _ = imgflow_descriptor_limit(1) }

  /// How many more can be opened.
  public static var left: Int {
    let limit = Int(imgflow_descriptor_limit(0))
    // The listing itself is open while it is read, beside `.` and `..`, which are left out.
    let open = (try? SmallFiles.names(in: "/proc/self/fd").count) ?? 32
    return max(0, limit - open)
  }

  /// How many transfers fit into what is left: each has a connection and a file, and others need some too.
  public static var roomForTransfers: Int { max(2, (left - 16) / 2) }
}
