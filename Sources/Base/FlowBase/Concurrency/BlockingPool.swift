internal import CPosix
internal import Glibc

/// A thread of our own, outside of the cooperative pool, for a loop that waits.
public struct WorkerThread: Sendable {
  /// A thread that runs the body once; the name shows in debuggers and `top -H`.
  public static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let box = unsafe Unmanaged.passRetained(Body(name, body)).toOpaque()
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    unsafe pthread_attr_setstacksize(&attributes, 1 << 20)
    let code = unsafe pthread_create(
      &thread, &attributes,
      { context in
        if let context = unsafe context {
          let body = unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
          _ = unsafe imgflow_set_thread_name(body.name)
          body.run()
        }
        return nil
      }, box)
    unsafe pthread_attr_destroy(&attributes)
    if code != 0 {
      // No thread to be had: the work is done here, later, rather than not at all.
      let body = unsafe Unmanaged<Body>.fromOpaque(box).takeRetainedValue()
      body.run()
    }
  }

  private final class Body: Sendable {
    let name: String
    let run: @Sendable () -> Void
    init(_ name: String, _ run: @escaping @Sendable () -> Void) {
      // The kernel cuts thread names at 15 bytes and refuses longer ones.
      self.name = String(name.prefix(15))
      self.run = run
    }
  }
}

/// Threads for work that blocks: disk, hashing, pictures; tasks run on them by preference.
@safe public final class BlockingPool: TaskExecutor, @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let arrived: UnsafeMutablePointer<pthread_cond_t>
  private var jobs: [UnownedJob] = []
  private var head = 0
  private var isClosed = false
  /// How many threads wait for a job, and whether one of them has been woken and not run yet.
  private var idle = 0
  private var isWaking = false

  /// A pool of so many threads, which live until `close`.
  public init(name: String, threads: Int) {
    unsafe mutex = .allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
    unsafe arrived = .allocate(capacity: 1)
    unsafe pthread_cond_init(arrived, nil)
    for number in 0..<max(1, threads) {
      WorkerThread.start("\(name)-\(number)") { self.work() }
    }
  }

  deinit {
    unsafe pthread_cond_destroy(arrived)
    unsafe arrived.deallocate()
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// Takes a job.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    unsafe pthread_mutex_lock(mutex)
    jobs.append(job)
    let wakes = claimWake()
    unsafe pthread_mutex_unlock(mutex)
    if wakes { unsafe pthread_cond_signal(arrived) }
  }

  /// Whether to wake a thread: one at a time, since the woken one wakes the next if there is more than it can take.
  ///
  /// So a burst of short jobs is done by few threads, and a job that blocks still never holds up the others.
  private func claimWake() -> Bool {
    guard idle > 0, !isWaking, head < jobs.count else { return false }
    isWaking = true
    return true
  }

  /// Lets the threads end once no job is left.
  public func close() {
    unsafe pthread_mutex_lock(mutex)
    isClosed = true
    unsafe pthread_mutex_unlock(mutex)
    unsafe pthread_cond_broadcast(arrived)
  }

  private func work() {
    while true {
      unsafe pthread_mutex_lock(mutex)
      while head == jobs.count && !isClosed {
        idle += 1
        unsafe pthread_cond_wait(arrived, mutex)
        idle -= 1
        isWaking = false
      }
      guard head < jobs.count else {
        unsafe pthread_mutex_unlock(mutex)
        return
      }
      let job = jobs[head]
      head += 1
      if head > 1024 && head * 2 > jobs.count {
        jobs.removeFirst(head)
        head = 0
      }
      let wakes = claimWake()
      unsafe pthread_mutex_unlock(mutex)
      if wakes { unsafe pthread_cond_signal(arrived) }
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
