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
    // The job's task keeps the pool. Once it is there for the taking, both may end before anybody has been called.
    let own = unsafe Unmanaged.passRetained(self)
    defer { unsafe own.release() }
    unsafe pthread_mutex_lock(mutex)
    jobs.append(job)
    let call = claimCall()
    unsafe pthread_mutex_unlock(mutex)
    perform(call)
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

  private func perform(_ call: Call) {
    switch call {
    case .nobody: break
    case .sleeper: unsafe pthread_cond_signal(arrived)
    case .newcomer(let number):
      if WorkerThread.tryStart("\(name)-\(number)", { self.work() }) { break }
      // No thread to be had. Those that are there get to the job in the end; if there are none, it is done here.
      unsafe pthread_mutex_lock(mutex)
      isWaking = false
      threads -= 1
      let isAlone = threads == 0
      unsafe pthread_mutex_unlock(mutex)
      if isAlone { work(waits: false) }
    }
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
      let call = claimCall()
      unsafe pthread_mutex_unlock(mutex)
      perform(call)
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
