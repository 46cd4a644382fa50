internal import FlowBase

/// The end of a file that its writer goes on filling while other threads hash and write what came before.
///
/// Chunks are done in order, by one thread at a time, whichever it is: where the crew falls behind, the writer does its
/// own chunks. It waits for another thread only while that is at work on a chunk of this very file.
final class WriteBehind: @unchecked Sendable {
  private struct State {
    /// Full chunks.
    var line: [[UInt8]] = []
    /// How many bytes of the file have been written and hashed.
    var written: Int
    /// Whether a thread is at work on a chunk.
    var isTaken = false
    /// Whether the file stands in the crew's line.
    var isInLine = false
    /// Whether the writer waits for the thread that is at work.
    var isAwaited = false
    var fault: Fault?
  }

  /// How many chunks may wait for the crew; twice as many while it has one in its hands.
  static let longestLine = 4

  private let state: Awaited<State>
  /// Used by whoever is at work on a chunk.
  private let digest: DigestStream
  private let file: Descriptor
  private let path: String
  private let crew: WriteCrew
  /// The chunk that the writer fills.
  private var filling: [UInt8]?

  /// Goes on with a file of so many bytes, all of which the digest has seen.
  init(_ file: Descriptor, _ path: String, _ digest: DigestStream, from count: Int, crew: WriteCrew) {
    self.file = file
    self.path = path
    self.digest = digest
    self.crew = crew
    state = Awaited(State(written: count))
  }

  deinit { dropChunks() }

  // MARK: For the writer

  /// How many bytes have been written and hashed; true where nothing is under way.
  var written: Int { state.withLock { $0.written } }

  /// Takes the next bytes; throws where these or earlier ones could not be written.
  func write(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
    if let count = filling?.count, count + bytes.count > WriteCrew.chunk { try handOver() }
    // Bytes that fill a chunk on their own are not copied.
    if filling == nil, bytes.count < WriteCrew.chunk { filling = crew.takeChunk() }
    guard filling != nil else { return try unsafe writeThrough(bytes) }
    unsafe filling?.append(contentsOf: bytes)
  }

  /// Writes all that is there; from then on nobody else has to do with the file until the next bytes.
  func drain() throws(Fault) {
    while takeTurn() {}
    var (fault, behind) = state.withLock { state -> (Fault?, [[UInt8]]) in
      guard let fault = state.fault else { return (nil, []) }
      state.fault = nil
      // What comes behind a gap is not to be written by whoever finds it in the line.
      defer { state.line = [] }
      return (fault, state.line)
    }
    while var chunk = behind.popLast() { crew.give(&chunk) }
    if let fault { throw fault }
    guard var chunk = filling else { return }
    filling = nil
    defer { crew.give(&chunk) }
    if let fault = unsafe chunk.withUnsafeBytes({ unsafe perform($0) }) { throw fault }
  }

  /// Forgets what has not been written; from then on nobody else has to do with the file.
  func stop() {
    dropChunks()
    _ = takeTurn()
  }

  private func handOver() throws(Fault) {
    guard let chunk = filling else { return }
    filling = nil
    let (joins, helps, fault) = state.withLock { state -> (Bool, Bool, Fault?) in
      state.line.append(chunk)
      if let fault = state.fault { return (false, false, fault) }
      if state.line.count > (state.isTaken ? 2 : 1) * WriteBehind.longestLine { return (false, true, nil) }
      let joins = !state.isTaken && !state.isInLine
      if joins { state.isInLine = true }
      return (joins, false, nil)
    }
    if fault != nil {
      dropChunks()
      return try drain()
    }
    if joins { crew.join(self) }
    if helps { _ = takeTurn() }
  }

  /// Writes bytes that are in no chunk, behind all that are.
  private func writeThrough(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
    try drain()
    if let fault = unsafe perform(bytes) { throw fault }
  }

  private func dropChunks() {
    var chunks = state.withLock { state in
      defer { state.line = [] }
      return state.line
    }
    if let filling { chunks.append(filling) }
    filling = nil
    while var chunk = chunks.popLast() { crew.give(&chunk) }
  }

  // MARK: For whoever is at work

  /// Does the next chunk of each of some files, unless another thread is at work on it, side by side.
  static func takeTurns(_ files: [WriteBehind]) {
    var turns = files.compactMap { $0.turn() }
    perform(&turns)
  }

  /// The next chunk of a file that has left the crew's line, unless another thread is at work on one.
  private func turn() -> Turn? {
    let chunk = state.withLock { state in
      state.isInLine = false
      return next(&state)
    }
    return chunk.map { Turn(file: self, chunk: $0) }
  }

  /// A file at work, and the chunk that is written.
  private struct Turn {
    var file: WriteBehind
    var chunk: [UInt8]
    var fault: Fault?
  }

  /// Takes the next chunk, if there is one and nobody is at work on another.
  private func next(_ state: inout State) -> [UInt8]? {
    guard !state.isTaken, state.fault == nil, !state.line.isEmpty else { return nil }
    state.isTaken = true
    return state.line.removeFirst()
  }

  /// Does the next chunk, if there is one; says whether there was.
  ///
  /// A thread that is at work on another one is waited for. Where there is one to be done, others in the crew's line are
  /// done beside it: several take hardly more time than one.
  private func takeTurn() -> Bool {
    let chunk = state.wait { state -> [UInt8]?? in
      state.isAwaited = state.isTaken
      return state.isTaken ? nil : .some(self.next(&state))
    }
    guard let chunk else { return false }
    var turns = [Turn(file: self, chunk: chunk)] + crew.takeLine(7).compactMap { $0.turn() }
    WriteBehind.perform(&turns)
    return true
  }

  /// Writes chunks, and then hashes them side by side.
  private static func perform(_ turns: inout [Turn]) {
    for place in turns.indices {
      turns[place].fault = unsafe turns[place].chunk.withUnsafeBytes { unsafe turns[place].file.put($0) }
    }
    hash(turns)
    // Nobody else holds them by now: they are emptied in place.
    while var turn = turns.popLast() { turn.file.end(&turn.chunk, turn.fault) }
  }

  private static func hash(_ turns: [Turn]) {
    let whole = turns.filter { $0.fault == nil }
    unsafe withBytes(of: whole[...], before: []) { bytes in
      unsafe DigestStream.update(whole.map(\.file.digest), bytes)
    }
  }

  private static func withBytes(
    of turns: ArraySlice<Turn>, before: [UnsafeRawBufferPointer], _ body: ([UnsafeRawBufferPointer]) -> Void
  ) {
    guard let turn = turns.first else { return unsafe body(before) }
    unsafe turn.chunk.withUnsafeBytes { bytes in
      unsafe withBytes(of: turns.dropFirst(), before: before + [bytes], body)
    }
  }

  /// A chunk is done, or could not be written.
  private func end(_ chunk: inout [UInt8], _ fault: Fault?) {
    let count = chunk.count
    crew.give(&chunk)
    let (joins, wakes) = state.withLock { state -> (Bool, Bool) in
      state.isTaken = false
      state.fault = fault
      if fault == nil { state.written += count }
      let joins = fault == nil && !state.isInLine && !state.line.isEmpty
      if joins { state.isInLine = true }
      return (joins, state.isAwaited)
    }
    if joins { crew.join(self) }
    if wakes { state.wakeAll() }
  }

  private func put(_ bytes: UnsafeRawBufferPointer) -> Fault? {
    do { try unsafe file.write(bytes) } catch { return error.fault("write", path) }
    return nil
  }

  private func perform(_ bytes: UnsafeRawBufferPointer) -> Fault? {
    if let fault = unsafe put(bytes) { return fault }
    unsafe digest.update(bytes)
    state.withLock { $0.written += bytes.count }
    return nil
  }
}
