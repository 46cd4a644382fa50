internal import FlowBase
internal import FlowBuiltins
internal import FlowEvents
internal import FlowParts
internal import FlowPlan
internal import FlowPlugins
internal import FlowRun
internal import FlowStore

extension Command {
  /// `imgflow run [MANIFEST]`.
  static var run: Command {
    var command = Command(.run) { arguments, console in
      if arguments.has("dry-run"), let plan = all.first(where: { $0.spec.name == "plan" }) {
        return try await plan.body(arguments, console)
      }
      let transfers = TransfersAhead()
      defer { transfers.wait() }
      return try await RunSession(arguments, console).run(LoadedManifest(arguments, console))
    }
    command.onUsageError = { error, console in await RunSession.refuse(error, console) }
    return command
  }
}

/// One run from the command line: its listeners, its signals, its last words.
struct RunSession: Sendable {
  private let arguments: ParsedArguments
  private let console: Console

  init(_ arguments: ParsedArguments, _ console: Console) {
    self.arguments = arguments
    self.console = console
  }

  /// Runs a manifest to its end, and gives the exit code.
  func run(_ loaded: LoadedManifest) async throws -> Int {
    guard var plan = loaded.plan else {
      // A live view has nothing to show of a run that does not begin: the mistakes follow below.
      let sinks = withoutSecondStream(loaded.sinks).filter { $0.op != "progress" }
      await RunRefusal.tell(
        loaded.diagnostics, manifest: loaded.path, tool: CommandLineTool.version,
        to: sinks.map { Listener($0, SinkContext(id: $0.id, folder: loaded.folder)) }
          + (try stream(beside: sinks).map { [$0] } ?? []))
      console.say(
        DiagnosticText(isColoured: console.coloursErrors, line: loaded.line).text(loaded.diagnostics))
      return 2
    }
    if !plan.warnings.isEmpty, !arguments.has("quiet") {
      console.say(DiagnosticText(isColoured: console.coloursErrors, line: loaded.line).text(plan.warnings))
    }
    var options = try options()
    do throws(Fault) { try lock(loaded, &options) } catch { return await refuse(error, loaded) }
    plan.sinks = withoutSecondStream(plan.sinks)
    // Before anything of ours is opened, so that a descriptor which nobody gave us is not taken for one that somebody did.
    let firstListeners = try listeners(beside: plan.sinks)
    if arguments.has("page-hold") { options.startedBy = "page" }
    var runner = Runner(plan, options: options)
    let page = try RunPage(arguments, runner)
    if let page, page.isHeld { page.expectTap() }
    let current = Guarded(runner)
    // Before anybody knows that it is there: who stops it then gets its events and its exit code.
    watchSignals(current, page)
    if let page { console.say("imgflow: the live page is at \(page.address)") }
    if let page, page.isHeld {
      let isTapped = await page.waitForTap()
      if !isTapped { options.startedBy = nil }
      // Another one, since a run's clock goes from when it is made.
      runner = Runner(plan, options: options)
      current.withLock { $0 = runner }
      if !isTapped {
        // The run ends as one that was stopped before it began.
        await runner.request(ControlRequest(.drain, by: "signal", signal: leaving.withLock { $0 }))
      }
    }
    var code = try await perform(runner, plan, firstListeners, page, loaded)
    while let page, page.isHeld, leaving.withLock({ $0 == nil }) {
      page.expectTap()
      console.say("imgflow: the run is over; the page stays at \(page.address) until Ctrl-C")
      guard await page.waitForTap() else { break }
      runner = Runner(plan, options: options)
      current.withLock { $0 = runner }
      code = try await perform(runner, plan, listeners(beside: plan.sinks), page, loaded)
    }
    await page?.stop()
    return code
  }

  /// The signal that has asked the program to leave.
  private let leaving = Guarded<Int?>(nil)

  /// Those who listen because the command line, or where it is typed, asks for it.
  private func listeners(beside sinks: [PlannedSink]) throws -> [Listener] {
    var listeners = [try stream(beside: sinks), progress(beside: sinks)].compactMap(\.self)
    if arguments.has("verbose") {
      let level: Payload.LogLine.Level = arguments.all("verbose").count > 1 ? .debug : .info
      listeners.append(Listener("log", LogSink.standardError(level: level)))
    }
    return listeners
  }

  /// Runs once, and says what went wrong.
  private func perform(
    _ runner: Runner, _ plan: Plan, _ listeners: [Listener], _ page: RunPage?, _ loaded: LoadedManifest
  ) async throws -> Int {
    for listener in listeners { runner.attach(listener) }
    if let page {
      runner.attach(page.listener(runner))
      let address = page.address
      runner.onPage { _, _ in address }
    } else {
      RunPage.open(for: runner, journal: StateFolder(directory: plan.state.folder, stem: plan.state.stem).journal)
    }
    let outcome = await runner.run()
    await PluginHosts.settle()
    for stream in outcome.streams {
      guard let fault = stream.fault, fault.code != "sink.closed" || stream.isRequired else { continue }
      console.say("imgflow: the sink `\(stream.name)` did not get everything: \(fault.message) (\(fault.code))")
    }
    tell(outcome.differences, loaded)
    if let fault = outcome.fault { console.say("imgflow: \(fault.message) (\(fault.code))") }
    if let path = arguments.value("summary-file") { try SmallFiles.replace(path, summary(of: outcome, runner)) }
    return outcome.end.exit
  }

  /// Holds the run against the lock, where that is asked for, or where a lock is there in CI.
  private func lock(_ loaded: LoadedManifest, _ options: inout RunOptions) throws(Fault) {
    let isAsked = arguments.has("locked") || arguments.has("frozen")
    guard isAsked || (console.environment["CI"] == "true" && !arguments.has("no-lock")) else { return }
    let path = LockFile.path(of: loaded.path)
    let found = try LockFile(at: path)
    if found == nil, isAsked { console.say("imgflow: there is no lock `\(path)`; `imgflow lock` writes one") }
    options.lock = found ?? (isAsked ? LockFile() : nil)
    options.isFrozen = arguments.has("frozen")
  }

  /// Ends a run whose lock cannot be read.
  private func refuse(_ fault: Fault, _ loaded: LoadedManifest) async -> Int {
    let diagnostic = Diagnostic("E0097", fault.message, at: nil)
    let stream = (try? stream(beside: withoutSecondStream(loaded.sinks))) ?? nil
    await RunRefusal.tell(
      [diagnostic], manifest: loaded.path, tool: CommandLineTool.version, to: stream.map { [$0] } ?? [])
    console.say("imgflow: \(fault.message) (\(fault.code))")
    return 2
  }

  private func tell(_ differences: [LockDifference], _ loaded: LoadedManifest) {
    guard !differences.isEmpty else { return }
    console.say("imgflow: \(differences.count) differences to \(LockFile.path(of: loaded.path)) (lock.violated)")
    for difference in differences.prefix(50) { console.say("  \(difference.text)") }
    if differences.count > 50 { console.say("  … and \(differences.count - 50) more") }
    console.say("  take them over with: imgflow lock \(loaded.path) --update")
  }

  private func options() throws -> RunOptions {
    var options = RunOptions()
    options.tool = CommandLineTool.version
    options.fresh = arguments.has("fresh")
    options.prunes = arguments.has("prune")
    options.only = arguments.all("only")
    options.take = arguments.int("take")
    options.deadline = arguments.interval("deadline")
    options.grace = arguments.interval("grace") ?? options.grace
    options.checksDigests = arguments.value("check") == "digest"
    options.waitsForLock = arguments.has("wait-lock")
    options.failedOnly = try FailureFilter(arguments, command: "run")
    if let path = arguments.value("summary-file"), !SmallFiles.isFolder(PathText.parent(of: PathText.absolute(path))) {
      throw UsageError("--summary-file: there is no folder for `\(path)`", hint: "make it first, or name another file")
    }
    return options
  }

  /// The sinks without a stream on standard output where the command line puts one there: two would mix.
  ///
  /// A required one stays, and takes the place of the command line's: it may hold the run up, and it fails it.
  private func withoutSecondStream(_ sinks: [PlannedSink]) -> [PlannedSink] {
    guard asksForStandardOutput else { return sinks }
    return sinks.compactMap { sink in
      guard sink.op == "ndjson", RunSession.writesToStandardOutput(sink) else { return sink }
      guard sink.isRequired else { return nil }
      var whole = sink
      whole.events = []
      return whole
    }
  }

  private var asksForStandardOutput: Bool {
    arguments.has("json") || ["-", "stdout", "fd:1"].contains(arguments.value("events"))
  }

  /// The stream that the command line asks for, or that a pipe on standard output stands for.
  private func stream(beside sinks: [PlannedSink]) throws -> Listener? {
    let isTaken = sinks.contains(where: RunSession.writesToStandardOutput)
    if asksForStandardOutput { return isTaken ? nil : try RunSession.stream(to: "-") }
    if let place = arguments.value("events") { return try RunSession.stream(to: place) }
    if console.outputIsTerminal || isTaken { return nil }
    return try RunSession.stream(to: "-")
  }

  private static func stream(to place: String) throws -> Listener? {
    switch place {
    case "none": return nil
    case "-": return Listener("events", NDJSONSink.standardOutput)
    default:
      do throws(Fault) {
        return Listener("events", try NDJSONSink(to: place, folder: PathText.currentFolder))
      } catch {
        throw UsageError("--events: \(error.message)", hint: "such as `--events fd:3 3>events.ndjson`", command: "run")
      }
    }
  }

  private static func writesToStandardOutput(_ sink: PlannedSink) -> Bool {
    ["stdout", "-", "fd:1"].contains(sink.config.text("to") ?? (sink.op == "ndjson" ? "stdout" : ""))
  }

  /// The view on the stream of errors.
  private func progress(beside sinks: [PlannedSink]) -> Listener? {
    let asked = arguments.value("progress")
    if asked == "none" || (asked == nil && (arguments.has("quiet") || sinks.contains { $0.op == "progress" })) {
      return nil
    }
    let style = asked.flatMap(ProgressSink.Style.init(rawValue:)) ?? .auto
    return Listener("progress", ProgressSink(style: style))
  }

  /// So long after the second signal the process ends, even if something still waits.
  private static let lastWords = Interval.seconds(2)

  /// The first signal drains, the second ends at once, however little whoever reads the streams takes.
  private func watchSignals(_ current: Guarded<Runner>, _ page: RunPage?) {
    let seen = Guarded(0)
    let leaving = leaving
    Signals.watch { number in
      let count = seen.withLock { count in
        count += 1
        return count
      }
      leaving.withLock { $0 = $0 ?? number }
      let request = ControlRequest(count == 1 ? .drain : .abort, by: "signal", signal: number)
      let isHeld = page?.isHeld ?? false
      // Nothing goes on while the page waits for a tap: the waiting ends, and with it the program.
      if let page, isHeld, page.leave() { return }
      let runner = current.withLock { $0 }
      Task {
        let answer = await runner.request(request)
        // The work is done and only a reader is waited for: that is no reason to stay.
        if count == 1, answer.state == .done, !isHeld { RunSession.leaveSoon(128 + number) }
      }
      if count == 2 { RunSession.leaveSoon(128 + number) }
    }
  }

  /// Ends the process in a moment, whoever still holds it up.
  private static func leaveSoon(_ code: Int) {
    WorkerThread.start("last") {
      let timer = Mailbox<Never>()
      var none: [Never] = []
      timer.take(into: &none, until: SystemTime().now() + lastWords)
      ProcessFacts.exit(code)
    }
  }

  private func summary(of outcome: RunOutcome, _ runner: Runner) -> [UInt8] {
    var bytes: [UInt8] = []
    NDJSON.append(
      Event(seq: 0, time: SystemTime().wall(), elapsed: outcome.elapsed, run: runner.id, payload: .runEnd(outcome.end)),
      to: &bytes)
    return bytes
  }

  /// Ends the stream of a run whose command line is wrong, where the stream was named or goes to a pipe.
  static func refuse(_ error: UsageError, _ console: Console) async {
    let arguments = error.arguments
    let place = arguments.has("json") ? "-" : arguments.value("events") ?? (console.outputIsTerminal ? "none" : "-")
    guard let stream = try? stream(to: place) else { return }
    await RunRefusal.tell(
      [Diagnostic("E0099", error.message, at: nil, hint: error.hint)], manifest: arguments.operand("MANIFEST"),
      tool: CommandLineTool.version, to: [stream])
  }
}

extension Listener {
  /// A sink that no manifest names.
  init(_ name: String, _ sink: any Sink) {
    self.init(
      name: name, patience: sink.patience, render: { sink.render($0, into: &$1) }, open: { try await sink.open() },
      deliver: { try await sink.deliver($0) }, close: { try await sink.close() })
  }
}
