import FlowBase
import FlowEvents
import FlowGraph
import FlowParts
import FlowPlan

/// What is asked of a source, a stage, a host or an item while the run goes.
extension RunLoop {
  func steer(_ request: ControlRequest) -> ControlAnswer {
    let scope = request.scope
    if state == .draining || state == .done { return refusal("the run is \(state.rawValue)") }
    if let absence = absence(of: scope) { return refusal(absence) }
    switch request.verb {
    case .pause:
      let isNew = pauses.pause(scope, at: now)
      guard isNew || request.isImmediate else { return refusal("\(scope.words) is paused already") }
      if isNew { hold(scope) }
      let count = request.isImmediate ? suspend(scope) : 0
      return acceptance(
        request.isImmediate
          ? "\(scope.words) is paused; \(count) transfers were stopped, and go on later"
          : "\(scope.words) is paused; what runs goes on, nothing new starts")
    case .resume:
      guard pauses.holds(scope) else { return refusal("\(scope.words) is not paused") }
      release(scope)
      return acceptance("\(scope.words) goes on")
    case .drain, .cancel, .abort:
      close(scope, isHard: request.verb != .drain)
      return acceptance(
        request.verb == .drain
          ? "\(scope.words) is drained; what has begun is finished" : "\(scope.words) is cancelled")
    case .set: return set(request)
    case .page: return acceptance("")
    }
  }

  private func acceptance(_ message: String) -> ControlAnswer {
    ControlAnswer(isAccepted: true, message: message, state: state)
  }

  private func refusal(_ message: String) -> ControlAnswer {
    ControlAnswer(isAccepted: false, message: message, state: state)
  }

  /// Why there is nothing of that name; nil where there is.
  private func absence(of scope: ControlScope) -> String? {
    switch scope {
    case .run, .host: nil
    case .source(let id):
      plan.sources.contains { $0.id == id }
        ? nil : "there is no source `\(id)`; there are \(plan.sources.map(\.id).joined(separator: ", "))"
    case .stage(let id):
      plan.stages.contains { $0.id == id }
        ? nil : "there is no stage `\(id)`; there are \(plan.stages.map(\.id).joined(separator: ", "))"
    case .item(let name):
      slots.contains { $0.ticket >= 0 && $0.item.isCalled(name) } || pauses.holds(scope)
        ? nil : "no item `\(name)` is under way; `imgflow status` lists what is left"
    }
  }

  // MARK: Holding back

  private func hold(_ scope: ControlScope) {
    switch scope {
    case .run: break
    case .stage: each(stage: scope) { machine.setHeld(stage: $0, true, at: now, into: &actions) }
    case .host: for (name, number) in hostNumbers where scope.covers(host: name) { gate.setHeld(number, true) }
    case .source, .item:
      for slot in slots.indices where isMeant(slot, by: scope) {
        machine.setHeld(slot: slot, true, at: now, into: &actions)
      }
    }
  }

  /// Lets a part go on that was held back.
  func release(_ scope: ControlScope) {
    goOn(scope)
    switch scope {
    case .run: break
    case .stage: each(stage: scope) { machine.setHeld(stage: $0, false, at: now, into: &actions) }
    case .host:
      for (name, number) in hostNumbers where scope.covers(host: name) && !pauses.holds(host: name) {
        gate.setHeld(number, false)
      }
    case .source, .item:
      for slot in slots.indices where isMeant(slot, by: scope) && !isPaused(slot) {
        machine.setHeld(slot: slot, false, at: now, into: &actions)
      }
    }
  }

  private func each(stage scope: ControlScope, _ body: (Int) -> Void) {
    for place in plan.stages.indices where scope == .stage(plan.stages[place].id) { body(place) }
  }

  /// Whether an item in the window is one of those that a source's or an item's scope means.
  private func isMeant(_ slot: Int, by scope: ControlScope) -> Bool {
    guard slots[slot].ticket >= 0 else { return false }
    return switch scope {
    case .source(let id): slots[slot].item.source == id
    case .item(let name): slots[slot].item.isCalled(name)
    default: false
    }
  }

  /// Whether an item in the window is held back, by its name or with its source.
  func isPaused(_ slot: Int) -> Bool {
    let item = slots[slot].item
    return pauses.holds(item: item.name, of: item.source) || pauses.holds(.item(item.key))
  }

  /// Whether an operation belongs to a part of the run.
  private func isMeant(_ operation: Operation, by scope: ControlScope) -> Bool {
    switch scope {
    case .run: true
    case .stage(let id): plan.stages[plan.nodes[operation.node].stage].id == id
    case .host: slots[operation.slot].host(of: operation.node).map { scope.covers(host: hostNames[$0]) } ?? false
    case .source, .item: isMeant(operation.slot, by: scope)
    }
  }

  /// The operations that ask a host just now.
  private var operationsAtHosts: [Operation] {
    slots.indices.flatMap { slot in
      slots[slot].hosts.indices.filter { slots[slot].host(of: $0) != nil }.map { Operation(slot: slot, node: $0) }
    }
  }

  /// Stops the transfers of a part of the run, to go on with what they have; says how many.
  @discardableResult
  func suspend(_ scope: ControlScope) -> Int {
    var count = 0
    for operation in operationsAtHosts where isMeant(operation, by: scope) {
      guard slots[operation.slot].ticket >= 0, let task = slots[operation.slot].tasks[operation.node] else { continue }
      slots[operation.slot].course.suspended.insert(operation.node)
      task.cancel()
      count += 1
    }
    return count
  }

  // MARK: Time

  /// Ends a pause: the time that it took counts towards no limit.
  func goOn(_ scope: ControlScope) {
    guard let length = pauses.resume(scope, at: now) else { return }
    let start = now + Interval(nanoseconds: -length.nanoseconds)
    if scope == .run { pausedTime = pausedTime + length }
    for slot in slots.indices where slots[slot].ticket >= 0 {
      for node in slots[slot].firstStart.indices
      where isMeant(Operation(slot: slot, node: node), by: scope)
        || isWaiting(Operation(slot: slot, node: node), for: scope)
      {
        if let first = slots[slot].firstStart[node], first <= start {
          slots[slot].firstStart[node] = first + length
        }
        if slots[slot].tryStart[node] <= start { slots[slot].tryStart[node] = slots[slot].tryStart[node] + length }
      }
    }
    let due = heldTimers
    heldTimers = []
    for timer in due { timers.add(timer, due: now.nanoseconds) }
  }

  /// Whether an operation waits for a host that was held back.
  private func isWaiting(_ operation: Operation, for scope: ControlScope) -> Bool {
    guard case .host = scope, machine.state(operation) == .held || machine.state(operation) == .ready else {
      return false
    }
    return slots[operation.slot].item.fields["host"]?.asString.map {
      scope.covers(host: $0 + ":") || scope == .host($0)
    }
      ?? false
  }

  /// Whether time stands still for an operation.
  func isTimeStopped(for operation: Operation) -> Bool {
    if pauses.holds(.run) { return true }
    return pauses.isAnyPartHeld && pauses.parts.contains { isMeant(operation, by: $0) }
  }

  // MARK: Ending a part

  private func close(_ scope: ControlScope, isHard: Bool) {
    isCutByControl = true
    if pauses.holds(scope) { release(scope) }
    switch scope {
    case .run: break
    case .source(let id):
      guard let number = feeds.firstIndex(where: { $0.id == id }) else { return }
      if !feeds[number].hasEnded || waitingItems[waitingHead...].contains(where: { $0.source == number }) {
        hasCutSources = true
      }
      waitingItems = waitingItems[waitingHead...].filter { $0.source != number }
      waitingHead = 0
      feeds[number].demands?.finish()
      feeds[number].task?.cancel()
      feeds[number].hasEnded = true
      for slot in slots.indices where isMeant(slot, by: scope) { end(slot, isHard) }
    case .item: for slot in slots.indices where isMeant(slot, by: scope) { end(slot, isHard) }
    case .stage:
      closed.insert(scope)
      each(stage: scope) { stage in
        let states: Set<NodeState> = isHard ? [.ready, .held, .retrying, .running] : [.ready, .held, .retrying]
        for operation in machine.operations(of: stage, in: states) { end(operation.slot, isHard) }
        interruptBarrier(stage)
      }
    case .host:
      closed.insert(scope)
      var meant = Set<Int>()
      for (name, number) in hostNumbers where scope.covers(host: name) {
        meant.formUnion(machine.slots(heldFor: number))
      }
      if isHard { meant.formUnion(operationsAtHosts.filter { isMeant($0, by: scope) }.map(\.slot)) }
      for slot in meant { end(slot, isHard) }
    }
  }

  private func end(_ slot: Int, _ isHard: Bool) {
    slots[slot].course.cancelCode = "cancelled.user"
    if isHard {
      tell(.cancelItem(slot: slot))
    } else {
      machine.drainItem(slot: slot, at: now, into: &actions)
    }
  }

  /// Whether an operation belongs to a stage or goes to a host that was drained or cancelled.
  func isClosed(_ operation: Operation, host: String?) -> Bool {
    if closed.contains(.stage(plan.stages[plan.nodes[operation.node].stage].id)) { return true }
    guard let host else { return false }
    return closed.contains { $0.covers(host: host) }
  }
}

extension Item {
  /// Whether an item is meant by a name: `source/key`, or its key alone.
  func isCalled(_ name: String) -> Bool { self.name == name || key == name }
}
