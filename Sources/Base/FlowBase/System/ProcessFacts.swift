internal import CCrypto
internal import CPosix
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

  /// The processor's time that this process has used so far.
  public static var processorTime: Interval { processorTime(RUSAGE_SELF.rawValue) }
  /// The processor's time that the programs have used which it has started and waited for.
  public static var processorTimeOfEnded: Interval { processorTime(RUSAGE_CHILDREN.rawValue) }

  private static func processorTime(_ who: __rusage_who_t) -> Interval {
    var usage = rusage()
    guard unsafe getrusage(who, &usage) == 0 else { return .zero }
    let (user, system) = (usage.ru_utime, usage.ru_stime)
    return Interval(
      nanoseconds: (user.tv_sec + system.tv_sec) * 1_000_000_000 + Int(user.tv_usec + system.tv_usec) * 1000)
  }

  /// How many bytes of memory this machine has, or the container that this process is in.
  public static var machineMemory: Int {
    let pages = sysconf(Int32(_SC_PHYS_PAGES))
    var least = pages > 0 ? pages * sysconf(Int32(_SC_PAGESIZE)) : 1 << 40
    for path in ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"] {
      guard let text = try? SmallFiles.read(path, limit: 64) else { continue }
      let digits = text.prefix { $0 >= 0x30 && $0 <= 0x39 }
      if let bytes = Int(String(decoding: digits, as: UTF8.self)), bytes > 0 { least = min(least, bytes) }
    }
    return least
  }

  /// Ends every process that was started with a variable of this value, by SIGKILL.
  ///
  /// For what a program leaves behind that has gone into a session of its own, where no signal to its group reaches it.
  public static func endAll(withVariable name: String, value: String) {
    let entry = Array("\(name)=\(value)".utf8)
    // Who is found while it starts another may leave that one behind: until a look finds nobody.
    for _ in 0..<8 {
      var found = 0
      guard let folder = try? FileSystem.open("/proc", [.read, .directory]),
        let names = try? DirectoryListing(of: folder)
      else { return }
      while let process = (try? names.next())?.name {
        guard let id = Int32(process), id != getpid() else { continue }
        // Held before it is looked at, so that no other can get its number meanwhile.
        let held = Descriptor(imgflow_process_descriptor(id))
        guard held.number >= 0, let variables = try? FileSystem.read("/proc/\(id)/environ", limit: 1 << 20),
          variables.split(separator: 0).contains(where: { $0.elementsEqual(entry) })
        else { continue }
        found += 1
        _ = imgflow_signal_process(held.number, SIGKILL)
      }
      if found == 0 { return }
    }
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
