internal import Glibc

/// A value behind a lock.
///
/// A `pthread_mutex_t` and not `Synchronization.Mutex`: the Thread Sanitizer understands it, and reports no false
/// races. Hold it only to decide, never while acting.
@safe public final class Guarded<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  /// Puts a value behind a lock.
  public init(_ value: sending Value) {
    self.value = value
    unsafe mutex = .allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
  }

  deinit {
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
}
