internal import CPosix
internal import Glibc

/// A thread of our own, outside of the cooperative pool, for a loop that waits.
public struct WorkerThread: Sendable {
  private static let spares = SpareThreads()

  /// A thread that runs the body once; the name shows in debuggers and `top -H`.
  public static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
    // No thread to be had: the work is done here, later, rather than not at all.
    if !tryStart(name, body) { body() }
  }

  /// The same, and says whether there is a thread to be had; where there is none, the body does not run.
  public static func tryStart(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    let work = Work(name, body)
    return spares.take(work) || make(work)
  }

  /// Makes so many threads that wait for the next bodies, for a time when none can be made.
  ///
  /// That is so while a library is being loaded: the C library holds one lock over both, for milliseconds.
  public static func makeSpare(_ count: Int) { spares.make(count) }

  /// What a thread does.
  struct Work: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
      // The kernel cuts thread names at 15 bytes and refuses longer ones.
      self.name = String(name.prefix(15))
      self.body = body
    }

    func run() {
      _ = unsafe imgflow_set_thread_name(name)
      body()
    }
  }

  /// A new thread for this work; false where there is none to be had.
  static func make(_ work: Work) -> Bool {
    var thread = pthread_t()
    let box = unsafe Unmanaged.passRetained(Box(work)).toOpaque()
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    unsafe pthread_attr_setstacksize(&attributes, 1 << 20)
    let code = unsafe pthread_create(
      &thread, &attributes,
      { context in
        if let context = unsafe context { unsafe Unmanaged<Box>.fromOpaque(context).takeRetainedValue().work.run() }
        return nil
      }, box)
    unsafe pthread_attr_destroy(&attributes)
    if code != 0 { unsafe Unmanaged<Box>.fromOpaque(box).release() }
    return code == 0
  }

  private final class Box: Sendable {
    let work: Work
    init(_ work: Work) { self.work = work }
  }
}

/// Threads that were made before there is work for them, each for one piece of work.
final class SpareThreads: Sendable {
  private let waiting = Guarded<[Mailbox<WorkerThread.Work>]>([])

  /// How many wait.
  var count: Int { waiting.withLock { $0.count } }

  /// Makes so many, or as many as are to be had.
  func make(_ count: Int) {
    for _ in 0..<count {
      let seat = Mailbox<WorkerThread.Work>()
      let isMade = WorkerThread.make(
        WorkerThread.Work("spare") {
          var work: [WorkerThread.Work] = []
          seat.take(into: &work, until: nil)
          for piece in work { piece.run() }
        })
      guard isMade else { return }
      waiting.withLock { $0.append(seat) }
    }
  }

  /// Gives work to one of them, the one that was made first; false where none waits.
  func take(_ work: WorkerThread.Work) -> Bool {
    guard let seat = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
    seat.postLast(work)
    return true
  }
}
