public import FlowBase
internal import Glibc

/// The built `imgflow`, called from a folder as a user calls it.
///
/// Each of its runs has its own streams and its own end; nothing of it outlives the test for long.
public struct Tool: Sendable {
  /// Where one of the program's standard streams leads to.
  public enum Target: Sendable, Hashable {
    /// Into the test, line by line.
    case captured
    /// To a file, which is opened for reading and writing.
    case file(String)
    /// To the writing end of a pipe whose reading end the test holds and never reads.
    case unread
    /// Nowhere: the descriptor is closed.
    case closed
  }

  /// What is started; a shell, where a whole line of it is tried.
  public var program = [Tool.path]
  /// The folder in which it starts.
  public var folder: String
  /// The variables that it gets; nothing else is handed on.
  public var environment: [String: String]
  /// Where its standard input comes from.
  public var input = Target.file("/dev/null")
  /// Where its data goes.
  public var output = Target.captured
  /// Where its words go.
  public var errors = Target.captured
  /// Files that are open from the start, by descriptor.
  public var files: [Int32: String] = [:]

  /// The program in a folder.
  public init(in folder: String, environment: [String: String] = [:]) {
    self.folder = folder
    // A program that is built with a sanitizer is told what the tests themselves are told.
    let sanitizers = ProcessFacts.environment.filter { $0.key.hasSuffix("SAN_OPTIONS") }
    self.environment = sanitizers.merging(["PATH": "/usr/bin:/bin", "HOME": folder]) { $1 }
      .merging(environment) { $1 }
  }

  /// The program's path: it is built beside the tests.
  public static var path: String {
    var own = [UInt8](repeating: 0, count: 4096)
    let count = unsafe own.withUnsafeMutableBytes { buffer in
      unsafe buffer.baseAddress.map { unsafe readlink("/proc/self/exe", $0, buffer.count) } ?? 0
    }
    return PathText.join(PathText.parent(of: String(decoding: own.prefix(max(0, count)), as: UTF8.self)), "imgflow")
  }

  /// Runs it to its end, for so long at most.
  public func run(_ words: String..., within limit: Interval = .seconds(40)) async throws(Fault) -> ToolEnd {
    try await start(words).end(within: limit)
  }

  /// Starts it.
  public func start(_ words: [String]) throws(Fault) -> ToolRun {
    let output = try Wire(self.output)
    let errors = try Wire(self.errors)
    let life = try Pipe()
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (number, target, wire) in [(Int32(1), self.output, output), (2, self.errors, errors)] {
      switch target {
      case .captured, .unread: unsafe posix_spawn_file_actions_adddup2(&actions, wire.pipe?.writing ?? -1, number)
      case .file(let path): unsafe posix_spawn_file_actions_addopen(&actions, number, path, O_RDWR | O_CREAT, 0o600)
      case .closed: break
      }
    }
    // The end of the process is the end of this pipe: nobody else ever holds its writing end.
    unsafe posix_spawn_file_actions_adddup2(&actions, life.writing, Tool.lifeNumber)
    // Descriptors that others of this process have opened meanwhile.
    for number in Int32(3)..<512 where number != Tool.lifeNumber {
      unsafe posix_spawn_file_actions_addclose(&actions, number)
    }
    if case .file(let path) = input { unsafe posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0) }
    for (number, path) in files {
      unsafe posix_spawn_file_actions_addopen(&actions, number, path, O_RDWR | O_CREAT, 0o600)
    }
    for (number, target) in [(Int32(0), input), (1, self.output), (2, self.errors)] where target == .closed {
      unsafe posix_spawn_file_actions_addclose(&actions, number)
    }
    let process = try unsafe spawn(["/usr/bin/env", "-C", folder] + program + words, &actions)
    output.pipe?.closeWriting()
    errors.pipe?.closeWriting()
    life.closeWriting()
    return ToolRun(process: process, output: output, errors: errors, life: life)
  }

  private static let lifeNumber: Int32 = 9
  private static let spawning = Guarded(())

  private func spawn(_ words: [String], _ actions: inout posix_spawn_file_actions_t) throws(Fault) -> pid_t {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] =
      unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
    defer {
      unsafe arguments.forEach { unsafe free($0) }
      unsafe variables.forEach { unsafe free($0) }
    }
    var child: pid_t = 0
    // Not while a pipe is made: it would be inherited.
    let result = Tool.spawning.withLock { _ in
      unsafe posix_spawn(&child, words[0], &actions, &attributes, &arguments, &variables)
    }
    guard result == 0 else { throw SystemFault.from(result, "cannot start \(words[0])") }
    return child
  }

  /// One of the program's streams, on the test's side.
  struct Wire {
    let pipe: Pipe?
    let lines = CapturedLines()

    init(_ target: Target) throws(Fault) {
      pipe = target == .captured || target == .unread ? try Pipe() : nil
      if target == .captured, let pipe {
        let lines = lines
        WorkerThread.start("capture") {
          while let bytes = pipe.read() { lines.add(bytes) }
          lines.end()
        }
      } else {
        lines.end()
      }
    }
  }

  /// A pipe whose ends no other program inherits.
  final class Pipe: Sendable {
    let reading: Int32
    let writing: Int32
    private let isWritable = Guarded(true)

    init() throws(Fault) {
      let made = Tool.spawning.withLock { _ -> [Int32]? in
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        return ends.map(Pipe.raised)
      }
      guard let made else { throw SystemFault.last("cannot make a pipe") }
      reading = made[0]
      writing = made[1]
    }

    deinit {
      closeWriting()
      close(reading)
    }

    /// The descriptor under a number that no stream of the program has, and that is closed in it.
    private static func raised(_ number: Int32) -> Int32 {
      let copy = fcntl(number, F_DUPFD, Tool.lifeNumber + 1)
      close(number)
      _ = fcntl(copy, F_SETFD, FD_CLOEXEC)
      return copy
    }

    func closeWriting() {
      let wasOpen = isWritable.withLock { flag in
        defer { flag = false }
        return flag
      }
      if wasOpen { close(writing) }
    }

    /// What has come; nil at the end.
    func read() -> [UInt8]? {
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = unsafe Glibc.read(reading, &bytes, bytes.count)
        if count > 0 { return Array(bytes[..<count]) }
        if count == 0 || errno != EINTR { return nil }
      }
    }

    /// Waits for the end of the other side; false where it does not come in time.
    func waitForEnd(_ limit: Interval) -> Bool {
      let due = SystemTime().now() + limit
      while true {
        let left = (due - SystemTime().now()).milliseconds
        guard left > 0 else { return false }
        var entry = pollfd(fd: reading, events: 0, revents: 0)
        if unsafe poll(&entry, 1, Int32(left) + 1) > 0 { return true }
      }
    }
  }
}

/// The program while it runs.
public final class ToolRun: Sendable {
  /// The lines of its standard output so far.
  public let output: CapturedLines
  /// The lines of its standard error so far.
  public let errors: CapturedLines
  private let process: pid_t
  private let wires: [Tool.Pipe]
  private let life: Tool.Pipe
  private let code = Guarded<Int?>(nil)

  init(process: pid_t, output: Tool.Wire, errors: Tool.Wire, life: Tool.Pipe) {
    self.process = process
    self.output = output.lines
    self.errors = errors.lines
    self.life = life
    wires = [output.pipe, errors.pipe].compactMap { $0 }
  }

  deinit { if code.withLock({ $0 }) == nil { _ = reap(within: .zero) } }

  /// Sends it a signal, unless it has ended and been seen to.
  public func signal(_ number: Int32) {
    code.withLock { code in
      if code == nil { kill(process, number) }
    }
  }

  /// Waits for its end; after so long it is killed, and its code is that of SIGKILL.
  public func end(within limit: Interval = .seconds(40)) async -> ToolEnd {
    let code = await onOwnThread { self.reap(within: limit) }
    return ToolEnd(code: code, output: await output.whole(), errors: await errors.whole())
  }

  private func reap(within limit: Interval) -> Int {
    let ended = life.waitForEnd(limit)
    return code.withLock { code in
      if let code { return code }
      if !ended { kill(process, SIGKILL) }
      var status: Int32 = 0
      while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
      let signal = Int(status & 0x7F)
      let result = signal == 0 ? Int(status >> 8 & 0xFF) : 128 + signal
      code = result
      return result
    }
  }

  private func onOwnThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      WorkerThread.start("wait") { continuation.resume(returning: body()) }
    }
  }
}

/// How the program ended, and what it said.
public struct ToolEnd: Sendable {
  /// The exit code, or 128 and the signal that ended it.
  public var code: Int
  /// What it wrote to standard output.
  public var output: String
  /// What it wrote to standard error.
  public var errors: String
}

/// What a program writes, line by line, as it comes.
public final class CapturedLines: Sendable {
  private struct Waiter {
    var isWanted: @Sendable (String) -> Bool
    var continuation: CheckedContinuation<String?, Never>
  }

  private struct State {
    var text = ""
    var torn: [UInt8] = []
    var isOver = false
    var waiters: [Waiter] = []
    var enders: [CheckedContinuation<Void, Never>] = []
    var watcher: (@Sendable (String) -> Void)?
  }

  private let state = Guarded(State())

  /// The lines so far.
  public var text: String { state.withLock { $0.text } }

  /// Is called with each line, those first that are there, and before those who wait for a line are told of it.
  ///
  /// What it is called with of the lines that are there, it is called with under their lock, so that no later one comes
  /// between: it asks nothing of these lines itself.
  public func watch(_ watcher: @escaping @Sendable (String) -> Void) {
    state.withLock { state in
      for line in state.text.split(separator: "\n") { watcher(String(line)) }
      state.watcher = watcher
    }
  }

  /// The first line, of those there are and those to come, that is wanted; nil where the stream ends before.
  public func line(where isWanted: @escaping @Sendable (String) -> Bool) async -> String? {
    await withCheckedContinuation { continuation in
      let (found, isOver) = state.withLock { state -> (String?, Bool) in
        let found = state.text.split(separator: "\n").map(String.init).first(where: isWanted)
        if found == nil, !state.isOver {
          state.waiters.append(Waiter(isWanted: isWanted, continuation: continuation))
          return (nil, false)
        }
        return (found, true)
      }
      if isOver { continuation.resume(returning: found) }
    }
  }

  /// Everything, once the stream has ended.
  public func whole() async -> String {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if !state.isOver { state.enders.append(continuation) }
        return state.isOver
      }
      if isOver { continuation.resume() }
    }
    return text
  }

  func add(_ bytes: [UInt8]) {
    var lines: [String] = []
    let watcher = state.withLock { state in
      state.torn += bytes
      while let end = state.torn.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: state.torn[..<end], as: UTF8.self)
        state.torn.removeFirst(end + 1)
        state.text += line + "\n"
        lines.append(line)
      }
      return state.watcher
    }
    for line in lines {
      watcher?(line)
      let served = state.withLock { state in
        let served = state.waiters.filter { $0.isWanted(line) }
        state.waiters.removeAll { $0.isWanted(line) }
        return served
      }
      for waiter in served { waiter.continuation.resume(returning: line) }
    }
  }

  func end() {
    let (waiters, enders) = state.withLock { state in
      state.text += String(decoding: state.torn, as: UTF8.self)
      state.torn = []
      state.isOver = true
      defer { (state.waiters, state.enders) = ([], []) }
      return (state.waiters, state.enders)
    }
    for waiter in waiters { waiter.continuation.resume(returning: nil) }
    for ender in enders { ender.resume() }
  }
}
