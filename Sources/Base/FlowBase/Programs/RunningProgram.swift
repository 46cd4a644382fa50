internal import CPosix
internal import Glibc

/// A program that has been started: what is written to it, and how it is ended.
///
/// All but the public calls happens on the loop's thread.
public final class RunningProgram: @unchecked Sendable {
  private let loop: ProgramLoop
  private var hear: (@Sendable (ProgramNews) -> Void)?
  private var process: pid_t = 0
  private var ending: Int32 = -1
  private var input: Int32 = -1
  private var output: Int32 = -1
  private var errors: Int32 = -1
  private var unwritten: [UInt8] = []
  private var written = 0
  private var closesInput = false
  private var hasBegun = false

  init(_ loop: ProgramLoop, _ hear: @escaping @Sendable (ProgramNews) -> Void) {
    self.loop = loop
    self.hear = hear
  }

  /// Writes to the program's standard input; what it does not take yet is kept and written later.
  public func write(_ bytes: [UInt8]) { loop.post { [self] in enqueue(bytes) } }

  /// The same at once; on the loop's thread.
  public func writeNow(_ bytes: [UInt8]) { enqueue(bytes) }

  /// Closes the program's standard input once everything has been written.
  public func closeInput() {
    loop.post { [self] in
      closesInput = true
      flush()
    }
  }

  /// Sends a signal to the program and all of its process group.
  public func signal(_ number: Int) {
    loop.post { [self] in
      if isRunning { kill(-process, Int32(truncatingIfNeeded: number)) }
    }
  }

  /// How many bytes the memory of its process group takes; on the loop's thread.
  public var memory: Int { isRunning ? ProcessFacts.memory(ofGroup: Int(process)) : 0 }

  // MARK: On the loop's thread

  var isRunning: Bool { process > 0 }

  /// Starts the program.
  func start(_ order: ProgramOrder) {
    hasBegun = true
    var pipes: [(reading: Int32, writing: Int32)] = []
    for _ in 0..<3 {
      var ends: [Int32] = [-1, -1]
      guard unsafe imgflow_make_pipe(&ends) == 0 else { break }
      pipes.append((ends[0], ends[1]))
    }
    guard pipes.count == 3 else {
      let reason = Errno.last
      for pipe in pipes { _ = (close(pipe.reading), close(pipe.writing)) }
      return end(.unstartable(reason))
    }
    let failure = spawn(order, streams: [pipes[0].reading, pipes[1].writing, pipes[2].writing])
    _ = (close(pipes[0].reading), close(pipes[1].writing), close(pipes[2].writing))
    (input, output, errors) = (pipes[0].writing, pipes[1].reading, pipes[2].reading)
    guard failure == 0 else {
      process = 0
      closeStreams()
      return end(.unstartable(Errno(failure)))
    }
    ending = imgflow_process_descriptor(process)
    for stream in [input, output, errors] { _ = imgflow_set_flags(stream, imgflow_get_flags(stream) | O_NONBLOCK) }
    hear?(.started(Int(process)))
    flush()
  }

  private func spawn(_ order: ProgramOrder, streams: [Int32]) -> Int32 {
    let variables = order.environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    var words: [UnsafeMutablePointer<CChar>?] = unsafe order.words.map { unsafe strdup($0) } + [nil]
    var surroundings: [UnsafeMutablePointer<CChar>?] = unsafe variables.map { unsafe strdup($0) } + [nil]
    defer {
      unsafe words.forEach { unsafe free($0) }
      unsafe surroundings.forEach { unsafe free($0) }
    }
    guard !order.words.isEmpty else { return ENOENT }
    return unsafe imgflow_spawn(&process, &words, &surroundings, order.folder, streams)
  }

  private func enqueue(_ bytes: [UInt8]) {
    guard !closesInput, input >= 0 || !hasBegun else { return }
    if unwritten.isEmpty { unwritten = bytes } else { unwritten += bytes }
    flush()
  }

  /// Writes as much as the program takes.
  private func flush() {
    guard input >= 0 else { return }
    while written < unwritten.count {
      let count = unsafe unwritten.withUnsafeBytes { bytes in
        unsafe Glibc.write(input, bytes.baseAddress?.advanced(by: written), bytes.count - written)
      }
      if count > 0 {
        written += count
      } else if errno == EINTR {
        continue
      } else if errno == EAGAIN {
        if written > 1 << 20 {
          unwritten.removeFirst(written)
          written = 0
        }
        return
      } else {
        // It reads no more; why is seen when it ends.
        closesInput = true
        break
      }
    }
    unwritten.removeAll(keepingCapacity: true)
    written = 0
    if closesInput {
      close(input)
      input = -1
    }
  }

  /// Says what is waited for: always four entries, so that they are found again.
  func add(to entries: inout [pollfd]) {
    entries.append(pollfd(fd: output, events: Int16(POLLIN), revents: 0))
    entries.append(pollfd(fd: errors, events: Int16(POLLIN), revents: 0))
    entries.append(pollfd(fd: unwritten.isEmpty ? -1 : input, events: Int16(POLLOUT), revents: 0))
    entries.append(pollfd(fd: ending, events: Int16(POLLIN), revents: 0))
  }

  /// Takes in what has happened.
  func serve(_ entries: [pollfd], from place: inout Int, _ buffer: inout [UInt8]) {
    defer { place += 4 }
    guard isRunning else { return }
    if entries[place].revents != 0 { _ = read(&output, &buffer, isErrors: false) }
    if entries[place + 1].revents != 0 { _ = read(&errors, &buffer, isErrors: true) }
    if entries[place + 2].revents != 0 { flush() }
    if entries[place + 3].revents != 0, imgflow_has_ended(process) != 0 { reap(&buffer) }
  }

  /// Reads what is there, once; whether there may be more.
  private func read(_ stream: inout Int32, _ buffer: inout [UInt8], isErrors: Bool) -> Bool {
    guard stream >= 0 else { return false }
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(stream, $0.baseAddress, $0.count) }
    if count > 0 {
      hear?(isErrors ? .errors(Array(buffer[..<count])) : .output(Array(buffer[..<count])))
      return true
    }
    if count < 0, errno == EAGAIN || errno == EINTR { return errno == EINTR }
    close(stream)
    stream = -1
    return false
  }

  /// The program has ended: what it left is read, its group goes with it, and its end is told.
  private func reap(_ buffer: inout [UInt8]) {
    // While it is not waited for, its group cannot be another's.
    kill(-process, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    process = 0
    // What it wrote is in the pipes; a program that it left behind elsewhere may hold them open, so nobody waits.
    var rounds = 0
    while read(&output, &buffer, isErrors: false), rounds < 4096 { rounds += 1 }
    while read(&errors, &buffer, isErrors: true), rounds < 8192 { rounds += 1 }
    closeStreams()
    let signal = Int(status & 0x7F)
    end(signal == 0 ? .exited(Int(status >> 8 & 0xFF)) : .signalled(signal))
  }

  private func closeStreams() {
    for stream in [input, output, errors, ending] where stream >= 0 { close(stream) }
    (input, output, errors, ending) = (-1, -1, -1, -1)
  }

  private func end(_ end: ProgramEnd) {
    let hear = hear
    self.hear = nil
    unwritten = []
    hear?(.ended(end))
  }
}
