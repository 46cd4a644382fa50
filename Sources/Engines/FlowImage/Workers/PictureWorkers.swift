public import FlowBase

/// Does picture jobs in processes of their own, so that a picture that brings its decoder down costs itself alone.
///
/// A job that crashes, hangs or wants too much memory ends its process; the next job gets a new one.
public final class PictureWorkers: Sendable {
  /// What a job may use.
  public struct Limits: Sendable, Hashable {
    /// The time for one job.
    public var time: Interval = .seconds(120)
    /// The memory of one process, beside what it needs to be there at all.
    public var memory = 2 << 30
    /// After so many jobs a process is replaced, whatever its libraries have forgotten to give back.
    public var jobs = 5000

    /// The usual ones.
    public init() {}
  }

  private let pool: BlockingPool
  private let program: String?
  private let limits: Limits
  private let idle = Guarded<[Worker]>([])
  private let begun = Guarded(0)

  /// How many jobs have been begun.
  public var jobCount: Int { begun.withLock { $0 } }

  /// Workers, so many at most at the same time; without a program the jobs are done in this process.
  public init(count: Int, program: String? = PictureProgram.find(), limits: Limits = Limits()) {
    // The threads start the processes and live as long as this object does: a process dies with its thread.
    pool = BlockingPool(name: "pictures", threads: count)
    self.program = program
    self.limits = limits
  }

  deinit { pool.close() }

  /// Whether jobs are done in other processes.
  public var isApart: Bool { program != nil }

  /// Does a job, when one of the workers is free.
  public func perform(_ job: PictureJob) async throws(Fault) -> PictureReply { try await perform { job } }

  /// Does a job that is asked for only when a worker is free for it.
  public func perform(making job: @escaping @Sendable () -> PictureJob) async throws(Fault) -> PictureReply {
    let order = Order()
    let reply = await withTaskCancellationHandler {
      await withTaskExecutorPreference(pool) { await self.serve(job, order) }
    } onCancel: {
      order.cancel()
    }
    if case .fault(let fault) = reply { throw fault }
    return reply
  }

  /// Leaves the caller's executor for the pool's threads, which may wait.
  @concurrent
  private func serve(_ job: @Sendable () -> PictureJob, _ order: Order) async -> PictureReply {
    if order.isCancelled { return .fault(Fault(CancellationError())) }
    let job = job()
    begun.withLock { $0 += 1 }
    guard let program else { return PictureEngine.perform(job) }
    do throws(Fault) {
      let known = idle.withLock { $0.popLast() }
      if let known {
        if let reply = try ask(known, job, order, isLast: false) { return reply }
        // It had done other jobs before, and may have died of one of those.
      }
      if order.isCancelled { return .fault(Fault(CancellationError())) }
      let fresh = try Worker(program, limits)
      return try ask(fresh, job, order, isLast: true) ?? .fault(.internal("picture", "a worker gave no answer"))
    } catch {
      return .fault(error)
    }
  }

  /// The worker's answer; nil where it has died and another may be asked.
  private func ask(_ worker: Worker, _ job: PictureJob, _ order: Order, isLast: Bool) throws(Fault) -> PictureReply? {
    guard order.begin(worker) else { throw Fault(CancellationError()) }
    defer { order.end() }
    let deadline = SystemTime().now() + limits.time
    do throws(FrameChannel.Failure) {
      try worker.process.channel.send(job.message, until: deadline)
      let message = try worker.process.channel.receive(until: deadline)
      guard let reply = try? PictureReply(message: message) else { throw .garbled }
      worker.jobs += 1
      if worker.jobs < limits.jobs { idle.withLock { $0.append(worker) } }
      return reply
    } catch {
      worker.process.kill()
      let ending = worker.process.wait()
      if order.isCancelled { throw Fault(CancellationError()) }
      switch error {
      case .late:
        throw Fault(
          "image.timeout", .permanent, "the picture took longer than \(limits.time.text) and was given up")
      case .closed, .garbled:
        if !isLast { return nil }
        throw Fault(
          "image.crashed", .permanent,
          "the process that worked on the picture \(ending.words); the picture is set apart")
      }
    }
  }
}

/// A worker process, and how much it has done.
private final class Worker: @unchecked Sendable {
  let process: ChildProcess
  /// Touched by the one thread that has taken the worker.
  var jobs = 0

  init(_ program: String, _ limits: PictureWorkers.Limits) throws(Fault) {
    let words = [PictureProgram.verb, "\(ThisProcess.id)", "\(limits.memory)"]
    process = try ChildProcess(program, words, environment: PictureProgram.environment, keepsErrors: false)
    let greeting = try? process.channel.receive(until: SystemTime().now() + .seconds(30))
    guard greeting == Array(PictureProgram.greeting.utf8) else {
      throw Fault(
        "image.unavailable", .config,
        "\(program) does not do picture work as this program knows it; name the right imgflow in IMGFLOW_BINARY")
    }
  }
}

/// One job's way through a worker, which may be cut short from outside.
private final class Order: Sendable {
  private struct State {
    var isCancelled = false
    var process: ChildProcess?
  }
  private let state = Guarded(State())

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Says which process works on it; false where nobody wants it any more.
  func begin(_ worker: Worker) -> Bool {
    state.withLock { state in
      if state.isCancelled { return false }
      state.process = worker.process
      return true
    }
  }

  func end() { state.withLock { $0.process = nil } }

  func cancel() {
    state.withLock { state in
      state.isCancelled = true
      state.process?.kill()
    }
  }
}
