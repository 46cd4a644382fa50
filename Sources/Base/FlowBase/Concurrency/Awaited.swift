internal import Glibc

/// A value behind a lock, and threads that wait for it to become what they need.
///
/// As with `Guarded`: hold it only to decide. Who changes the value wakes those for whom the change is.
@safe public final class Awaited<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>
  private var value: Value

  /// Puts a value behind a lock.
  public init(_ value: sending Value) {
    self.value = value
    unsafe mutex = .allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
    unsafe changed = .allocate(capacity: 1)
    // The monotonic clock, so that a clock that is set makes no wait longer or shorter.
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(changed, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(changed)
    unsafe changed.deallocate()
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// Looks at the value or changes it while nobody else can.
  public func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
    -> Result
  {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&value)
  }

  /// Asks the body now and after each time of being woken, until it gives something.
  ///
  /// Blocks the calling thread: never call it on the cooperative pool.
  public func wait<Result>(for body: (inout Value) -> Result?) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      unsafe pthread_cond_wait(changed, mutex)
    }
  }

  /// The same, at most until an instant; nil where the body gives nothing then either.
  ///
  /// Blocks the calling thread: never call it on the cooperative pool.
  public func wait<Result>(until deadline: Instant, for body: (inout Value) -> Result?) -> Result? {
    var limit = timespec(
      tv_sec: deadline.nanoseconds / 1_000_000_000, tv_nsec: deadline.nanoseconds % 1_000_000_000)
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      if unsafe pthread_cond_timedwait(changed, mutex, &limit) == ETIMEDOUT { return body(&value) }
    }
  }

  /// Wakes one of those that wait, if there are any.
  public func wakeOne() { unsafe pthread_cond_signal(changed) }
  /// Wakes all that wait.
  public func wakeAll() { unsafe pthread_cond_broadcast(changed) }
}
