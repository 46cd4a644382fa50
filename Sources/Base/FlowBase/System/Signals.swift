internal import Glibc

/// Signals as values: they are held back from all threads, and one thread waits for them.
public enum Signals {
  /// The signals that end a run, by their numbers: SIGHUP, SIGINT, SIGTERM.
  public static let ending: [Int] = [1, 2, 15]

  /// Holds the signals back in this thread and in all that it starts from now on; call it first of all in `main`.
  ///
  /// A write to a closed pipe becomes an error of the write rather than a death.
  public static func hold(_ numbers: [Int] = ending) {
    var set = held(numbers)
    _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    _ = signal(SIGPIPE, SIG_IGN)
  }

  /// Waits for the next of the signals and gives its number. Blocks the thread.
  public static func wait(for numbers: [Int] = ending) -> Int {
    var set = held(numbers)
    var number: Int32 = 0
    while unsafe sigwait(&set, &number) != 0 {}
    return Int(number)
  }

  /// Lets a signal have its usual effect on this program, which is then its end.
  public static func die(of number: Int) {
    var set = held([number])
    _ = signal(Int32(number), SIG_DFL)
    _ = unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    _ = raise(Int32(number))
  }

  private static func held(_ numbers: [Int]) -> sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in numbers { _ = unsafe sigaddset(&set, Int32(number)) }
    return set
  }
}
