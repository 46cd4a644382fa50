internal import FlowBase

/// A few threads that hash and write bytes behind those that receive them, and the memory in which these wait.
///
/// The threads are started when there is work, and end when there has been none for a moment. Nobody depends on them:
/// where there are none, or they are busy, whoever brings the bytes does the work.
final class WriteCrew: Sendable {
  /// How many bytes are handed over at once.
  static let chunk = 512 * 1024
  /// How many chunks there are for all files together.
  static let mostChunks = 96

  /// What starts a thread, and says whether there is one to be had.
  typealias Start = @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool

  private struct State {
    /// Files that have chunks to be written.
    ///
    /// None is let go of under the lock: the last of a file takes it, to give its chunks back.
    var line: [WriteBehind] = []
    var threads = 0
    var idle = 0
    /// How many chunks are in use, and those that are not.
    var used = 0
    var spare: [[UInt8]] = []

    mutating func next() -> WriteBehind? { line.isEmpty ? nil : line.removeFirst() }
  }

  private let state = Awaited(State())
  private let most: Int
  /// For how long a thread waits for work before it ends.
  private let patience: Interval
  private let start: Start
  private let clock: any TimeSource = SystemTime()

  /// A crew of at most so many threads: as there are processors beside that of the thread that receives.
  init(
    threads: Int = min(3, OwnProcess.processors - 1), patience: Interval = .seconds(1),
    start: @escaping Start = { WorkerThread.tryStart($0, $1) }
  ) {
    most = threads
    self.patience = patience
    self.start = start
  }

  /// Whether there may be a thread at all.
  var isAny: Bool { most > 0 }
  /// How many threads there are, and how many chunks are in use.
  var threads: Int { state.withLock { $0.threads } }
  var usedChunks: Int { state.withLock { $0.used } }

  // MARK: Chunks

  /// An empty chunk; nil where too many are in use.
  func takeChunk() -> [UInt8]? {
    let (mayHave, spare) = state.withLock { state -> (Bool, [UInt8]?) in
      guard state.used < WriteCrew.mostChunks else { return (false, nil) }
      state.used += 1
      return (true, state.spare.popLast())
    }
    guard mayHave else { return nil }
    if let spare { return spare }
    var chunk: [UInt8] = []
    chunk.reserveCapacity(WriteCrew.chunk)
    return chunk
  }

  /// Takes a chunk back.
  func give(_ chunk: inout [UInt8]) {
    // Held by nobody else from here on, so that it is emptied in place.
    var own: [UInt8] = []
    swap(&own, &chunk)
    own.removeAll(keepingCapacity: true)
    state.withLock { state in
      state.used -= 1
      state.spare.append(own)
      if state.used == 0 && state.threads == 0 { state.spare = [] }
    }
  }

  // MARK: Threads

  /// Lines a file up that has chunks to be written; it must not be in the line yet.
  func join(_ file: WriteBehind) {
    let (wakes, starts) = state.withLock { state -> (Bool, Bool) in
      state.line.append(file)
      if state.idle > 0 { return (true, false) }
      guard state.threads < most else { return (false, false) }
      state.threads += 1
      return (false, true)
    }
    if wakes { state.wakeOne() }
    guard starts, !start("writing", { self.work() }) else { return }
    // No thread to be had. Where there are none at all, nobody waits in the line: the receivers do it.
    let left = state.withLock { state -> [WriteBehind] in
      state.threads -= 1
      guard state.threads == 0 else { return [] }
      defer { state.line = [] }
      return state.line
    }
    extendLifetime(left)
  }

  private func work() {
    while let file = next() { WriteBehind.takeTurns([file] + takeLine()) }
  }

  /// The next in the line, as many as can be hashed beside one, and up to a number; idle threads are left theirs.
  func takeLine(_ most: Int = .max) -> [WriteBehind] {
    state.withLock { state in
      let count = max(0, min(most, state.line.count / (state.idle + 1), DigestStream.mostAtOnce - 1))
      defer { state.line.removeFirst(count) }
      return Array(state.line.prefix(count))
    }
  }

  /// The next in the line; nil once there has been none for so long that the thread ends.
  private func next() -> WriteBehind? {
    if let next = state.withLock({ $0.next() }) { return next }
    let limit = clock.now() + patience
    state.withLock { $0.idle += 1 }
    let next = state.wait(until: limit) { $0.next() }
    return state.withLock { state in
      state.idle -= 1
      // What has come since the wait was over counts on this thread.
      if let next = next ?? state.next() { return next }
      state.threads -= 1
      if state.threads == 0 { state.spare = [] }
      return nil
    }
  }
}
