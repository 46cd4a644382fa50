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
    /// A host may be asked again, so many times.
    case hostOpened(Int, count: Int)
    /// So many of the items that were asked for need no slot: duplicates, and what an earlier run has done.
    case consumed(Int)
    /// No source has any item left.
    case sourcesEnded
    /// A stage for many items ended.
    case barrierFinished(stage: Int, ok: Bool)
    /// The last of the parked items has come back, for now.
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
    /// Bring back so many parked items.
    case demandParked(Int)
    /// A stage's first operation starts.
    case stageStarted(Int)
    /// A stage is wholly finished.
    case stageEnded(Int)
    /// Run a stage for many items.
    case startBarrier(stage: Int)
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
  /// Whether a slot holds an item.
  var isTaken: [Bool]
  /// How many nodes of the item are ready, held, running or waiting for a retry.
  var live: [Int32]
  /// How many nodes of the item are not final.
  var unfinished: [Int32]
  var freeSlots: [Int]
  /// Items that wait behind a gate and for nothing else, oldest first; entries may be out of date.
  var gated = Ring<Int>()
  var isGated: [Bool]
  var gatedCount = 0

  var queues: [Ring<Operation>]
  var running: [Int]
  var nextStart: [Int]
  var tokens: [Int]
  /// How many nodes of a stage are not final, over all items in the window and parked ones.
  var open: [Int]
  var hasStarted: [Bool]
  var hasEnded: [Bool]
  var barriers: [BarrierState]
  var barriersLeft: Int
  var heldOperations: [Int: Ring<Operation>] = [:]
  var retries = Agenda<Operation>()
  /// The stages that are no barriers, last first: what is nearly done goes before what is new.
  let order: [Int]

  var sourcesEnded = false
  var demanded = 0
  var parkedCount = 0
  var parkedDemanded = 0
  /// How many parked items have not been looked at since a gate was opened.
  var parkedToReview = 0
  var isFinished = false

  /// A machine that has seen nothing.
  public init(_ shape: GraphShape) {
    self.shape = shape
    let window = shape.window
    states = Array(repeating: .waiting, count: window * shape.nodes.count)
    isTaken = Array(repeating: false, count: window)
    live = Array(repeating: 0, count: window)
    unfinished = Array(repeating: 0, count: window)
    isGated = Array(repeating: false, count: window)
    freeSlots = Array((0..<window).reversed())
    let count = shape.stages.count
    queues = Array(repeating: Ring(), count: count)
    running = Array(repeating: 0, count: count)
    nextStart = Array(repeating: .min, count: count)
    tokens = shape.pools
    open = Array(repeating: 0, count: count)
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
      where !queues[stage].isEmpty && nextStart[stage] > now.nanoseconds
        && running[stage] < shape.stages[stage].concurrency
      {
        earliest = min(earliest, nextStart[stage])
      }
    }
    return earliest == .max ? nil : Instant(nanoseconds: earliest)
  }

  /// What to do at the very start.
  public mutating func begin(at now: Instant, into actions: inout [Action]) { settle(now, &actions) }

  /// Takes a new item into the window; nil where there is no room, which cannot be when it was demanded.
  public mutating func admit(at now: Instant, into actions: inout [Action]) -> Int? {
    demanded = max(0, demanded - 1)
    guard let slot = freeSlots.popLast() else { return nil }
    take(slot)
    for node in shape.nodes { open[node.stage] += 1 }
    for node in shape.nodes.indices where shape.nodes[node].inputs.isEmpty { advance(slot, node) }
    if mode.isStopping { cancelQueued(slot) }
    afterChange(slot, now, &actions)
    settle(now, &actions)
    return slot
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
    guard let slot = freeSlots.popLast() else { return nil }
    if wasParked { parkedCount -= 1 }
    take(slot)
    let base = slot * shape.nodes.count
    for node in shape.nodes.indices where node < known.count && known[node].isFinal {
      states[base + node] = known[node]
      unfinished[slot] -= 1
    }
    if !wasParked {
      for node in shape.nodes.indices where !states[base + node].isFinal { open[shape.nodes[node].stage] += 1 }
    }
    for node in shape.nodes.indices where states[base + node] == .waiting { advance(slot, node) }
    if mode.isStopping { cancelQueued(slot) }
    afterChange(slot, now, &actions)
    settle(now, &actions)
    return slot
  }

  /// Takes in what has happened and says what to do about it.
  public mutating func handle(_ event: Event, at now: Instant, into actions: inout [Action]) {
    switch event {
    case .finished(let operation, let outcome): finish(operation, outcome, now, &actions)
    case .retry(let operation, let due): delay(operation, until: due, now, &actions)
    case .held(let operation, let host): hold(operation, host, now, &actions)
    case .hostOpened(let host, let count): release(host, count)
    case .consumed(let count): demanded = max(0, demanded - count)
    case .sourcesEnded:
      sourcesEnded = true
      demanded = 0
    case .barrierFinished(let stage, let ok): endBarrier(stage, ok ? .ok : .failed, &actions)
    case .parkedEnded:
      parkedDemanded = 0
      parkedToReview = 0
    case .pause: if mode == .active { mode = .paused }
    case .resume: if mode == .paused { mode = .active }
    case .drain: stop(.draining, now, &actions)
    case .cancel: stop(.cancelling, now, &actions)
    case .abort: stop(.aborting, now, &actions)
    case .cancelItem(let slot): cancelItem(slot, now, &actions)
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
    isTaken[slot] = true
    live[slot] = 0
    isGated[slot] = false
    unfinished[slot] = Int32(shape.nodes.count)
    let base = slot * shape.nodes.count
    for node in 0..<shape.nodes.count { states[base + node] = .waiting }
  }

  func index(_ operation: Operation) -> Int { operation.slot * shape.nodes.count + operation.node }
}
