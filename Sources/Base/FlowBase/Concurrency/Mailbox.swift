internal import Glibc

/// Letters from any thread, taken in batches by the one thread that owns the box.
@safe public final class Mailbox<Letter: Sendable>: Wakeable, @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let arrived: UnsafeMutablePointer<pthread_cond_t>
  private var letters: [Letter] = []

  /// An empty box.
  public init() {
    unsafe mutex = .allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
    unsafe arrived = .allocate(capacity: 1)
    // The monotonic clock, so that a clock that is set makes no wait longer or shorter.
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(arrived, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(arrived)
    unsafe arrived.deallocate()
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// Puts a letter into the box and wakes the owner if it waits.
  public func post(_ letter: Letter) {
    unsafe pthread_mutex_lock(mutex)
    letters.append(letter)
    let first = letters.count == 1
    unsafe pthread_mutex_unlock(mutex)
    if first { Wakes.wake(self) }
  }

  /// The same, where whoever takes the letter may end the box: it is not touched once the letter can be taken.
  ///
  /// The owner is woken at once, also by a thread that gathers its wakes.
  public func postLast(_ letter: Letter) {
    unsafe pthread_mutex_lock(mutex)
    letters.append(letter)
    unsafe pthread_cond_signal(arrived)
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Puts several letters into the box at once.
  public func post(contentsOf batch: [Letter]) {
    guard !batch.isEmpty else { return }
    unsafe pthread_mutex_lock(mutex)
    let first = letters.isEmpty
    letters.append(contentsOf: batch)
    unsafe pthread_mutex_unlock(mutex)
    if first { Wakes.wake(self) }
  }

  /// Wakes the owner if it waits.
  public func wake() { unsafe pthread_cond_signal(arrived) }

  /// Waits for a letter, at most until the given instant, and takes all that are there into `batch`.
  ///
  /// Blocks the calling thread: never call it on the cooperative pool.
  public func take(into batch: inout [Letter], until deadline: Instant?) {
    batch.removeAll(keepingCapacity: true)
    unsafe pthread_mutex_lock(mutex)
    while letters.isEmpty {
      guard let deadline else {
        unsafe pthread_cond_wait(arrived, mutex)
        continue
      }
      var limit = timespec(
        tv_sec: deadline.nanoseconds / 1_000_000_000, tv_nsec: deadline.nanoseconds % 1_000_000_000)
      if unsafe pthread_cond_timedwait(arrived, mutex, &limit) != 0 { break }
    }
    swap(&batch, &letters)
    unsafe pthread_mutex_unlock(mutex)
  }
}
