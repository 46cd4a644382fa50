internal import CPosix
internal import Glibc

/// The one thread on which all programs that work for us are started, heard and waited for.
///
/// What is posted to it runs there, one piece after the other, and must not wait. The thread lives as long as the
/// process, so that programs which are to die with the thread that started them die with the process.
public final class ProgramLoop: Sendable, Wakeable {
  /// The loop of this process; its thread starts with the first use.
  public static let shared = ProgramLoop()

  private struct Posted {
    var work: [@Sendable () -> Void] = []
    var timers: [(due: Instant, work: @Sendable () -> Void)] = []
    var isAsleep = false
  }

  private let posted = Guarded(Posted())
  private let bell: Int32
  private let clock = SystemTime()

  private init() {
    bell = imgflow_make_event()
    WorkerThread.start("programs") { [self] in run() }
  }

  /// Does something on the loop's thread.
  public func post(_ work: @escaping @Sendable () -> Void) {
    let wakes = posted.withLock { posted in
      posted.work.append(work)
      defer { posted.isAsleep = false }
      return posted.isAsleep
    }
    if wakes { Wakes.wake(self) }
  }

  /// Does something on the loop's thread when an instant has come.
  public func post(at due: Instant, _ work: @escaping @Sendable () -> Void) {
    let wakes = posted.withLock { posted in
      posted.timers.append((due, work))
      defer { posted.isAsleep = false }
      return posted.isAsleep
    }
    if wakes { Wakes.wake(self) }
  }

  /// Starts a program; `hear` is called on the loop's thread, at last with its end.
  public func start(_ order: ProgramOrder, hear: @escaping @Sendable (ProgramNews) -> Void) -> RunningProgram {
    let program = RunningProgram(self, hear)
    post {
      program.start(order)
      if program.isRunning { self.programs.withLock { $0.append(program) } }
    }
    return program
  }

  /// Only the loop's thread takes from it; others may add.
  private let programs = Guarded<[RunningProgram]>([])

  /// Lets the thread look at what has been posted.
  public func wake() {
    var one: UInt64 = 1
    _ = unsafe write(bell, &one, 8)
  }

  // MARK: The thread

  private func run() {
    // A program that reads no more makes a write fail, and not this process end.
    var pipes = sigset_t()
    unsafe sigemptyset(&pipes)
    unsafe sigaddset(&pipes, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &pipes, nil)
    var entries: [pollfd] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      Wakes.together(workOff)
      let running = programs.withLock { programs in
        programs.removeAll { !$0.isRunning }
        return programs
      }
      entries.removeAll(keepingCapacity: true)
      entries.append(pollfd(fd: bell, events: Int16(POLLIN), revents: 0))
      for program in running { program.add(to: &entries) }
      let wait = prepareSleep()
      if unsafe poll(&entries, nfds_t(entries.count), wait) > 0 {
        if entries[0].revents != 0 {
          var count: UInt64 = 0
          _ = unsafe read(bell, &count, 8)
        }
        var place = 1
        Wakes.together { for program in running { program.serve(entries, from: &place, &buffer) } }
      }
      posted.withLock { $0.isAsleep = false }
    }
  }

  /// Does what has been posted, and what follows from it: so that what many pieces have to say goes out in one go.
  private func workOff() {
    for _ in 0..<4 {
      let due = takeDue()
      if due.isEmpty { return }
      for work in due { work() }
    }
  }

  private func takeDue() -> [@Sendable () -> Void] {
    let now = clock.now()
    return posted.withLock { posted in
      var due = posted.work
      posted.work = []
      if posted.timers.contains(where: { $0.due <= now }) {
        due += posted.timers.filter { $0.due <= now }.sorted { $0.due < $1.due }.map(\.work)
        posted.timers.removeAll { $0.due <= now }
      }
      return due
    }
  }

  /// How many milliseconds to sleep at most; from now on the bell is rung for what is posted.
  private func prepareSleep() -> Int32 {
    let now = clock.now()
    return posted.withLock { posted in
      guard posted.work.isEmpty else { return 0 }
      posted.isAsleep = true
      guard let next = posted.timers.map(\.due).min() else { return -1 }
      return Int32(clamping: max(0, (next - now).nanoseconds + 999_999) / 1_000_000)
    }
  }
}
