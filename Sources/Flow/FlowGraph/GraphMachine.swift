public import FlowBase

/// Decides what may start now, given the static graph and what has ended: a pure value, without clocks or threads.
///
/// Items stream through a bounded window of slots. The caller admits items when the machine asks for them, performs
/// the actions, and reports what has happened; the machine never waits and never acts.
public struct GraphMachine: Sendable {
  /// What the caller reports.
  public enum Event: Sendable, Hashable {
    /// An operation ended.
    case finished(Operation, Outcome)
    /// An operation failed and is to be tried again at an instant; its slot is free meanwhile.
    case retry(Operation, at: Instant)
    /// An operation that was to start must wait for its host; its slot is free meanwhile.
    case held(Operation, host: Int)
    /// An operation was interrupted to go on later, where the run or a part of it is paused at once.
    case suspended(Operation)
    /// A host may be asked again, so many times.
    case hostOpened(Int, count: Int)
    /// So many of the items that were asked for need no slot: duplicates, and what an earlier run has done.
    case consumed(Int)
    /// A running operation has made so many items, which are to go on behind it; reported before its end.
    case made(Operation, count: Int)
    /// An item that a node has made needs no slot: an earlier run has done it, or its name is taken.
    case madeConsumed(node: Int)
    /// No source has any item left.
    case sourcesEnded
    /// A stage for many items ended.
    case barrierFinished(stage: Int, ok: Bool)
    /// Fewer parked items came back than were asked for: there are no more.
    case parkedEnded
    /// Nothing new starts; what runs goes on.
    case pause
    /// Goes on after a pause.
    case resume
    /// What has begun is finished, nothing else is begun.
    case drain
    /// All that runs is interrupted; stages that run always still have their turn.
    case cancel
    /// Everything is interrupted.
    case abort
    /// One item is cancelled.
    case cancelItem(slot: Int)
    /// Time has passed.
    case tick
  }

  /// What the caller is to do.
  public enum Action: Sendable, Hashable {
    /// Start an operation.
    case start(Operation)
    /// Interrupt a running operation; its end is reported as usual.
    case interrupt(Operation)
    /// An item is through; its slot is free again.
    case endItem(slot: Int, ItemStatus)
    /// Store an item that waits behind a gate; its slot is free again.
    case park(slot: Int)
    /// Admit so many items from the sources.
    case demand(Int)
    /// Admit so many of the items that stages have made.
    case admitMade(Int)
    /// Bring back so many parked items, those first that were parked first; not asked again before these are back.
    case demandParked(Int)
    /// A stage's first operation starts.
    case stageStarted(Int)
    /// A stage is wholly finished.
    case stageEnded(Int)
    /// Run a stage for many items.
    case startBarrier(stage: Int)
    /// Interrupt a stage for many items; its end is reported as usual.
    case interruptBarrier(stage: Int)
    /// A stage for many items will not run, because what it needs failed or the run was stopped.
    case skipBarrier(stage: Int)
    /// Nothing is left.
    case finished
  }

  /// How an item ended.
  public enum ItemStatus: UInt8, Sendable, Hashable {
    case ok, filtered, failed, cancelled
  }

  /// What the machine does about new work.
  public enum Mode: UInt8, Sendable, Hashable {
    case active, paused, draining, cancelling, aborting

    /// Whether the run is on its way to its end.
    var isStopping: Bool { rawValue >= Mode.draining.rawValue }
  }

  enum BarrierState: UInt8, Sendable { case waiting, running, ok, failed }

  /// The static graph.
  public let shape: GraphShape
  /// What the machine does about new work.
  public internal(set) var mode = Mode.active

  /// The states of all nodes for all slots, a row of nodes a slot.
  var states: [NodeState]
  /// How many inputs of a node have not ended, laid out as the states are.
  var pending: [Int32]
  var slots: [Slot]
  var freeSlots: [Int]
  /// Items that wait behind a gate and for nothing else, oldest first; entries may be out of date.
  var gated = Ring<Entry>()
  var gatedCount = 0
  /// Nodes that have ended and whose dependents have not been looked at; empty between events.
  var settling: [Int] = []

  /// What could run and waits for a slot, for each stage, in the order of its coming.
  var queues: [Ring<Entry>]
  /// The same for what has waited for a host already; it goes first.
  var returning: [Ring<Entry>]
  /// The items that are to pass a stage in order, for the stages that are passed so; entries may be out of date.
  var lines: [Int: Ring<Entry>]
  var running: [Int]
  /// What bounds the starts of each stage now.
  var limits: [Wiring.Limits]
  /// The stages that are held back by request.
  var heldStages: [Bool]
  /// What could run of items that are held back by request, by slot.
  var aside: [Int: [Entry]] = [:]
  var nextStart: [Int]
  var tokens: [Int]
  /// How many nodes of a stage are not final, over all items in the window and parked ones.
  var open: [Int]
  /// For how many stages a stage still waits.
  var closedGates: [Int]
  var hasStarted: [Bool]
  var hasEnded: [Bool]
  var barriers: [BarrierState]
  var barriersLeft: Int
  /// Whether something has happened that can end a stage or start a barrier.
  var isReviewDue = true
  var heldOperations: [Int: Ring<Entry>] = [:]
  var retries = Agenda<Entry>()
  /// The stages that are no barriers, last first: what is nearly done goes before what is new.
  let order: [Int]

  var sourcesEnded = false
  var demanded = 0
  var parkedCount = 0
  var parkedDemanded = 0
  /// How many parked items have not been looked at since a gate was opened.
  var parkedToReview = 0
  /// How many items that stages have made are still to come into the window, by the node that made them.
  var madeAhead: [Int: Int] = [:]
  var madeCount = 0
  /// How many of them were asked for and have not come yet.
  var madeDemanded = 0
  var isFinished = false

  /// A machine that has seen nothing.
  public init(_ shape: GraphShape) {
    self.shape = shape
    let window = shape.window
    states = Array(repeating: .waiting, count: window * shape.nodes.count)
    pending = Array(repeating: 0, count: window * shape.nodes.count)
    slots = Array(repeating: Slot(), count: window)
    freeSlots = Array((0..<window).reversed())
    let count = shape.stages.count
    queues = Array(repeating: Ring(), count: count)
    returning = Array(repeating: Ring(), count: count)
    lines = [:]
    for stage in shape.stages.indices where shape.stages[stage].isOrdered { lines[stage] = Ring() }
    running = Array(repeating: 0, count: count)
    limits = shape.wiring.limits
    heldStages = Array(repeating: false, count: count)
    nextStart = Array(repeating: .min, count: count)
    tokens = shape.pools
    open = Array(repeating: 0, count: count)
    closedGates = shape.wiring.gateCount
    hasStarted = Array(repeating: false, count: count)
    hasEnded = Array(repeating: false, count: count)
    barriers = Array(repeating: .waiting, count: count)
    barriersLeft = shape.stages.count(where: \.isBarrier)
    order = shape.stages.indices.filter { !shape.stages[$0].isBarrier }.reversed()
  }

  /// How many items are in the window.
  public var inFlight: Int { shape.window - freeSlots.count }
  /// How many operations of a stage run.
  public func running(stage: Int) -> Int { running[stage] }
  /// How many operations run.
  public var runningCount: Int { running.reduce(0, +) }
  /// How many items were asked for, have not come yet, and find room.
  public var wanted: Int { min(demanded, max(0, freeSlots.count - parkedDemanded)) }
  /// How many items wait on disk behind a gate.
  public var parked: Int { parkedCount }
  /// The state of a node for an item in the window.
  public func state(_ operation: Operation) -> NodeState { states[index(operation)] }
  /// The states of all nodes for an item in the window.
  public func states(slot: Int) -> [NodeState] {
    Array(states[slot * shape.nodes.count..<(slot + 1) * shape.nodes.count])
  }

  /// When the machine wants a `tick`, where time alone will let something start.
  public func nextWake(after now: Instant) -> Instant? {
    var earliest = retries.earliest ?? .max
    if mode == .active || mode == .draining {
      for stage in order
      where nextStart[stage] > now.nanoseconds && !(queues[stage].isEmpty && returning[stage].isEmpty)
        && running[stage] < limits[stage].concurrency && !heldStages[stage]
      {
        earliest = min(earliest, nextStart[stage])
      }
    }
    return earliest == .max ? nil : Instant(nanoseconds: earliest)
  }

  /// Hears when a start was really made that it had decided on, for the stage's interval.
  public mutating func hasStarted(stage: Int, at instant: Instant) {
    let next = instant.nanoseconds.addingSaturating(limits[stage].interval)
    nextStart[stage] = max(nextStart[stage], next)
  }

  /// What to do at the very start.
  public mutating func begin(at now: Instant, into actions: inout [Action]) { settle(now, &actions) }

  /// Takes a new item into the window; nil where there is no room, which cannot be when it was demanded.
  public mutating func admit(at now: Instant, into actions: inout [Action]) -> Int? {
    demanded = max(0, demanded - 1)
    guard !isFinished, let slot = freeSlots.popLast() else { return nil }
    take(slot)
    for stage in open.indices { open[stage] += shape.wiring.width[stage] }
    for node in shape.wiring.roots { advance(slot, node) }
    return enter(slot, now, &actions)
  }

  /// Takes an item into the window some of whose nodes have ended already.
  ///
  /// That is so after an earlier run, after it was parked, and where a stage has made the item. States that are not
  /// final count as waiting.
  public mutating func admit(
    _ known: [NodeState], wasParked: Bool, at now: Instant, into actions: inout [Action]
  ) -> Int? {
    if wasParked {
      parkedDemanded = max(0, parkedDemanded - 1)
      parkedToReview = max(0, parkedToReview - 1)
    } else {
      demanded = max(0, demanded - 1)
    }
    guard !isFinished, let slot = freeSlots.popLast() else { return nil }
    if wasParked { parkedCount = max(0, parkedCount - 1) }
    fill(slot, known, isCounted: wasParked)
    return enter(slot, now, &actions)
  }

  /// Gives a slot to an item some of whose nodes have ended, and sets the others going.
  mutating func fill(_ slot: Int, _ known: [NodeState], isCounted: Bool) {
    take(slot)
    let base = slot * shape.nodes.count
    for node in shape.nodes.indices where states[base + node] == .waiting {
      if node < known.count, known[node].isFinal {
        states[base + node] = known[node]
        slots[slot].unfinished -= 1
        for place in shape.wiring.dependents(of: node) { pending[base + shape.wiring.dependent(at: place)] -= 1 }
      } else if !isCounted {
        open[shape.wiring.rules[node].stage] += 1
      }
    }
    for node in shape.nodes.indices where states[base + node] == .waiting && pending[base + node] == 0 {
      advance(slot, node)
    }
  }

  mutating func enter(_ slot: Int, _ now: Instant, _ actions: inout [Action]) -> Int {
    if mode.isStopping { cancelQueued(slot) }
    afterChange(slot, &actions)
    settle(now, &actions)
    return slot
  }

  /// Takes in what has happened and says what to do about it.
  public mutating func handle(_ event: Event, at now: Instant, into actions: inout [Action]) {
    switch event {
    case .finished(let operation, let outcome): finish(operation, outcome, &actions)
    case .retry(let operation, let due): delay(operation, until: due, &actions)
    case .held(let operation, let host): hold(operation, host, &actions)
    case .suspended(let operation): suspend(operation, &actions)
    case .hostOpened(let host, let count): release(host, count)
    case .consumed(let count): demanded = max(0, demanded - count)
    case .made(let operation, let count): expectMade(operation, count)
    case .madeConsumed(let node): consumeMade(node)
    case .sourcesEnded:
      sourcesEnded = true
      demanded = 0
      isReviewDue = true
    case .barrierFinished(let stage, let ok): endBarrier(stage, from: .running, to: ok ? .ok : .failed)
    case .parkedEnded: forgetParked()
    case .pause: if mode == .active { mode = .paused }
    case .resume: if mode == .paused { mode = .active }
    case .drain: stop(.draining, &actions)
    case .cancel: stop(.cancelling, &actions)
    case .abort: stop(.aborting, &actions)
    case .cancelItem(let slot): cancelItem(slot, &actions)
    case .tick: break
    }
    settle(now, &actions)
  }

  /// The same, for tests and for callers that do not mind an array a call.
  public mutating func handle(_ event: Event, at now: Instant) -> [Action] {
    var actions: [Action] = []
    handle(event, at: now, into: &actions)
    return actions
  }

  private mutating func take(_ slot: Int) {
    slots[slot].take(unfinished: shape.wiring.passed)
    let base = slot * shape.nodes.count
    for node in 0..<shape.nodes.count {
      states[base + node] = shape.wiring.firstStates[node]
      pending[base + node] = shape.wiring.firstPending[node]
    }
    if !lines.isEmpty { joinLines(slot) }
  }

  func index(_ operation: Operation) -> Int { operation.slot * shape.nodes.count + operation.node }
}

extension GraphMachine {
  /// A place in the window.
  struct Slot: Sendable {
    var isTaken = false
    /// Whether the item waits behind a gate and for nothing else.
    var isGated = false
    /// Whether the item was cancelled, so that nothing of it is tried again.
    var isCancelled = false
    /// Whether the item is held back by request.
    var isHeld = false
    /// How many nodes of the item are ready, held, running or waiting for a retry.
    var live = 0
    /// How many nodes of the item are not final.
    var unfinished = 0
    /// Rises with each item that the slot holds, so that entries for earlier ones can be told.
    var generation: UInt32 = 0

    mutating func take(unfinished: Int) {
      self = Slot(isTaken: true, unfinished: unfinished, generation: generation &+ 1)
    }
  }

  /// An operation in a queue, with the item for which it was put there.
  struct Entry: Sendable {
    var slot: Int32
    var node: Int32
    var generation: UInt32

    var operation: Operation { Operation(slot: Int(slot), node: Int(node)) }
  }

  func entry(_ slot: Int, _ node: Int) -> Entry {
    Entry(slot: Int32(slot), node: Int32(node), generation: slots[slot].generation)
  }

  /// Whether an entry's item is still in the slot.
  func isCurrent(_ entry: Entry) -> Bool {
    let slot = Int(entry.slot)
    return slots[slot].isTaken && slots[slot].generation == entry.generation
  }

  /// Whether an operation is one of the graph's and runs.
  func runs(_ operation: Operation) -> Bool {
    slots.indices.contains(operation.slot) && shape.nodes.indices.contains(operation.node)
      && slots[operation.slot].isTaken && states[index(operation)] == .running
  }
}
