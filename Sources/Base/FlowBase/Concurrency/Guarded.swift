internal import Glibc

/// A value behind a lock.
///
/// A `pthread_mutex_t` and not `Synchronization.Mutex`: the Thread Sanitizer understands it, and reports no false
/// races. Hold it only to decide, never while acting.
///
/// Both lie in one piece of memory of its own: the lock keeps others out, and need not be checked upon as what lies in an
/// object is with each access.
@safe public final class Guarded<Value>: @unchecked Sendable {
  @unsafe private struct Held {
    // First, so that its place is the memory's.
    var mutex = unsafe pthread_mutex_t()
    var value: Value
  }
  private let held: UnsafeMutablePointer<Held>
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  /// Puts a value behind a lock.
  public init(_ value: sending Value) {
    unsafe held = .allocate(capacity: 1)
    unsafe held.initialize(to: Held(value: value))
    unsafe mutex = UnsafeMutableRawPointer(held).assumingMemoryBound(to: pthread_mutex_t.self)
    unsafe pthread_mutex_init(mutex, nil)
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe held.deinitialize(count: 1)
    unsafe held.deallocate()
  }

  /// Looks at the value or changes it while nobody else can.
  public func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
    -> Result
  {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try unsafe body(&held.pointee.value)
  }
}
