internal import FlowBase

/// How one item goes from node to node.
extension GraphMachine {
  /// Moves a node on whose inputs have all ended.
  mutating func advance(_ slot: Int, _ node: Int) {
    if let state = decide(slot, node) { settleNode(slot, node, state) }
  }

  /// What becomes of a node whose inputs have all ended: its final state, or nil where it is to run.
  private mutating func decide(_ slot: Int, _ node: Int) -> NodeState? {
    let base = slot * shape.nodes.count
    let rule = shape.wiring.rules[node]
    let inputs = shape.wiring.inputs(of: node)
    var ok = 0
    var filtered = 0
    for place in inputs {
      switch states[base + shape.wiring.input(at: place)] {
      case .ok: ok += 1
      case .filtered, .split: filtered += 1
      case .cancelled: return .cancelled
      default: break
      }
    }
    let bad = inputs.count - ok - filtered
    guard rule.runsAlways || ok == inputs.count || (rule.joins && bad == 0 && ok > 0) else {
      return bad > 0 ? .skipped : .filtered
    }
    if closedGates[rule.stage] == 0 { makeReady(slot, node) } else { states[base + node] = .gated }
    return nil
  }

  mutating func makeReady(_ slot: Int, _ node: Int) {
    states[slot * shape.nodes.count + node] = .ready
    slots[slot].live += 1
    queues[shape.wiring.rules[node].stage].append(entry(slot, node))
  }

  /// Gives a node its final state and looks at what depends on it.
  mutating func settleNode(_ slot: Int, _ node: Int, _ state: NodeState) {
    let base = slot * shape.nodes.count
    markFinal(slot, node, state)
    while let ended = settling.popLast() {
      for place in shape.wiring.dependents(of: ended) {
        let dependent = shape.wiring.dependent(at: place)
        pending[base + dependent] -= 1
        guard pending[base + dependent] == 0, states[base + dependent] == .waiting,
          let final = decide(slot, dependent)
        else { continue }
        markFinal(slot, dependent, final)
      }
    }
  }

  private mutating func markFinal(_ slot: Int, _ node: Int, _ state: NodeState) {
    let stage = shape.wiring.rules[node].stage
    states[slot * shape.nodes.count + node] = state
    slots[slot].unfinished -= 1
    open[stage] -= 1
    if open[stage] == 0 { isReviewDue = true }
    settling.append(node)
  }

  mutating func finish(_ operation: Operation, _ outcome: Outcome, _ actions: inout [Action]) {
    guard runs(operation) else { return }
    leaveSlot(operation)
    end(operation, outcome.state, &actions)
  }

  mutating func delay(_ operation: Operation, until due: Instant, _ actions: inout [Action]) {
    guard runs(operation) else { return }
    leaveSlot(operation)
    // A stopping run waits for nobody: the next run tries again.
    if mode.isStopping || slots[operation.slot].isCancelled { return end(operation, .cancelled, &actions) }
    states[index(operation)] = .retrying
    retries.add(entry(operation.slot, operation.node), due: due.nanoseconds)
  }

  mutating func hold(_ operation: Operation, _ host: Int, _ actions: inout [Action]) {
    guard runs(operation) else { return }
    leaveSlot(operation)
    if mode.isStopping || slots[operation.slot].isCancelled { return end(operation, .cancelled, &actions) }
    states[index(operation)] = .held
    heldOperations[host, default: Ring()].append(entry(operation.slot, operation.node))
  }

  /// Ends an operation that has left its slot.
  mutating func end(_ operation: Operation, _ state: NodeState, _ actions: inout [Action]) {
    slots[operation.slot].live -= 1
    settleNode(operation.slot, operation.node, state)
    if slots[operation.slot].isCancelled { cancelQueued(operation.slot) }
    afterChange(operation.slot, &actions)
  }

  /// Lets operations try again that wait for a host, those first that have waited longest.
  mutating func release(_ host: Int, _ count: Int) {
    var released = 0
    while released < count, let entry = heldOperations[host]?.popFirst() {
      let operation = entry.operation
      guard isCurrent(entry), states[index(operation)] == .held else { continue }
      states[index(operation)] = .ready
      returning[shape.wiring.rules[operation.node].stage].append(entry)
      released += 1
    }
    if heldOperations[host]?.isEmpty ?? false { heldOperations[host] = nil }
  }

  mutating func leaveSlot(_ operation: Operation) {
    let stage = shape.wiring.rules[operation.node].stage
    running[stage] -= 1
    let pool = shape.wiring.limits[stage].pool
    if pool >= 0 { tokens[pool] += 1 }
  }

  /// Ends the item if nothing is left of it, or notes that it waits behind a gate.
  mutating func afterChange(_ slot: Int, _ actions: inout [Action]) {
    guard slots[slot].isTaken else { return }
    // Nobody opens a gate for an item once the run is stopping.
    if mode.isStopping, slots[slot].live == 0, slots[slot].unfinished > 0 { cancelQueued(slot) }
    if slots[slot].unfinished == 0 {
      actions.append(.endItem(slot: slot, status(of: slot)))
      leaveWindow(slot)
    } else if slots[slot].live > 0 {
      markGated(slot, false)
    } else if !slots[slot].isGated {
      markGated(slot, true)
      gated.append(entry(slot, 0))
    }
  }

  mutating func leaveWindow(_ slot: Int) {
    markGated(slot, false)
    if slots[slot].isHeld { aside[slot] = nil }
    slots[slot].isTaken = false
    freeSlots.append(slot)
  }

  mutating func markGated(_ slot: Int, _ flag: Bool) {
    guard slots[slot].isGated != flag else { return }
    slots[slot].isGated = flag
    gatedCount += flag ? 1 : -1
  }

  private func status(of slot: Int) -> ItemStatus {
    let base = slot * shape.nodes.count
    var isCancelled = false
    var isSplit = false
    for node in 0..<shape.nodes.count {
      switch states[base + node] {
      case .failed: return .failed
      case .cancelled: isCancelled = true
      case .split: isSplit = true
      default: break
      }
    }
    if isCancelled { return .cancelled }
    if isSplit { return .ok }
    return shape.wiring.leaves.isEmpty || shape.wiring.leaves.contains { states[base + $0] == .ok } ? .ok : .filtered
  }
}
