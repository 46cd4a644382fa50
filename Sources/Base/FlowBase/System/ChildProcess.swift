internal import CPosix
internal import Glibc

/// Another process of ours, at the other end of a socket.
///
/// It stands in a session of its own, so that keys pressed at a terminal reach us alone, and inherits nothing but the
/// socket, as its standard input, and our standard error where that is wanted.
public final class ChildProcess: Sendable {
  /// How a process has ended.
  public enum Ending: Sendable, Hashable {
    /// By itself, with this code.
    case exited(Int)
    /// By a signal.
    case signalled(Int)
    /// Nobody knows: it was taken away under our hands.
    case unknown

    /// The ending in words.
    public var words: String {
      switch self {
      case .exited(let code): "ended with exit code \(code)"
      case .signalled(let number): "was ended by \(SignalName.of(number))"
      case .unknown: "has ended"
      }
    }
  }

  /// The process's number.
  public let id: Int
  /// Our end of the socket.
  public let channel: FrameChannel
  private let ending = Guarded<Ending?>(nil)

  /// Starts a program.
  ///
  /// The thread that calls this should live as long as the process is wanted: a process that asks to die with its
  /// parent dies with that thread.
  public init(_ program: String, _ words: [String], environment: [String: String], keepsErrors: Bool) throws(Fault) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SystemFault.last("cannot make a socket pair") }
    let ours = Descriptor(ends[0])
    let theirs = Descriptor(ends[1])

    let nowhere: Descriptor
    do { nowhere = try FileSystem.open("/dev/null", [.write]) } catch { throw error.fault("open", "/dev/null") }
    let streams = [theirs.number, nowhere.number, keepsErrors ? 2 : nowhere.number]

    let variables = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe ([program] + words).map { unsafe strdup($0) } + [nil]
    var surroundings: [UnsafeMutablePointer<CChar>?] = unsafe variables.map { unsafe strdup($0) } + [nil]
    defer {
      unsafe arguments.forEach { unsafe free($0) }
      unsafe surroundings.forEach { unsafe free($0) }
    }
    var child: pid_t = 0
    let code = unsafe imgflow_spawn(&child, &arguments, &surroundings, nil, streams)
    guard code == 0 else { throw SystemFault.from(code, "cannot start \(program)") }
    id = Int(child)
    channel = FrameChannel(ours)
  }

  deinit {
    kill()
    _ = wait()
  }

  /// Ends it at once; nothing happens where it has ended already.
  public func kill() {
    // Under the lock, so that the number is still that of our process and nobody else's.
    ending.withLock { if $0 == nil { Glibc.kill(pid_t(id), SIGKILL) } }
  }

  /// Waits for its end, which must be near: it was killed, or has closed its end of the socket.
  @discardableResult
  public func wait() -> Ending {
    if let known = ending.withLock({ $0 }) { return known }
    var status: Int32 = 0
    // What waits holds no lock; the process stays a zombie until the second call, so its number stays its own.
    var facts = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(id), &facts, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
    return ending.withLock { ending in
      if let ending { return ending }
      var reaped: pid_t = 0
      repeat { reaped = unsafe waitpid(pid_t(id), &status, 0) } while reaped < 0 && errno == EINTR
      let signal = Int(status & 0x7F)
      let how: Ending =
        reaped != pid_t(id) ? .unknown : signal == 0 ? .exited(Int(status >> 8 & 0xFF)) : .signalled(signal)
      ending = how
      return how
    }
  }
}

/// What a process asks of the kernel for itself.
public enum OwnProcess {
  /// Dies at once when the thread that has started this process ends, or is dead already.
  public static func dieWithParent(_ parent: Int) {
    _ = imgflow_die_with_parent()
    if Int(getppid()) != parent { Glibc.exit(0) }
  }

  /// Bounds the memory that the process may have beside what it has now; allocations beyond that fail.
  public static func limitMemory(to bytes: Int) {
    var limit = rlimit()
    let total = UInt(clamping: usedMemory + bytes)
    limit.rlim_cur = total
    limit.rlim_max = total
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit)
  }

  /// Leaves no file behind where the process is ended by a fault of its own.
  public static func leaveNoCore() {
    var limit = rlimit()
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
  }

  /// How many bytes of private memory the process has asked for.
  private static var usedMemory: Int {
    guard let report = try? FileSystem.read("/proc/self/status", limit: 65536) else { return 0 }
    for line in report.split(separator: UInt8(ascii: "\n")) where line.starts(with: "VmData:".utf8) {
      let digits = line.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      return (Int(String(decoding: digits, as: UTF8.self)) ?? 0) * 1024
    }
    return 0
  }

  /// The path of the program that this process runs; nil where the system does not tell.
  public static var program: String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe bytes.baseAddress.map { unsafe readlink("/proc/self/exe", $0, bytes.count) } ?? -1
    }
    return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
  }

  /// How many processors this process may use.
  public static var processors: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

  /// Whether a file is there that can be run.
  public static func canRun(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 && !SmallFiles.isFolder(path) }
}

/// The names of signals.
enum SignalName {
  static func of(_ number: Int) -> String {
    let names = [
      4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM",
      24: "SIGXCPU", 31: "SIGSYS",
    ]
    return names[number] ?? "signal \(number)"
  }
}
