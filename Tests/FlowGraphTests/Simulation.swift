import FlowBase
import FlowGraph

/// Drives a machine through a run: performs its actions, lets things happen in a random order, and watches the rules.
struct Simulation {
  /// What is asked of the run at a random moment.
  enum Interference: CaseIterable { case none, pause, drain, cancel, abort, cancelItems, drainThenAbort }

  /// What an operation does each time, decided beforehand so that the order of things cannot change it.
  struct Script {
    var outcome: Outcome
    var retries: Int
    var holds: Int
  }

  let shape: GraphShape
  let items: Int
  let seed: Int
  var machine: GraphMachine
  var dice: Dice
  var now = Instant(nanoseconds: 0)
  var interference: Interference
  var barriersFail: Set<Int> = []
  /// Whether each operation goes well at its first try.
  var isSmooth = false

  private(set) var actions: [GraphMachine.Action] = []
  private(set) var running: [Operation] = []
  private(set) var interrupted: Set<Operation> = []
  private(set) var held: [(operation: Operation, host: Int)] = []
  private(set) var runningBarriers: [Int] = []
  private(set) var slots: [Int: Int] = [:]
  private(set) var parked: [(item: Int, states: [NodeState])] = []
  private(set) var parkedAsked = 0
  private(set) var owed = 0
  private(set) var admitted = 0
  private(set) var toldEnd = false
  private(set) var statuses: [Int: GraphMachine.ItemStatus] = [:]
  private(set) var finals: [Int: [NodeState]] = [:]
  private(set) var tries: [[Int]: (retries: Int, holds: Int)] = [:]
  private(set) var lastStart: [Int: Int] = [:]
  private(set) var started: Set<Int> = []
  private(set) var stageStarts: [Int] = []
  private(set) var stageEnds: [Int] = []
  private(set) var barrierStarts: [Int] = []
  private(set) var barrierSkips: [Int] = []
  private(set) var finishes = 0
  private(set) var mostInFlight = 0
  private(set) var parkings = 0
  private(set) var steps = 0
  private(set) var violations: [String] = []

  init(_ shape: GraphShape, items: Int, seed: Int, interference: Interference = .none) {
    self.shape = shape
    self.items = items
    self.seed = seed
    self.interference = interference
    machine = GraphMachine(shape)
    dice = Dice(seed: seed)
  }

  /// Runs to the end.
  mutating func run() {
    machine.begin(at: now, into: &actions)
    perform()
    let limit = 2_000 + items * (shape.nodes.count + 2) * 40
    while finishes == 0 {
      steps += 1
      if steps > limit { return violations.append("no end after \(steps) steps") }
      interfere()
      if finishes > 0 { break }
      if !happen() { return violations.append("nothing can happen any more: \(standstill)") }
      perform()
    }
    checkEnd()
  }

  private var standstill: String {
    let states = slots.keys.sorted().map { "\($0): \(machine.states(slot: $0))" }
    return "\(machine.mode), admitted \(admitted) of \(items), owed \(owed), parked \(machine.parked), \(states)"
  }

  // MARK: What happens

  private mutating func happen() -> Bool {
    var choices: [Int] = []
    if !running.isEmpty { choices += [0, 0, 0] }
    if owed > 0, admitted < items { choices += [1, 1] }
    if admitted == items, !toldEnd { choices.append(2) }
    if !held.isEmpty { choices.append(3) }
    if parkedAsked > 0 { choices.append(4) }
    if !runningBarriers.isEmpty { choices.append(5) }
    if machine.nextWake(after: now) != nil { choices.append(6) }
    if machine.mode == .paused { choices.append(7) }
    guard let choice = choices.randomElement(using: &dice) else { return false }
    switch choice {
    case 0: endOperation()
    case 1: admit()
    case 2:
      toldEnd = true
      tell(.sourcesEnded)
    case 3: openHost()
    case 4: bringBack()
    case 5:
      let stage = runningBarriers.remove(at: Int.random(in: runningBarriers.indices, using: &dice))
      tell(.barrierFinished(stage: stage, ok: !barriersFail.contains(stage)))
    case 6:
      now = max(now, machine.nextWake(after: now) ?? now)
      tell(.tick)
    default: tell(.resume)
    }
    return true
  }

  private mutating func interfere() {
    guard interference != .none, !machine.mode.isEnding, dice.once(in: 8 + items) else { return }
    switch interference {
    case .none: break
    case .pause: tell(.pause)
    case .drain: tell(.drain)
    case .cancel: tell(.cancel)
    case .abort: tell(.abort)
    case .cancelItems: if let slot = slots.keys.sorted().randomElement(using: &dice) { tell(.cancelItem(slot: slot)) }
    case .drainThenAbort:
      tell(.drain)
      perform()
      tell(.abort)
    }
    perform()
  }

  private mutating func admit() {
    owed -= 1
    let item = admitted
    admitted += 1
    if dice.once(in: 10), isSmooth == false {
      // A duplicate, or done by an earlier run.
      statuses[item] = .ok
      return tell(.consumed(1))
    }
    guard let slot = machine.admit(at: now, into: &actions) else {
      return violations.append("no room for a demanded item")
    }
    place(item, in: slot)
  }

  private mutating func bringBack() {
    parkedAsked -= 1
    guard !parked.isEmpty else {
      violations.append("more parked items were asked for than there are")
      return tell(.parkedEnded)
    }
    let (item, states) = parked.removeFirst()
    guard let slot = machine.admit(states, wasParked: true, at: now, into: &actions) else {
      return violations.append("no room for a parked item")
    }
    place(item, in: slot)
  }

  private mutating func place(_ item: Int, in slot: Int) {
    if slots[slot] != nil { violations.append("slot \(slot) was given away twice") }
    slots[slot] = item
  }

  private mutating func openHost() {
    let host = held[Int.random(in: held.indices, using: &dice)].host
    held.removeAll { $0.host == host }
    tell(.hostOpened(host, count: .max))
  }

  private mutating func endOperation() {
    let operation = running.remove(at: Int.random(in: running.indices, using: &dice))
    guard let item = slots[operation.slot] else { return violations.append("\(operation) runs for no item") }
    let wasInterrupted = interrupted.remove(operation) != nil
    if wasInterrupted, dice.once(in: 2) { return tell(.finished(operation, .cancelled)) }
    let script = script(item, operation.node)
    var tried = tries[[item, operation.node]] ?? (0, 0)
    defer { tries[[item, operation.node]] = tried }
    if tried.holds < script.holds {
      tried.holds += 1
      held.append((operation, operation.node % 3))
      return tell(.held(operation, host: operation.node % 3))
    }
    if tried.retries < script.retries {
      tried.retries += 1
      let delay = Int.random(in: 0...5_000, using: &dice)
      return tell(.retry(operation, at: Instant(nanoseconds: now.nanoseconds + delay)))
    }
    tell(.finished(operation, script.outcome))
  }

  func script(_ item: Int, _ node: Int) -> Script {
    if isSmooth { return Script(outcome: .ok, retries: 0, holds: 0) }
    var dice = Dice(seed: seed &* 1_000_003 &+ item &* 1_009 &+ node)
    let throwOf = Int.random(in: 0..<20, using: &dice)
    return Script(
      outcome: throwOf == 0 ? .failed : throwOf < 3 ? .filtered : .ok,
      retries: dice.once(in: 8) ? 2 : 0, holds: dice.once(in: 6) ? 1 : 0)
  }

  // MARK: What the machine says

  private mutating func tell(_ event: GraphMachine.Event) { machine.handle(event, at: now, into: &actions) }

  private mutating func perform() {
    mostInFlight = max(mostInFlight, machine.inFlight)
    let said = actions
    actions = []
    // A stopping run asks the sources for nothing more.
    if machine.mode.isEnding { owed = 0 }
    for action in said {
      if finishes > 0 { violations.append("\(action) after the end") }
      perform(action)
    }
  }

  private mutating func perform(_ action: GraphMachine.Action) {
    switch action {
    case .start(let operation): start(operation)
    case .interrupt(let operation):
      if !running.contains(operation) { violations.append("\(operation) was interrupted and does not run") }
      interrupted.insert(operation)
    case .endItem(let slot, let status): end(slot, status)
    case .park(let slot):
      guard let item = slots.removeValue(forKey: slot) else { return violations.append("parked nothing") }
      parkings += 1
      parked.append((item, machine.states(slot: slot)))
    case .demand(let count):
      owed += count
      if machine.inFlight + owed > shape.window { violations.append("more was demanded than the window takes") }
    case .admitMade(let count): violations.append("\(count) made items were asked for and there are none")
    case .demandParked(let count):
      if parkedAsked > 0 { violations.append("parked items were asked for before the last were back") }
      parkedAsked += count
    case .stageStarted(let stage): stageStarts.append(stage)
    case .stageEnded(let stage): endStage(stage)
    case .startBarrier(let stage):
      barrierStarts.append(stage)
      runningBarriers.append(stage)
      checkBarrier(stage)
    case .interruptBarrier(let stage):
      if !runningBarriers.contains(stage) { violations.append("barrier \(stage) was interrupted and does not run") }
    case .skipBarrier(let stage): barrierSkips.append(stage)
    case .finished: finishes += 1
    }
  }

  private mutating func start(_ operation: Operation) {
    guard slots[operation.slot] != nil else { return violations.append("\(operation) was started for no item") }
    if running.contains(operation) { violations.append("\(operation) was started twice") }
    let node = shape.nodes[operation.node]
    let stage = shape.stages[node.stage]
    running.append(operation)
    started.insert(node.stage)
    if !stageStarts.contains(node.stage) { violations.append("stage \(node.stage) started without a word") }
    if stageEnds.contains(node.stage) { violations.append("stage \(node.stage) started after its end") }
    for input in node.inputs where !machine.state(Operation(slot: operation.slot, node: input)).isFinal {
      violations.append("\(operation) started before its input \(input)")
    }
    for gate in stage.gates where !stageEnds.contains(gate) {
      violations.append("\(operation) went through the closed gate \(gate)")
    }
    let ofStage = running.count { shape.nodes[$0.node].stage == node.stage }
    if ofStage > stage.concurrency { violations.append("\(ofStage) operations of stage \(node.stage) at once") }
    if let pool = stage.pool {
      let ofPool = running.count { shape.stages[shape.nodes[$0.node].stage].pool == pool }
      if ofPool > shape.pools[pool] { violations.append("\(ofPool) operations in pool \(pool) at once") }
    }
    if stage.interval > 0 {
      if let last = lastStart[node.stage], now.nanoseconds - last < stage.interval {
        violations.append("stage \(node.stage) started again too soon")
      }
      lastStart[node.stage] = now.nanoseconds
    }
  }

  private mutating func end(_ slot: Int, _ status: GraphMachine.ItemStatus) {
    guard let item = slots.removeValue(forKey: slot) else { return violations.append("slot \(slot) ended empty") }
    if statuses[item] != nil { violations.append("item \(item) ended twice") }
    if running.contains(where: { $0.slot == slot }) { violations.append("item \(item) ended while it runs") }
    statuses[item] = status
    finals[item] = machine.states(slot: slot)
    held.removeAll { $0.operation.slot == slot }
    if interference == .none || interference == .pause {
      let expected = expectation(item)
      if expected.status != status { violations.append("item \(item) is \(status), expected \(expected.status)") }
      for node in shape.nodes.indices where !shape.stages[shape.nodes[node].stage].isBarrier {
        let state = machine.state(Operation(slot: slot, node: node))
        if state != expected.states[node] {
          violations.append("item \(item), node \(node): \(state), expected \(expected.states[node])")
        }
      }
    }
  }

  private mutating func endStage(_ stage: Int) {
    if stageEnds.contains(stage) { violations.append("stage \(stage) ended twice") }
    if running.contains(where: { shape.nodes[$0.node].stage == stage }) {
      violations.append("stage \(stage) ended while it runs")
    }
    if !toldEnd, !machine.mode.isEnding { violations.append("stage \(stage) ended before the sources") }
    stageEnds.append(stage)
  }

  private mutating func checkBarrier(_ stage: Int) {
    for need in shape.stages[stage].needs + shape.stages[stage].gates where !stageEnds.contains(need) {
      violations.append("barrier \(stage) started before stage \(need) had ended")
    }
  }

  private mutating func checkEnd() {
    if statuses.count < admitted { violations.append("\(admitted - statuses.count) items did not end") }
    if !machine.mode.isEnding, admitted < items { violations.append("only \(admitted) of \(items) items came") }
    if finishes != 1 { violations.append("the run ended \(finishes) times") }
    if Set(stageEnds).count != shape.stages.count { violations.append("only stages \(stageEnds) have ended") }
    if Set(stageStarts).count != stageStarts.count { violations.append("a stage started twice: \(stageStarts)") }
    if mostInFlight > shape.window { violations.append("\(mostInFlight) items in a window of \(shape.window)") }
    if !running.isEmpty { violations.append("the run ended while operations run") }
    let barriers = shape.stages.indices.filter { shape.stages[$0].isBarrier }
    if (barrierStarts + barrierSkips).sorted() != barriers { violations.append("not each barrier had its turn once") }
  }

  /// What must become of an item that nobody interferes with.
  func expectation(_ item: Int) -> (status: GraphMachine.ItemStatus, states: [NodeState]) {
    var states: [NodeState] = []
    var isLeaf = [Bool](repeating: true, count: shape.nodes.count)
    for (number, node) in shape.nodes.enumerated() {
      let stage = shape.stages[node.stage]
      guard !stage.isBarrier else {
        isLeaf[number] = false
        states.append(.skipped)
        continue
      }
      for input in node.inputs { isLeaf[input] = false }
      let inputs = node.inputs.map { states[$0] }
      let hasFailed = inputs.contains(.failed) || inputs.contains(.skipped)
      let runs =
        stage.runsAlways || inputs.allSatisfy { $0 == .ok } || (stage.joins && !hasFailed && inputs.contains(.ok))
      if runs {
        switch script(item, number).outcome {
        case .ok: states.append(.ok)
        case .filtered: states.append(.filtered)
        case .failed: states.append(.failed)
        case .cancelled: states.append(.cancelled)
        case .split: states.append(.split)
        }
      } else {
        states.append(hasFailed ? .skipped : .filtered)
      }
    }
    if states.contains(.failed) { return (.failed, states) }
    let leaves = isLeaf.indices.filter { isLeaf[$0] }
    return (leaves.isEmpty || leaves.contains { states[$0] == .ok } ? .ok : .filtered, states)
  }
}

extension GraphMachine.Mode {
  var isEnding: Bool { rawValue >= GraphMachine.Mode.draining.rawValue }
}
