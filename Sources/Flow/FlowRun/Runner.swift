public import FlowBase
public import FlowEvents
public import FlowParts
public import FlowPlan
internal import FlowStore

/// Drives a plan from its first request to its last event.
///
/// Make one for each run; attach who listens; then `run`. Everything that it is asked meanwhile goes through `request`.
public final class Runner: Sendable {
  /// What is run.
  public let plan: Plan
  /// What this run is asked for beside the plan.
  public let options: RunOptions
  /// The run's id.
  public let id: String
  private let clock: any TimeSource
  private let bus: EventBus
  private let redaction: Redaction
  private struct State {
    var mailbox: Mailbox<RunLoop.Letter>?
    var early: [ControlRequest] = []
    var isOver = false
    var task: Task<RunOutcome, Never>?
    var openPage: PageOpener?
  }
  private let state = Guarded(State())

  /// A run that has not begun.
  public init(_ plan: Plan, options: RunOptions = RunOptions(), clock: any TimeSource = SystemTime()) {
    self.plan = plan
    self.options = options
    self.clock = clock
    id = RunID.make(at: clock.wall())
    let redaction = Redaction(secrets: plan.secrets)
    self.redaction = redaction
    let folder = StateFolder(directory: plan.state.folder, stem: plan.state.stem)
    let holder = HoldHolder()
    hold = holder
    bus = EventBus(
      run: id, time: clock, limits: StreamLimits(folder: folder.spool), mask: { redaction.masked($0) },
      onHoldChange: { holder.changed() })
  }

  private let hold: HoldHolder

  /// Adds a listener; before `run`.
  public func attach(_ listener: Listener) { bus.attach(listener) }

  /// The events as values; before `run`.
  public func events(_ filter: EventFilter = .all) -> EventFeed { bus.events(filter) }

  /// How the run has ended that `start` began, once it has; nil where nothing was started.
  public var outcome: RunOutcome? {
    get async { await state.withLock { $0.task }?.value }
  }

  /// Keeps what `start` began.
  func keep(_ task: Task<RunOutcome, Never>) { state.withLock { $0.task = task } }

  /// Runs the plan and tells the listeners; returns when the last has been told.
  @discardableResult
  public func run() async -> RunOutcome {
    attachSinks()
    let opened: OpenRun
    do {
      opened = try await onThread("open") { [self] in Result { () throws(Fault) in try open() } }.get()
    } catch {
      return await refuse(Fault(error))
    }
    bus.emit(.streamStart(streamStart(resumedFrom: opened.resumedFrom)))
    for line in opened.notes { bus.emit(.log(Payload.LogLine(.info, line))) }
    let control = try? ControlSocket(folder: opened.folder.run(id)) { [self] in await serve($0) }
    hold.mailbox.withLock { $0 = opened.loop.mailbox }
    state.withLock { state in
      state.mailbox = opened.loop.mailbox
      for request in state.early { opened.loop.mailbox.post(.control(request) { _ in }) }
    }
    var outcome = await onThread("run") { opened.loop.main() }
    for stage in opened.loop.stages { await stage.close() }
    state.withLock { $0.isOver = true }
    opened.loop.refuseLateRequests()
    outcome.troubles = opened.loop.troubles
    control?.close()
    await bus.settleRequired()
    if !bus.requiredFaults.isEmpty { outcome.add(.sinkFailed) }
    outcome.troubles += bus.requiredFaults.map { opened.runStore.redact($0.message) }
    let record = opened.record(of: outcome, at: clock.wall())
    if options.prunes, outcome.isComplete, !outcome.isWhole {
      bus.emit(
        .log(
          Payload.LogLine(
            .warn,
            "nothing was removed: some items took no part, or a stage that gathers was not done, so nobody knows which "
              + "files are made no more")))
    } else if options.prunes, outcome.isComplete {
      // What is an orphan is judged by the last complete run, and that is to be this one.
      try? await opened.runStore.recordEnd(record)
      do {
        for line in try await opened.runStore.prune().lines { bus.emit(.log(line)) }
      } catch {
        bus.emit(.log(Payload.LogLine(.warn, "nothing was removed: \(error.message)")))
      }
    }
    await onThread("close") { opened.close(record) }
    outcome.streams = await bus.finish(outcome.end)
    return outcome
  }

  /// Opens a page about the run as it stands, at a place or a free one, and gives its address.
  public typealias PageOpener = @Sendable (_ place: String?, _ state: RunState) async throws -> String

  /// Says how a page is opened, when somebody asks for it through the run's socket.
  public func onPage(_ open: @escaping PageOpener) { state.withLock { $0.openPage = open } }

  /// Answers what comes through the run's socket.
  private func serve(_ request: ControlRequest) async -> ControlAnswer {
    var answer = await self.request(request)
    guard request.verb == .page, answer.isAccepted else { return answer }
    do {
      guard let open = state.withLock({ $0.openPage }) else {
        throw Fault("control.refused", .permanent, "this run has no page")
      }
      answer.message = try await open(request.setting?.value, answer.state)
    } catch {
      answer.isAccepted = false
      answer.message = Fault(error).message
    }
    return answer
  }

  /// Asks something of the run; before its begin, what is asked is done at once when it begins.
  @discardableResult
  public func request(_ request: ControlRequest) async -> ControlAnswer {
    await withCheckedContinuation { continuation in
      let answer = state.withLock { state -> ControlAnswer? in
        if state.isOver { return .runIsOver }
        guard let mailbox = state.mailbox else {
          state.early.append(request)
          return ControlAnswer(isAccepted: true, message: "will be done when the run begins", state: .idle)
        }
        // Under the lock, so that nothing is posted behind the loop's last look.
        mailbox.post(.control(request) { continuation.resume(returning: $0) })
        return nil
      }
      if let answer { continuation.resume(returning: answer) }
    }
  }

  // MARK: Opening

  private func open() throws(Fault) -> OpenRun {
    DescriptorLimit.raise()
    let folder = StateFolder(directory: plan.state.folder, stem: plan.state.stem)
    let store = try Store(folder: folder, outputFolder: plan.settings.outputFolder, waits: options.waitsForLock)
    _ = try folder.makeRun(id)
    let journal = store.journal
    let previous = try journal.lastRun()
    let number = try journal.beginRun(
      RunRecord(
        id: id, manifest: plan.manifest, manifestDigest: plan.manifestDigest, started: clock.wall(),
        facts: ["output": .string(plan.settings.outputFolder), "plan": PlanMemory.facts(plan)]))
    let sources = try journal.register(sources: plan.sources.map(\.id))
    let nodes = try journal.register(
      nodes: plan.nodes.map { NodeName(stage: plan.stages[$0.stage].id, leg: $0.axes) })
    let box = MailboxHolder()
    let ledger = try store.startLedger(durability: plan.state.durability.flatMap { Durability(rawValue: $0.rawValue) })
    {
      answers in
      box.post(answers)
    }
    let runStore = try RunStore(
      plan: plan, options: options, journal: journal, ledger: ledger, tree: store.tree, temporary: store.temporary,
      run: number, cutOffRun: previous.flatMap { $0.isComplete ? nil : $0.number }, sourceNumbers: sources,
      nodeNumbers: nodes)
    let services = Services(
      settings: plan.settings, blocking: BlockingPool(name: "work", threads: 8), store: runStore,
      isOffline: options.isFrozen, log: { box.post($0, $1) }, tell: { box.post($0) })
    let loop = RunLoop(
      RunParts(
        plan: plan, options: options, id: id, clock: clock, store: runStore, teller: Teller(bus, start: clock.now()),
        services: services))
    box.mailbox.withLock { $0 = loop.mailbox }
    return OpenRun(
      loop: loop, store: store, runStore: runStore, folder: folder, services: services, number: number, id: id,
      plan: plan, resumedFrom: previous?.id, recovery: store.recovery)
  }

  private func attachSinks() {
    for sink in plan.sinks { bus.attach(Listener(sink, connected(SinkContext(sink, of: plan, run: id)))) }
  }

  /// What a sink is given that no manifest names.
  public func sinkContext(_ name: String) -> SinkContext { connected(SinkContext(name, of: plan, run: id)) }

  /// Adds the ways back to the run.
  private func connected(_ context: SinkContext) -> SinkContext {
    var context = context
    context.log = { [weak bus] level, message in
      bus?.emit(.log(Payload.LogLine(Payload.LogLine.Level(rawValue: level.rawValue) ?? .info, message)))
    }
    context.control = RunControl { [weak self] request, by in
      guard let self else { return ControlAnswer.runIsOver }
      return await self.answer(request, by: by)
    }
    return context
  }

  /// Does what a sink asks for.
  private func answer(_ request: RunControl.Request, by who: String) async -> ControlAnswer {
    guard let verb = ControlRequest.Verb(rawValue: request.verb), verb != .abort, verb != .page,
      let scope = ControlScope(kind: request.kind, name: request.name)
    else {
      return ControlAnswer(
        isAccepted: false, message: "`\(request.verb)` is nothing that a run can be asked for here",
        state: state.withLock { $0.isOver ? .done : $0.mailbox == nil ? .idle : .active })
    }
    let setting = request.key.map { ControlRequest.Setting($0, request.value ?? "") }
    if verb == .set, setting == nil {
      return ControlAnswer(
        isAccepted: false, message: "`set` needs a key and a value",
        state: state.withLock { $0.isOver ? .done : .active })
    }
    return await self.request(
      ControlRequest(verb, scope: scope, now: request.isImmediate, setting: setting, by: who))
  }

  private func streamStart(resumedFrom: String?) -> Payload.StreamStart {
    Payload.StreamStart(
      tool: options.tool, manifest: plan.manifest.isEmpty ? nil : plan.manifest,
      manifestSHA256: plan.manifestDigest.isEmpty ? nil : plan.manifestDigest, resumedFrom: resumedFrom)
  }

  /// Ends a run that could not begin.
  private func refuse(_ fault: Fault) async -> RunOutcome {
    state.withLock { $0.isOver = true }
    bus.emit(.streamStart(streamStart(resumedFrom: nil)))
    bus.emit(.log(Payload.LogLine(.error, fault.message)))
    let exit: ExitCode =
      fault.code == "state.locked" ? .held : fault.kind == .internal ? .bug : fault.kind == .config ? .usage : .disk
    let end = Payload.RunEnd(
      result: .error, exit: exit.rawValue, items: ItemCounts(total: 0), bytesIn: 0,
      errors: [CodeCount(code: fault.code, count: 1)])
    let streams = await bus.finish(end)
    return RunOutcome(end: end, isComplete: false, elapsed: .zero, fault: fault, streams: streams)
  }
}

/// How a run ended.
public struct RunOutcome: Sendable {
  /// What `run.end` says.
  public var end: Payload.RunEnd
  /// Whether every source was read to its end and every item ended.
  public var isComplete: Bool
  /// Whether all items were to take part, and all stages that gather the whole run are done.
  public var isWhole = true
  /// How long it took.
  public var elapsed: Interval
  /// Why the run could not begin.
  public var fault: Fault?
  /// What went wrong with the run itself, in words without secrets; the first of it.
  public var troubles: [String] = []
  /// What was not as locked.
  public var differences: [LockDifference] = []
  /// How each listener's stream ended.
  public var streams: [StreamReport] = []

  /// The exit code of the program.
  public var exit: ExitCode { ExitCode(rawValue: end.exit) ?? .bug }

  /// Adds something that makes the run worse.
  mutating func add(_ code: ExitCode) {
    end.exit = ExitCode.strongest([exit, code]).rawValue
    if end.result == .success { end.result = .failure }
  }
}

/// What the loop is made of.
struct RunParts {
  var plan: Plan
  var options: RunOptions
  var id: String
  var clock: any TimeSource
  var store: RunStore
  var teller: Teller
  var services: Services
}

/// A run whose state is open and locked.
private struct OpenRun: Sendable {
  let loop: RunLoop
  let store: Store
  let runStore: RunStore
  let folder: StateFolder
  let services: Services
  let number: Int
  let id: String
  let plan: Plan
  let resumedFrom: String?
  let recovery: Recovery

  /// What is worth saying of how the state was found.
  var notes: [String] {
    recovery.adoptedFiles == 0
      ? [] : ["took over \(recovery.adoptedFiles) finished files that a run which was cut off had left"]
  }

  func record(of outcome: RunOutcome, at time: WallTime) -> RunRecord {
    let items = outcome.end.items
    return RunRecord(
      number: number, id: id, manifest: plan.manifest, manifestDigest: plan.manifestDigest, started: time, ended: time,
      result: outcome.end.result.rawValue, exit: outcome.end.exit, isComplete: outcome.isComplete,
      isWhole: outcome.isWhole,
      facts: [
        "plan": PlanMemory.facts(plan),
        "output": .string(plan.settings.outputFolder), "total": .int(items.ended), "ok": .int(items.ok),
        "cached": .int(items.cached), "filtered": .int(items.filtered), "failed": .int(items.failed),
        "cancelled": .int(items.cancelled), "bytes_in": .int(outcome.end.bytesIn),
        "ms": .double(outcome.elapsed.milliseconds), "why": .list(outcome.troubles.map(Value.string)),
      ])
  }

  func close(_ record: RunRecord) {
    services.runEnds()
    runStore.close(record)
    services.blocking.close()
    store.close()
  }
}

/// Holds the loop's mailbox for those that are made before the loop.
private final class MailboxHolder: Sendable {
  let mailbox = Guarded<Mailbox<RunLoop.Letter>?>(nil)

  func post(_ answers: [StoreAnswer]) {
    var replies: [StoreReply] = []
    for answer in answers {
      let fault: Fault? = if case .failure(let fault) = answer.outcome { fault } else { nil }
      if answer.ticket == RunStore.flushTicket {
        replies.append(.flushed)
      } else if answer.ticket >= RunStore.lotTicket {
        replies.append(.lotEnded(Int(answer.ticket - RunStore.lotTicket), fault))
      } else if answer.ticket != 0 {
        replies.append(.itemEnded(ticket: Int(answer.ticket), fault))
      } else if let fault {
        replies.append(.runFault(fault))
      }
    }
    if !replies.isEmpty { mailbox.withLock { $0 }?.post(.stored(replies)) }
  }

  func post(_ level: LogLevel, _ message: String) { mailbox.withLock { $0 }?.post(.log(level, message)) }
  func post(_ payload: Payload) { mailbox.withLock { $0 }?.post(.tell(payload)) }
}

/// Passes on that a required listener is behind or has caught up.
private final class HoldHolder: Sendable {
  let mailbox = Guarded<Mailbox<RunLoop.Letter>?>(nil)

  func changed() { mailbox.withLock { $0 }?.post(.holdChanged) }
}

/// Does blocking work on a thread of its own, so that it may wait as long as it likes.
func onThread<Result: Sendable>(_ name: String, _ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    WorkerThread.start(name) { continuation.resume(returning: body()) }
  }
}
