internal import CCrypto
internal import Glibc

/// What the process was started with.
public enum ProcessFacts {
  /// The environment's variables.
  public static var environment: [String: String] {
    var variables: [String: String] = [:]
    var entry = unsafe environ
    while let text = unsafe entry.pointee {
      let line = unsafe String(cString: text)
      if let equals = line.firstIndex(of: "=") {
        variables[String(line[..<equals])] = String(line[line.index(after: equals)...])
      }
      unsafe entry = unsafe entry.advanced(by: 1)
    }
    return variables
  }

  /// The working folder as an absolute path.
  public static var folder: String {
    guard let path = unsafe getcwd(nil, 0) else { return "." }
    defer { unsafe free(path) }
    return unsafe String(cString: path)
  }

  /// The absolute path of the program that this process runs.
  public static var program: String {
    (try? FileSystem.target(ofLink: "/proc/self/exe")) ?? ""
  }

  /// Goes to another folder.
  public static func changeFolder(to path: String) throws(Fault) {
    guard unsafe chdir(path) == 0 else { throw SystemFault.last("cannot go to the folder \(path)") }
  }

  /// The process's id.
  public static var id: Int { Int(getpid()) }

  /// Ends the process at once, with this exit code.
  public static func exit(_ code: Int) -> Never { Glibc.exit(Int32(truncatingIfNeeded: code)) }

  /// Lets libcrypto stay as it is when the process ends; before anything uses it.
  ///
  /// Its own end would take down what threads that still close their connections are using.
  public static func keepLibrariesToTheEnd() { _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) }

  /// How many bytes of memory this machine has, or the container that this process is in.
  public static var machineMemory: Int {
    var least = 1 << 40
    if let text = try? SmallFiles.read("/proc/meminfo", limit: 1 << 16),
      let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first(where: { $0.hasPrefix("MemTotal:") }
      ),
      let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    {
      least = kilobytes << 10
    }
    for path in ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"] {
      guard let text = try? SmallFiles.read(path, limit: 64) else { continue }
      let digits = text.prefix { $0 >= 0x30 && $0 <= 0x39 }
      if let bytes = Int(String(decoding: digits, as: UTF8.self)), bytes > 0 { least = min(least, bytes) }
    }
    return least
  }

  /// How many bytes of memory the processes of a group take together.
  public static func memory(ofGroup group: Int) -> Int {
    guard let folder = try? FileSystem.open("/proc", [.read, .directory]), let names = try? DirectoryListing(of: folder)
    else { return 0 }
    var pages = 0
    while let entry = try? names.next() {
      guard entry.name.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
        let facts = try? FileSystem.read("/proc/\(entry.name)/stat", limit: 4096),
        let end = facts.lastIndex(of: UInt8(ascii: ")"))
      else { continue }
      // Behind the name in brackets: state, parent, group, and as the 22nd the pages in memory.
      let words = facts[(end + 1)...].split(separator: 0x20)
      guard words.count > 21, Int(String(decoding: words[2], as: UTF8.self)) == group else { continue }
      pages += Int(String(decoding: words[21], as: UTF8.self)) ?? 0
    }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}
