internal import Glibc

/// Threads for work that blocks: disk, hashing, pictures; tasks run on them by preference.
@safe public final class BlockingPool: TaskExecutor, @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let arrived: UnsafeMutablePointer<pthread_cond_t>
  private var jobs: [UnownedJob] = []
  private var head = 0
  private var isClosed = false
  private let name: String
  private let most: Int
  /// How many threads there are, and how many of them wait for a job.
  private var threads = 0
  private var idle = 0
  /// Whether a thread has been woken or started that has not come to look for a job yet.
  private var isWaking = false

  /// A pool of at most so many threads: each is started when there is work for it, and lives until `close`.
  public init(name: String, threads: Int) {
    self.name = name
    most = max(1, threads)
    unsafe mutex = .allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
    unsafe arrived = .allocate(capacity: 1)
    unsafe pthread_cond_init(arrived, nil)
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
    callAndUnlock()
  }

  private enum Call { case nobody, sleeper, newcomer(Int) }

  /// Whom to call: one thread at a time, since who is called calls the next if there is more than it can take.
  ///
  /// So a burst of short jobs is done by few threads, and a job that blocks still never holds up the others.
  private func claimCall() -> Call {
    guard !isWaking, head < jobs.count, idle > 0 || threads < most else { return .nobody }
    isWaking = true
    if idle > 0 { return .sleeper }
    threads += 1
    return .newcomer(threads - 1)
  }

  /// Calls whoever is to be called, and lets go of the lock; then the pool may be gone.
  ///
  /// A job's task keeps the pool, and often nobody else does. Once the job can be taken, that task may end.
  private func callAndUnlock() {
    switch claimCall() {
    case .nobody: unsafe pthread_mutex_unlock(mutex)
    case .sleeper:
      unsafe pthread_cond_signal(arrived)
      unsafe pthread_mutex_unlock(mutex)
    case .newcomer(let number):
      let name = "\(name)-\(number)"
      let body: @Sendable () -> Void = { self.work() }
      unsafe pthread_mutex_unlock(mutex)
      withExtendedLifetime(body) { if !WorkerThread.tryStart(name, body) { goOnWithoutNewcomer() } }
    }
  }

  /// Where no thread is to be had, those that are there get to the job in the end.
  ///
  /// If there are none, it is done here.
  private func goOnWithoutNewcomer() {
    unsafe pthread_mutex_lock(mutex)
    isWaking = false
    threads -= 1
    let isAlone = threads == 0
    unsafe pthread_mutex_unlock(mutex)
    if isAlone { work(waits: false) }
  }

  /// Lets the threads end once no job is left.
  public func close() {
    unsafe pthread_mutex_lock(mutex)
    isClosed = true
    unsafe pthread_mutex_unlock(mutex)
    unsafe pthread_cond_broadcast(arrived)
  }

  private func work(waits: Bool = true) {
    var isNew = waits
    while true {
      unsafe pthread_mutex_lock(mutex)
      if isNew {
        isNew = false
        isWaking = false
      }
      while head == jobs.count && !isClosed && waits {
        idle += 1
        unsafe pthread_cond_wait(arrived, mutex)
        idle -= 1
        isWaking = false
      }
      guard head < jobs.count else {
        if waits { threads -= 1 }
        unsafe pthread_mutex_unlock(mutex)
        return
      }
      let job = jobs[head]
      head += 1
      if head > 1024 && head * 2 > jobs.count {
        jobs.removeFirst(head)
        head = 0
      }
      callAndUnlock()
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
