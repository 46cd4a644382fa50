internal import FlowBase
internal import FlowEvents
internal import FlowParts

/// Runs the processes of one op: asks the machine what to do, does it, and brings back the answers.
///
/// All state is touched on the thread of the programs' loop alone, which is why the class may call itself Sendable.
final class PluginHost: @unchecked Sendable {
  /// A piece of work, as the process is told of it.
  enum Job: Sendable {
    case item(HostMessage.ItemPart)
    case pull(count: Int, cursor: Value)
    case events([UInt8])
  }

  /// What came back.
  struct Answer: Sendable {
    var message: PluginMessage
    /// The folder for the outputs of an item; empty where there is none.
    var folder = ""
    /// The same, where a process that lives on has it.
    var loan: OutputFolder?
    /// A folder that goes when the answer has been taken in; empty where there is none.
    var scratch = ""

    /// Lets go of the folders, when all that counts has been taken from them.
    func discard() {
      if !scratch.isEmpty { try? FileSystem.removeTree(scratch) }
      loan?.giveBack(mayReuse: isQuiet)
    }

    /// Whether it names no outputs, and says that nothing is left to do: who has failed or was cancelled may have
    /// something under way that still writes.
    var isQuiet: Bool {
      guard case .result(_, let result) = message, result.outputs.isEmpty else { return false }
      switch result.status {
      case .ok, .drop: return true
      case .many, .error, .cancelled, .unclear: return false
      }
    }
  }

  /// Whom the host tells.
  struct Ears: Sendable {
    var tell: @Sendable (Payload) -> Void
    var log: @Sendable (LogLevel, String) -> Void
  }

  private struct Pending {
    var job: Job
    var done: @Sendable (Result<Answer, Fault>) -> Void
    var progress: @Sendable (Double) -> Void
    var folder: OutputFolder?
  }

  private struct Process {
    var program: RunningProgram
    var reader = LineReader()
    var errors = Tail(limit: 32768)
    var halfLine: [UInt8] = []
    var outbox: [UInt8] = []
    var pid = 0
    var end: ProgramEnd?
    var noise = 0
    var loggedLines = 0
    var workdir: String
    var folders: OutputFolders
  }

  private let plugin: PluginManifest
  private let greeting: HostMessage.Greeting
  private let surroundings: PluginSurroundings
  private let ears: Ears
  private let folder: String
  private let loop = ProgramLoop.shared
  private let clock = SystemTime()
  private let ids = Guarded(0)

  private var machine: HostMachine
  private var pending: [Int: Pending] = [:]
  private var processes: [Int: Process] = [:]
  private var wake: Instant?
  private var willFlush = false
  private var closers: [CheckedContinuation<Void, Never>] = []
  private var isClosed = false

  /// A host without a process: the first work starts one.
  ///
  /// The folder is the host's, and goes with it.
  init(
    _ plugin: PluginManifest, op: String, run: String, config: Fields, folder: String,
    surroundings: PluginSurroundings, ears: Ears
  ) {
    self.plugin = plugin
    self.surroundings = surroundings
    self.ears = ears
    self.folder = folder
    var limits = surroundings.limits
    limits.instances = plugin.limits.instances
    limits.window = plugin.limits.window
    limits.start = plugin.limits.start
    limits.idleExit = plugin.limits.idleExit
    machine = HostMachine(name: op, limits: limits)
    greeting = HostMessage.Greeting(run: run, op: op, config: config, window: limits.window)
    PluginHosts.alive.withLock { $0[ObjectIdentifier(self)] = self }
  }

  /// Has a piece of work done.
  func ask(
    _ job: Job, budget: Interval, progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) async throws(Fault) -> Answer {
    let id = nextID()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        submit(id, job, budget: budget, progress: progress) { continuation.resume(returning: $0) }
        if Task.isCancelled { cancel(id) }
      }
    } onCancel: {
      cancel(id)
    }
    return try result.get()
  }

  /// Has a piece of work done, and says later what came of it, on the thread of the programs' loop; gives the number
  /// under which it can be cancelled.
  func begin(
    _ job: Job, budget: Interval, progress: @escaping @Sendable (Double) -> Void = { _ in },
    done: @escaping @Sendable (Result<Answer, Fault>) -> Void
  ) -> Int {
    let id = nextID()
    submit(id, job, budget: budget, progress: progress, done: done)
    return id
  }

  /// Nobody wants the work any more.
  func cancel(_ id: Int) { loop.post { [self] in handle(.cancel(id)) } }

  private func nextID() -> Int {
    ids.withLock { ids in
      ids += 1
      return ids
    }
  }

  private func submit(
    _ id: Int, _ job: Job, budget: Interval, progress: @escaping @Sendable (Double) -> Void,
    done: @escaping @Sendable (Result<Answer, Fault>) -> Void
  ) {
    loop.post { [self] in
      pending[id] = Pending(job: job, done: done, progress: progress)
      handle(.submit(id, budget: budget))
    }
  }

  /// Lets the processes finish, ends them, and removes the folder.
  func close() async {
    await withCheckedContinuation { continuation in
      loop.post { [self] in
        if isClosed { return continuation.resume() }
        closers.append(continuation)
        handle(.drain)
      }
    }
  }

  /// As `close`, without waiting for it.
  func leave() { loop.post { [self] in if !isClosed { handle(.drain) } } }

  // MARK: On the loop's thread

  private func handle(_ event: HostMachine.Event) {
    for action in machine.handle(event, at: clock.now()) { perform(action) }
    guard let next = machine.nextLook, wake.map({ next < $0 }) ?? true else { return }
    wake = next
    loop.post(at: next) { [self] in
      if wake.map({ $0 <= clock.now() }) ?? false { wake = nil }
      handle(.tick)
    }
  }

  private func perform(_ action: HostMachine.Action) {
    switch action {
    case .start(let number): start(number)
    case .send(let number, let id): send(id, to: number)
    case .cancel(let number, let id): write(HostMessage.cancel(id: id), to: number)
    case .drain(let number):
      write(HostMessage.drain, to: number)
      flush()
      processes[number]?.program.closeInput()
    case .terminate(let number): processes[number]?.program.signal(15)
    case .kill(let number): processes[number]?.program.signal(9)
    case .fail(let id, let fault): finish(id, .failure(fault))
    case .crashed(let number): tellCrash(of: number)
    case .finished:
      isClosed = true
      try? FileSystem.removeTree(folder)
      PluginHosts.alive.withLock { $0[ObjectIdentifier(self)] = nil }
      for closer in closers { closer.resume() }
      closers = []
    }
  }

  private func finish(_ id: Int, _ result: Result<Answer, Fault>) {
    guard let work = pending.removeValue(forKey: id) else { return }
    if case .failure = result { work.folder?.giveBack(mayReuse: false) }
    work.done(result)
  }

  private func start(_ number: Int) {
    let workdir = PathText.join(folder, "w/\(number)")
    try? FileSystem.makeDirectories(PathText.join(workdir, "tmp"), mode: 0o700)
    let program = loop.start(surroundings.order(for: plugin, workdir: workdir)) { [self] news in heard(news, of: number)
    }
    let folders = OutputFolders(below: workdir, most: greeting.window)
    processes[number] = Process(program: program, workdir: workdir, folders: folders)
    write(HostMessage.greet(greeting, instance: number, workdir: workdir), to: number)
    if plugin.limits.memory != nil { watchMemory(of: number, program) }
  }

  private func send(_ id: Int, to number: Int) {
    guard let work = pending[id], let process = processes[number] else { return }
    switch work.job {
    case .item(let part):
      do throws(Fault) {
        // Where a process before this one has failed it, what that one wrote is not for this one to find.
        work.folder?.giveBack(mayReuse: false)
        let out = try process.folders.take(for: id)
        pending[id]?.folder = out
        write(HostMessage.item(part, id: id, outDir: out.path), to: number)
      } catch {
        // Told once the machine has done with what it is at.
        loop.post { [self] in
          finish(id, .failure(error))
          handle(.withdrawn(number, id))
        }
      }
    case .pull(let count, let cursor): write(HostMessage.pull(count, cursor: cursor), to: number)
    case .events(let lines): write(HostMessage.events(batch: id, lines: lines), to: number)
    }
  }

  /// Keeps lines until the end of the loop's turn, so that many go out at once.
  private func write(_ bytes: [UInt8], to number: Int) {
    processes[number]?.outbox += bytes
    guard !willFlush else { return }
    willFlush = true
    loop.post { [self] in flush() }
  }

  private func flush() {
    willFlush = false
    for number in processes.keys {
      guard let process = processes[number], !process.outbox.isEmpty else { continue }
      processes[number]?.outbox = []
      surroundings.recorder?.lines(process.outbox, ">", pid: process.pid)
      process.program.writeNow(process.outbox)
    }
  }

  // MARK: Hearing

  private func heard(_ news: ProgramNews, of number: Int) {
    switch news {
    case .started(let pid):
      processes[number]?.pid = pid
      surroundings.recorder?.start(plugin, op: greeting.op, instance: number, pid: pid)
      ears.tell(.pluginStart(Payload.PluginStart(plugin: plugin.name, version: plugin.version, pid: pid)))
    case .output(let bytes):
      surroundings.recorder?.lines(bytes, "<", pid: processes[number]?.pid ?? 0)
      for line in processes[number]?.reader.take(bytes) ?? [] { heard(line, of: number) }
    case .errors(let bytes): heardErrors(bytes, of: number)
    case .ended(let end):
      for line in processes[number]?.reader.finish() ?? [] { heard(line, of: number) }
      if let process = processes[number] {
        surroundings.sweep(process.workdir)
        process.folders.close()
      }
      processes[number]?.end = end
      if case .unstartable = end {
        handle(
          .refused(
            number, Fault("plugin.start", .permanent, "`\(plugin.run.first ?? "")` of \(plugin.name) \(end.words)")))
      }
      handle(.ended(number, end.words))
      if let half = processes[number]?.halfLine, !half.isEmpty { log(half[...], of: number) }
      if processes[number]?.end != nil { processes[number] = nil }
    }
  }

  private func heard(_ line: LineReader.Line, of number: Int) {
    switch line {
    case .noise(let text): noise(text, of: number)
    case .message(let message): heard(message, of: number)
    }
  }

  private func heard(_ message: PluginMessage, of number: Int) {
    switch message {
    case .ready(let version, let window):
      if version == 1 { return handle(.ready(number, window: window)) }
      handle(
        .refused(
          number, Fault("plugin.start", .permanent, "\(plugin.name) speaks version \(version) of the protocol, not 1")))
    case .refused(let fault): handle(.refused(number, refusal(fault)))
    case .result(let id, _): answered(id, message, by: number)
    case .acknowledged(let batch, _): answered(batch, message, by: number)
    case .items:
      // A source has one question at a time, which is why its answers need no number.
      if let id = machine.only(number) {
        answered(id, message, by: number)
      } else {
        noise("items that nobody asked for", of: number)
      }
    case .progress(let id, let ratio): if machine.holds(number, id) { pending[id]?.progress(ratio) }
    case .log(_, let level, let text): ears.log(level, "\(greeting.op): \(text.prefix(2000))")
    case .pong, .bye, .unknown: break
    }
  }

  private func answered(_ id: Int, _ message: PluginMessage, by number: Int) {
    guard machine.holds(number, id) else {
      return noise("an answer for \(id), which is not being worked on", of: number)
    }
    let folder = pending[id]?.folder
    finish(id, .success(Answer(message: message, folder: folder?.path ?? "", loan: folder)))
    handle(.answered(number, id))
  }

  /// Why a process cannot work at all; a configuration that it refuses is the manifest's fault.
  private func refusal(_ fault: PluginFault) -> Fault {
    let words = fault.message.isEmpty ? "\(greeting.op) cannot work" : "\(greeting.op): \(fault.message)"
    guard let code = fault.code, code.hasPrefix("config.") else {
      return fault.fault(greeting.op, classes: plugin.errors, fallback: "plugin.start")
    }
    return Fault("config.plugin", .config, words + (fault.field.map { " (\($0))" } ?? ""))
  }

  private func noise(_ text: String, of number: Int) {
    processes[number]?.noise += 1
    let count = processes[number]?.noise ?? 1
    // The first few are shown; after that only their number matters.
    if count <= 10 { ears.tell(.pluginNoise(Payload.PluginNoise(plugin: plugin.name, line: text, count: count))) }
    handle(.noise(number))
  }

  private func heardErrors(_ bytes: [UInt8], of number: Int) {
    processes[number]?.errors.append(bytes)
    var half = (processes[number]?.halfLine ?? []) + bytes
    while let end = half.firstIndex(of: 0x0A) {
      log(half[..<end], of: number)
      half.removeFirst(end + 1)
    }
    // A line that never ends is none.
    processes[number]?.halfLine = half.count > 8192 ? [] : half
  }

  private func log(_ line: ArraySlice<UInt8>, of number: Int) {
    guard !line.isEmpty, let logged = processes[number]?.loggedLines, logged <= 1000 else { return }
    processes[number]?.loggedLines += 1
    let text =
      logged == 1000
      ? "more of what it writes is kept only for a crash" : String(decoding: line.prefix(2000), as: UTF8.self)
    ears.log(.info, "\(plugin.name): \(text)")
  }

  private func tellCrash(of number: Int) {
    guard let process = processes[number] else { return }
    var (code, signal): (Int?, Int?)
    if case .exited(let number)? = process.end { code = number }
    if case .signalled(let number)? = process.end { signal = number }
    ears.tell(
      .pluginCrash(
        Payload.PluginCrash(
          plugin: plugin.name, code: code, signal: signal, stderr: Tail.lines(of: process.errors.bytes, 50))))
  }

  private func watchMemory(of number: Int, _ program: RunningProgram) {
    loop.post(at: clock.now() + .seconds(1)) { [self] in
      guard processes[number]?.program === program, processes[number]?.end == nil else { return }
      if let limit = plugin.limits.memory, program.memory > limit {
        ears.log(.warn, "\(plugin.name) takes more than its \(ByteCount(limit).text) of memory, and is ended")
        return handle(.overMemory(number))
      }
      watchMemory(of: number, program)
    }
  }
}
