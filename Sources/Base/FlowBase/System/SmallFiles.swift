internal import CPosix
internal import Glibc

/// Files small enough to be held in memory: manifests, schemas, scripts.
public enum SmallFiles {
  /// The bytes of a file, at most so many.
  public static func read(_ path: String, limit: Int = .max) throws(Fault) -> [UInt8] {
    let descriptor = unsafe imgflow_open(path, O_RDONLY, 0)
    guard descriptor >= 0 else { throw SystemFault.last("cannot open \(path)") }
    defer { close(descriptor) }
    return try Streams.readToEnd(descriptor, named: path, limit: limit)
  }

  /// Writes a new file; one that is there already is a fault (`disk.exists`) and stays untouched.
  public static func create(_ path: String, _ bytes: [UInt8], mode: Int = 0o666) throws(Fault) {
    try write(path, bytes, flags: O_WRONLY | O_CREAT | O_EXCL, mode: mode)
  }

  /// Writes a file; what was there before is gone.
  public static func replace(_ path: String, _ bytes: [UInt8], mode: Int = 0o666) throws(Fault) {
    try write(path, bytes, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: mode)
  }

  /// Whether there is something under this path, links followed.
  public static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// Whether there is a folder under this path, links followed.
  public static func isFolder(_ path: String) -> Bool {
    var facts = stat()
    return unsafe stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
  }

  /// Makes a folder with all that lead to it; one that is there is fine.
  public static func makeFolder(_ path: String, mode: Int = 0o777) throws(Fault) {
    var made = path.hasPrefix("/") ? "/" : ""
    for part in path.split(separator: "/") {
      if !made.isEmpty && made != "/" { made += "/" }
      made.append(contentsOf: part)
      if unsafe mkdir(made, mode_t(mode)) != 0 && errno != EEXIST {
        throw SystemFault.last("cannot make the folder \(made)")
      }
    }
  }

  /// The names in a folder, without `.` and `..`, sorted.
  public static func names(in folder: String) throws(Fault) -> [String] {
    guard let handle = unsafe opendir(folder) else { throw SystemFault.last("cannot list \(folder)") }
    defer { unsafe closedir(handle) }
    var names: [String] = []
    while let entry = unsafe readdir(handle) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
        unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  private static func write(_ path: String, _ bytes: [UInt8], flags: Int32, mode: Int) throws(Fault) {
    let descriptor = unsafe imgflow_open(path, flags, mode_t(mode))
    guard descriptor >= 0 else { throw SystemFault.last("cannot write \(path)") }
    let isWritten = Streams.write(bytes, to: descriptor)
    let number = errno
    close(descriptor)
    guard isWritten else { throw SystemFault.from(number, "cannot write \(path)") }
  }
}
