/// What a program has said and how it ended.
public struct ProgramReport: Sendable {
  /// How it ended.
  public var end: ProgramEnd
  /// Whether it was ended because its time was up.
  public var isLate = false
  /// The last bytes of its standard output.
  public var output: [UInt8]
  /// The last bytes of its standard error.
  public var errors: [UInt8]

  /// The last lines of its standard error, or of its output where that is empty.
  public func lastLines(_ count: Int = 20) -> String { Tail.lines(of: errors.isEmpty ? output : errors, count) }
}

/// The end of what is written: as many bytes as are worth keeping.
public struct Tail: Sendable {
  private let limit: Int
  private var kept: [UInt8] = []

  /// Keeps so many bytes at least.
  public init(limit: Int) { self.limit = limit }

  /// What is kept.
  public var bytes: [UInt8] { kept.count > limit ? Array(kept.suffix(limit)) : kept }

  /// Takes in what was written.
  public mutating func append(_ bytes: [UInt8]) {
    kept += bytes
    if kept.count > limit * 2 { kept.removeFirst(kept.count - limit) }
  }

  /// The last lines of some bytes, each cut where it is very long.
  public static func lines(of bytes: [UInt8], _ count: Int) -> String {
    bytes.split(separator: 0x0A).suffix(count).map { line in
      String(decoding: line.count > 500 ? line.prefix(500) : line, as: UTF8.self)
    }.joined(separator: "\n")
  }
}

extension ProgramLoop {
  /// Runs a program to its end, with some bytes as its input.
  ///
  /// Where the task is cancelled, the program's group is asked to end, and killed two seconds later.
  public func run(
    _ order: ProgramOrder, input: [UInt8] = [], keeping kept: Int = 65536, limit: Interval? = nil
  ) async -> ProgramReport {
    let isLate = Guarded(false)
    let said = Guarded((output: Tail(limit: kept), errors: Tail(limit: kept)))
    let running = Guarded<RunningProgram?>(nil)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let program = start(order) { news in
          switch news {
          case .started: break
          case .output(let bytes): said.withLock { $0.output.append(bytes) }
          case .errors(let bytes): said.withLock { $0.errors.append(bytes) }
          case .ended(let end):
            let (output, errors) = said.withLock { ($0.output.bytes, $0.errors.bytes) }
            continuation.resume(
              returning: ProgramReport(
                end: end, isLate: isLate.withLock { $0 }, output: output, errors: errors))
          }
        }
        if !input.isEmpty { program.write(input) }
        program.closeInput()
        running.withLock { $0 = program }
        if Task.isCancelled { stop(program) }
        if let limit {
          post(at: SystemTime().now() + limit) { [self] in
            guard program.isRunning else { return }
            isLate.withLock { $0 = true }
            stop(program)
          }
        }
      }
    } onCancel: {
      if let program = running.withLock({ $0 }) { stop(program) }
    }
  }

  /// Waits for a while without holding a thread.
  public func pause(_ span: Interval) async {
    await withCheckedContinuation { continuation in
      post(at: SystemTime().now() + span) { continuation.resume() }
    }
  }

  /// Asks a program's group to end, and ends it two seconds later.
  public func stop(_ program: RunningProgram) {
    program.signal(15)
    post(at: SystemTime().now() + .seconds(2)) { program.signal(9) }
  }
}
