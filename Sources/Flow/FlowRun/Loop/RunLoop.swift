import FlowBase
import FlowEvents
import FlowExpressions
import FlowGraph
import FlowParts
import FlowPlan

/// The one thread that drives a run: letters come in, the pure machines decide, and the loop acts on what they say.
///
/// Nothing here waits but the mailbox. Work that waits runs in tasks, on the store's thread or on the transfers'
/// threads, and comes back as a letter. All state is touched by the loop's thread alone, which is why the class may
/// call itself Sendable.
final class RunLoop: @unchecked Sendable {
  /// What reaches the loop from other threads.
  enum Letter: Sendable {
    case source(Int, SourceFeed.Letter)
    case finished(Operation, ticket: Int, Result<StageResult, Fault>)
    case progress(Operation, ticket: Int, bytes: Int, size: Int?)
    case stored([StoreReply])
    case parked([ParkedItem])
    case group(GroupEnd)
    case groupStarted(stage: Int, group: String?, members: Int)
    case barrierDone(stage: Int, ok: Bool)
    case passDone(stage: Int, ok: Bool)
    case control(ControlRequest, reply: @Sendable (ControlAnswer) -> Void)
    case log(LogLevel, String)
    /// Something that concerns a program which works for the run.
    case tell(Payload)
    /// A required sink is behind, or has caught up.
    case holdChanged
    /// What was found at a host after a failure that may be the network's.
    case reached(String, Outage.Finding, after: Fault, Operation, ticket: Int)
    /// What was found while the network was gone.
    case looked(Outage.Finding, at: String)
  }

  let plan: Plan
  let options: RunOptions
  let id: String
  let clock: any TimeSource
  let mailbox = Mailbox<Letter>()
  let store: RunStore
  let teller: Teller
  let services: Services
  let stages: [any Stage]
  let policies: [RetryPolicy]
  let barrierNeeds: Set<Int>
  /// How many of the plan's nodes work on single items.
  let itemNodes: Int
  let fingerprints: Fingerprints
  /// The node that asks again for what an earlier run has; nil where nothing is asked for again.
  let refreshNode: Int?
  /// Whether what was fetched is fetched again instead, since there is no such node.
  let refetches: Bool
  /// Behind which nodes something fetches.
  let fetchesBehind: [Bool]

  /// What is asked of each node that works on single items.
  let facts: [NodeFacts]

  var machine: GraphMachine
  var actions: [GraphMachine.Action] = []
  var slots: [Slot] = []
  var tickets = 0
  var now: Instant
  let started: Instant

  // Hosts
  var gate: HostGate
  var hostNumbers: [String: Int] = [:]
  var hostNames: [String] = []
  /// How many requests may be under way, where that is to be found out.
  var height: Height?
  var outage = Outage()
  /// A node whose stage looks for the network.
  var offlineNode = 0
  /// Whether the run is paused for its network alone.
  var isPausedByOutage = false
  var hostTable: HostTable

  // Sources
  var feeds: [FeedState]
  var unassigned = 0
  var nextFeed = 0
  var waitingItems: [(source: Int, item: PreparedItem)] = []
  var waitingHead = 0
  /// Items that stages have made and that are not in the window yet; all that stages have made.
  var waitingMade = Fifo<MadeDraft>()
  var madeTotal = 0
  /// How many of them the machine has room for.
  var madeAsked = 0
  /// The sample of the run as a whole, where one of so many items is asked for.
  var chosen: SampleOfAll

  // Items
  /// Items that are under way or not yet safe in the journal, by name, with what tells equal from different ones.
  var namesUnderWay: [String: NameState] = [:]
  /// Names of items that are being parked, until the journal has them.
  var parkedNames: [Int: String] = [:]
  /// Items whose end is on its way to the journal, by ticket.
  var ending: [Int: EndingItem] = [:]
  var cachedEnds: [Int] = []
  var counts = RunCounts()
  var bytesIn = 0
  var stageCounts: [StageCounts]
  var errorCodes: [String: Int] = [:]
  var onlyRetryable = true

  // Barriers that wait for the journal
  var dueBarriers: [Int] = []
  var barrierTasks: [Int: Task<Void, Never>] = [:]
  /// How many parked items were asked for last.
  var parkedAsked = 0
  /// Barriers that start when the journal has taken in everything up to now.
  var flushingBarriers: [Int] = []
  /// Stages whose complete groups need not wait for the others.
  var earlyGroups: [EarlyGroups]
  /// Passes over complete groups that wait for the journal, and those for which it has been asked.
  var duePasses: [Int] = []
  var flushingPasses: [Int] = []
  /// Items with results that stages which gather will read, not yet written.
  var earlySlots: Set<Int> = []

  // Time
  var timers = Agenda<Timer>()
  /// Timers that rang while time stood still.
  var heldTimers: [Timer] = []
  /// How long the run as a whole has been paused.
  var pausedTime = Interval.zero

  // The lock
  var lockGuard: LockGuard?
  /// The first node that fetches: what it brings is what is locked.
  let lockNode: Int?
  /// The first node that fetches what a node has made, by the nodes that may make items.
  let lockNodesOfMade: [Int: Int]

  // What was asked of parts of the run
  var pauses = Pauses()
  /// The stages and hosts for which nothing is done any more.
  var closed: Set<ControlScope> = []
  /// Whether a part of the run was drained or cancelled.
  var isCutByControl = false

  // The run
  var state = RunState.idle
  var stopCause: StopCause?
  var configFault: Fault?
  var localFault: Fault?
  var internalFault: Fault?
  /// A source that could not go on.
  var brokenSource: Fault?
  var failedBarrier = false
  /// Whether a source had more to give, or a stage that gathers had not run, when the run was stopped.
  var hasCutSources = false
  var hasSkippedBarrier = false
  /// Whether a stage that gathers failed for the whole run, or was not done: what it made last is not to be lost.
  var hasUnmadeGathering = false
  /// How many items `take` has let through.
  var taken = 0
  /// How many items had ended when `stop_if` was judged last.
  var judgedItems = 0
  /// Whether a required sink is so far behind that nothing new starts.
  var isHeld = false
  var isOver = false
  var isMachineFinished = false

  init(_ parts: RunParts) {
    plan = parts.plan
    options = parts.options
    id = parts.id
    clock = parts.clock
    store = parts.store
    teller = parts.teller
    services = parts.services
    stages = parts.plan.stages.map { $0.part.make() }
    policies = parts.plan.stages.map {
      RetryPolicy(
        attempts: $0.retry.attempts, shortest: $0.retry.shortest, longest: $0.retry.longest, classes: $0.retry.classes)
    }
    var needs = Set<Int>()
    for stage in parts.plan.stages where stage.scope.isBarrier { needs.formUnion(stage.needs) }
    barrierNeeds = needs
    itemNodes = parts.plan.itemNodeCount
    fingerprints = Fingerprints(parts.plan)
    let movable = RunLoop.movableNodes(parts.plan, barrierNeeds: needs)
    let waits = parts.plan.stages.contains { !$0.after.isEmpty }
    let keepsContent = parts.store.keepsContent
    facts = (0..<parts.plan.itemNodeCount).map { [stages] node in
      let stage = parts.plan.nodes[node].stage
      let first = parts.plan.nodes.first { $0.stage == stage }
      // Behind gates, and for stages that gather, results wait longer than memory lasts.
      let spills = waits || parts.plan.isGathered(node)
      return NodeFacts(
        parts.plan, node: node, work: stages[stage],
        digest: parts.plan.digest(of: parts.plan.stages[stage].part.spec, first?.config ?? Config()),
        mayMove: movable[node],
        spills: spills, keepsInMemory: !spills && !keepsContent && parts.plan.feedsBytes(node))
    }
    machine = GraphMachine(GraphShape(parts.plan, window: parts.options.window))
    started = parts.clock.now()
    now = started
    hostTable = parts.plan.settings.hosts
    lockGuard = parts.options.lock.map { LockGuard($0) }
    lockNode = parts.plan.lockNode
    lockNodesOfMade = parts.plan.lockNodesOfMade
    refreshNode = RunLoop.refreshNode(of: parts.plan, stages)
    fetchesBehind = RunLoop.fetchesBehind(parts.plan, stages)
    refetches =
      parts.plan.state.refresh == .changed && refreshNode == nil && stages.contains { $0.asNetworkStage != nil }
    let room = DescriptorLimit.roomForTransfers
    if parts.plan.settings.connections == nil {
      height = Height(RunOptions.automaticConnections, ceiling: min(RunOptions.mostAutomaticConnections, room))
    }
    // More than there are descriptors for would only fail.
    gate = HostGate(total: height?.value ?? min(parts.plan.settings.connections ?? 1, room))
    chosen = SampleOfAll(parts.plan.sources.count > 1 ? parts.plan.sample : nil)
    feeds = parts.plan.sources.map { FeedState(id: $0.id) }
    earlyGroups = parts.plan.stages.indices.compactMap { EarlyGroups(parts.plan, stage: $0) }
    stageCounts = Array(repeating: StageCounts(), count: parts.plan.stages.count)
  }

  private static func movableNodes(_ plan: Plan, barrierNeeds: Set<Int>) -> [Bool] {
    var readers = [Int](repeating: 0, count: plan.nodes.count)
    for node in plan.nodes.prefix(plan.itemNodeCount) { for input in node.inputs { readers[input] += 1 } }
    var movable: [Bool] = []
    for node in plan.nodes {
      guard node.inputs.count == 1, let input = node.inputs.first, input < movable.count else {
        movable.append(node.inputs.isEmpty)
        continue
      }
      let isOnlyReader = readers[input] == 1 && !barrierNeeds.contains(plan.nodes[input].stage)
      movable.append(isOnlyReader && movable[input])
    }
    return movable
  }

  /// Runs until nothing is left; blocks its thread.
  func main() -> RunOutcome {
    begin()
    var letters: [Letter] = []
    while !isOver {
      mailbox.take(into: &letters, until: nextWake())
      now = clock.now()
      // Ledger, transfers and listeners are woken once, when they have all that this turn has for them.
      Wakes.together {
        for place in letters.indices {
          // Taken out and not copied: what a stage has made is many references.
          var letter = Letter.holdChanged
          swap(&letter, &letters[place])
          handle(letter)
        }
        passTime()
        settle()
      }
    }
    return end()
  }

  private func handle(_ letter: consuming Letter) {
    switch letter {
    case .source(let source, let news): heard(from: source, news)
    case .finished(let operation, let ticket, let result): finished(operation, ticket, result)
    case .progress(let operation, let ticket, let bytes, let size): progressed(operation, ticket, bytes, size)
    case .stored(let replies): for reply in replies { stored(reply) }
    case .parked(let items): returned(items)
    case .groupStarted(let stage, let group, let members): groupStarted(stage, group, members)
    case .group(let end): groupEnded(end)
    case .barrierDone(let stage, let ok): barrierDone(stage: stage, ok: ok)
    case .passDone(let stage, let ok): passDone(stage, ok: ok)
    case .control(let request, let reply): reply(control(request))
    case .log(let level, let message): teller.log(level, message)
    case .tell(let payload): teller.tell(payload)
    case .holdChanged: followHold()
    case .reached(let host, let finding, let fault, let operation, let ticket):
      reached(host, finding, fault, operation, ticket)
    case .looked(let finding, let host): looked(finding, at: host)
    }
    perform()
  }

  /// Does what the machine has said, and what follows from that.
  func perform() {
    var cursor = 0
    while cursor < actions.count {
      let action = actions[cursor]
      cursor += 1
      switch action {
      case .start(let operation): start(operation)
      case .interrupt(let operation): slots[operation.slot].tasks[operation.node]?.cancel()
      case .endItem(let slot, let status): endItem(slot, status)
      case .park(let slot): park(slot)
      case .demand(let count): unassigned += count
      case .demandParked(let count): askForParked(count)
      case .admitMade(let count): madeAsked += count
      case .stageStarted(let stage): stageStarted(stage)
      case .stageEnded(let stage): stageEnded(stage)
      case .startBarrier(let stage): dueBarriers.append(stage)
      case .interruptBarrier(let stage): interruptBarrier(stage)
      case .skipBarrier(let stage): skipBarrier(stage)
      case .finished: isMachineFinished = true
      }
    }
    actions.removeAll(keepingCapacity: true)
  }

  /// Reports something to the machine and performs what it says.
  func tell(_ event: GraphMachine.Event) {
    machine.handle(event, at: now, into: &actions)
  }

  /// What is done once after each batch of letters.
  private func settle() {
    judgeHeight()
    for opened in gate.opened(at: now) {
      tell(.hostOpened(opened.host, count: opened.count))
    }
    perform()
    drawSample()
    admitMade()
    admitWaiting()
    admitMade()
    assignDemand()
    writeEarly()
    openCompleteGroups()
    startDueBarriers()
    perform()
    judgeStop()
    judgeRoom()
    store.flush()
    teller.tick(now, progress: currentProgress)
    if isMachineFinished, ending.isEmpty, dueBarriers.isEmpty, flushingBarriers.isEmpty,
      !earlyGroups.contains(where: \.isBusy)
    {
      isOver = true
    }
  }

  private func nextWake() -> Instant? {
    // A reading is due every second at most; waking for it costs nothing.
    var earliest: Instant? = max(teller.nextTick, now + .milliseconds(100))
    for candidate in [
      machine.nextWake(after: now), gate.nextWake, timers.earliest.map { Instant(nanoseconds: $0) },
    ] {
      if let candidate, candidate < (earliest ?? Instant(nanoseconds: .max)) { earliest = candidate }
    }
    return earliest
  }

  private func passTime() {
    while let timer = timers.popDue(by: now.nanoseconds) { ring(timer) }
    // Once a turn, whatever has woken the loop: what is due by time alone starts now.
    tell(.tick)
    perform()
  }

  /// The run's figures as expressions see them.
  var runScope: RunScope {
    RunScope(counts: counts, bytesIn: bytesIn, elapsed: now - started, id: id, name: plan.name)
  }
}

/// Something that is due at a time.
enum Timer: Sendable {
  /// A try, or all tries of an operation, have had their time.
  case late(Operation, ticket: Int, attempt: Int?)
  /// The run's own deadline.
  case deadline
  /// A drain has had its time.
  case grace
  /// The network is gone, and may be back.
  case lookForNetwork
}

/// Why a run stops before its end.
struct StopCause: Sendable {
  /// What asked: `ctl`, `signal`, `stop_if`, `deadline`, a fault.
  var by: String
  /// The code that its cancelled items carry.
  var code: String
  /// The signal, where one asked.
  var signal: Int?
}

/// What a stage has done so far.
struct StageCounts: Sendable {
  var ok = 0
  var failed = 0
  var filtered = 0
  /// Operations at work.
  var running = 0
  var started: Instant?
  var ended = false
}

extension Plan {
  /// The name under which the run is known.
  var name: String { settings.name }
}

extension GraphShape {
  /// The graph of a plan.
  init(_ plan: Plan, window: Int) {
    let pools = plan.settings.pools.keys.sorted()
    let stages = plan.stages.map { stage in
      Stage(
        isBarrier: stage.scope.isBarrier, needs: stage.needs, gates: stage.after, joins: stage.scope == .item,
        runsAlways: stage.condition == .always, concurrency: stage.concurrency ?? .max,
        interval: stage.interval?.nanoseconds ?? 0, pool: stage.pool.flatMap { pools.firstIndex(of: $0) },
        isOrdered: stage.isOrdered)
    }
    let nodes = plan.nodes.prefix(plan.itemNodeCount).map { Node(stage: $0.stage, inputs: $0.inputs) }
    self.init(stages: stages, nodes: nodes, pools: pools.map { plan.settings.pools[$0] ?? 1 }, window: window)
  }
}
