/// Tasks that are done by the thread that waits for them: the program's own.
///
/// Without it, what a command does between two waits is done by threads that the system makes for it, one after another.
public final class CallingThread: TaskExecutor {
  private enum Letter: Sendable { case job(UnownedJob), end }
  private let letters = Mailbox<Letter>()

  private init() {}

  /// Does all of the body on the calling thread, except what it lets others do, and gives its result.
  public static func run<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) -> Result {
    let thread = CallingThread()
    let outcome = Guarded<Result?>(nil)
    Task(executorPreference: thread) {
      let result = await body()
      outcome.withLock { $0 = result }
      thread.letters.postLast(.end)
    }
    var batch: [Letter] = []
    while true {
      if let result = outcome.withLock({ $0 }) { return result }
      thread.letters.take(into: &batch, until: nil)
      for case .job(let job) in batch { unsafe job.runSynchronously(on: thread.asUnownedTaskExecutor()) }
    }
  }

  /// Takes a job.
  ///
  /// The job's task keeps this thread, and nobody else does: once the job can be taken, all may end.
  public func enqueue(_ job: consuming ExecutorJob) { letters.postLast(.job(UnownedJob(job))) }
}
