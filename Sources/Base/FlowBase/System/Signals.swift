internal import CPosix
internal import Glibc
internal import Synchronization

/// Signals as values: a handler that only writes a byte, and a thread that reads it.
public enum Signals {
  /// The signals that end a run, by their numbers: SIGHUP, SIGINT, SIGTERM.
  public static let ending: [Int] = [1, 2, 15]

  /// Where the handler writes; -1 before `watch`.
  private static let pipe = Atomic<Int32>(-1)

  /// Calls the body, on a thread of its own, for each of these signals that comes from now on.
  ///
  /// The first call counts; the signals keep their usual effect where no pipe is to be had.
  public static func watch(_ numbers: [Int] = ending, _ body: @escaping @Sendable (Int) -> Void) {
    var ends: [Int32] = [-1, -1]
    guard pipe.load(ordering: .relaxed) < 0, unsafe imgflow_make_pipe(&ends) == 0 else { return }
    pipe.store(ends[1], ordering: .sequentiallyConsistent)
    let readEnd = ends[0]
    WorkerThread.start("signals") {
      var byte: UInt8 = 0
      while true {
        let count = unsafe read(readEnd, &byte, 1)
        if count == 1 { body(Int(byte)) } else if count == 0 || errno != EINTR { return }
      }
    }
    for number in numbers {
      signal(Int32(number)) { number in
        var byte = UInt8(truncatingIfNeeded: number)
        _ = unsafe write(Signals.pipe.load(ordering: .relaxed), &byte, 1)
      }
    }
  }
}
