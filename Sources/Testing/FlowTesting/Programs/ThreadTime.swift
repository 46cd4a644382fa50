internal import Glibc

/// The time that the calling thread has computed, whatever else the machine was doing.
public enum ThreadTime {
  /// The reading now.
  public static var now: Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
