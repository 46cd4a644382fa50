internal import FlowBase

/// How one item goes from node to node.
extension GraphMachine {
  /// Moves a waiting or gated node on, if all that it needs has ended.
  mutating func advance(_ slot: Int, _ node: Int) {
    let base = slot * shape.nodes.count
    let stage = shape.stages[shape.nodes[node].stage]
    var ok = 0
    var filtered = 0
    var cancelled = 0
    for input in shape.nodes[node].inputs {
      switch states[base + input] {
      case .ok: ok += 1
      case .filtered: filtered += 1
      case .failed, .skipped: break
      case .cancelled: cancelled += 1
      default: return
      }
    }
    let inputs = shape.nodes[node].inputs.count
    let bad = inputs - ok - filtered - cancelled
    if cancelled > 0 {
      settleNode(slot, node, .cancelled)
    } else if stage.runsAlways || inputs == 0 || ok == inputs || (stage.joins && bad == 0 && ok > 0) {
      if gatesAreOpen(stage) { makeReady(slot, node) } else { states[base + node] = .gated }
    } else {
      settleNode(slot, node, bad > 0 ? .skipped : .filtered)
    }
  }

  func gatesAreOpen(_ stage: GraphShape.Stage) -> Bool { stage.gates.allSatisfy { hasEnded[$0] } }

  mutating func makeReady(_ slot: Int, _ node: Int) {
    let operation = Operation(slot: slot, node: node)
    states[index(operation)] = .ready
    live[slot] += 1
    queues[shape.nodes[node].stage].append(operation)
  }

  /// Gives a node its final state and looks at what depends on it.
  mutating func settleNode(_ slot: Int, _ node: Int, _ state: NodeState) {
    states[slot * shape.nodes.count + node] = state
    unfinished[slot] -= 1
    open[shape.nodes[node].stage] -= 1
    for dependent in shape.dependents[node] where states[slot * shape.nodes.count + dependent] == .waiting {
      advance(slot, dependent)
    }
  }

  mutating func finish(_ operation: Operation, _ outcome: Outcome, _ now: Instant, _ actions: inout [Action]) {
    guard isTaken[operation.slot], states[index(operation)] == .running else { return }
    leaveSlot(operation)
    live[operation.slot] -= 1
    settleNode(operation.slot, operation.node, outcome.state)
    if mode.isStopping, mode != .draining { cancelQueued(operation.slot) }
    afterChange(operation.slot, now, &actions)
  }

  mutating func delay(_ operation: Operation, until due: Instant, _ now: Instant, _ actions: inout [Action]) {
    guard isTaken[operation.slot], states[index(operation)] == .running else { return }
    leaveSlot(operation)
    if mode.isStopping {
      // A stopping run waits for nobody: the next run tries again.
      live[operation.slot] -= 1
      settleNode(operation.slot, operation.node, .cancelled)
      afterChange(operation.slot, now, &actions)
    } else {
      states[index(operation)] = .retrying
      retries.add(operation, due: due.nanoseconds)
    }
  }

  mutating func hold(_ operation: Operation, _ host: Int, _ now: Instant, _ actions: inout [Action]) {
    guard isTaken[operation.slot], states[index(operation)] == .running else { return }
    leaveSlot(operation)
    if mode.isStopping {
      live[operation.slot] -= 1
      settleNode(operation.slot, operation.node, .cancelled)
      return afterChange(operation.slot, now, &actions)
    }
    states[index(operation)] = .held
    heldOperations[host, default: Ring()].append(operation)
  }

  mutating func release(_ host: Int, _ count: Int) {
    guard var waiting = heldOperations.removeValue(forKey: host) else { return }
    var released: [Operation] = []
    while released.count < count, let operation = waiting.popFirst() {
      guard isTaken[operation.slot], states[index(operation)] == .held else { continue }
      states[index(operation)] = .ready
      released.append(operation)
    }
    // What waited longest goes first again.
    for operation in released.reversed() { queues[shape.nodes[operation.node].stage].prepend(operation) }
    if !waiting.isEmpty { heldOperations[host] = waiting }
  }

  private mutating func leaveSlot(_ operation: Operation) {
    let stage = shape.nodes[operation.node].stage
    running[stage] -= 1
    if let pool = shape.stages[stage].pool { tokens[pool] += 1 }
  }

  /// Ends the item if nothing is left of it, or notes that it waits behind a gate.
  mutating func afterChange(_ slot: Int, _ now: Instant, _ actions: inout [Action]) {
    guard isTaken[slot] else { return }
    // Nobody opens a gate for an item once the run is stopping.
    if mode.isStopping, live[slot] == 0, unfinished[slot] > 0 { cancelQueued(slot) }
    if unfinished[slot] == 0 {
      actions.append(.endItem(slot: slot, status(of: slot)))
      isTaken[slot] = false
      markGated(slot, false)
      freeSlots.append(slot)
    } else if live[slot] == 0, !isGated[slot] {
      markGated(slot, true)
      gated.append(slot)
    } else if live[slot] > 0 {
      markGated(slot, false)
    }
  }

  mutating func markGated(_ slot: Int, _ flag: Bool) {
    guard isGated[slot] != flag else { return }
    isGated[slot] = flag
    gatedCount += flag ? 1 : -1
  }

  /// Whether anything of an item runs or has been done; a drain finishes such items and no others.
  private func hasBegun(_ slot: Int) -> Bool {
    let base = slot * shape.nodes.count
    for node in 0..<shape.nodes.count {
      switch states[base + node] {
      case .running, .retrying, .ok, .failed: return true
      default: break
      }
    }
    return false
  }

  private func status(of slot: Int) -> ItemStatus {
    let base = slot * shape.nodes.count
    var failed = false
    var cancelled = false
    for node in 0..<shape.nodes.count {
      switch states[base + node] {
      case .failed: failed = true
      case .cancelled: cancelled = true
      default: break
      }
    }
    if failed { return .failed }
    if cancelled { return .cancelled }
    return shape.leaves.isEmpty || shape.leaves.contains { states[base + $0] == .ok } ? .ok : .filtered
  }

  /// Cancels all of an item's nodes that do not run.
  mutating func cancelQueued(_ slot: Int) {
    let base = slot * shape.nodes.count
    for node in 0..<shape.nodes.count {
      switch states[base + node] {
      case .ready, .held, .retrying:
        // Its entry in a queue is passed over when it is met.
        live[slot] -= 1
        settleNode(slot, node, .cancelled)
      case .waiting, .gated: settleNode(slot, node, .cancelled)
      default: break
      }
    }
  }

  mutating func cancelItem(_ slot: Int, _ now: Instant, _ actions: inout [Action]) {
    guard slot >= 0, slot < isTaken.count, isTaken[slot] else { return }
    interrupt(slot, &actions)
    cancelQueued(slot)
    afterChange(slot, now, &actions)
  }

  mutating func interrupt(_ slot: Int, _ actions: inout [Action]) {
    for node in 0..<shape.nodes.count where states[slot * shape.nodes.count + node] == .running {
      actions.append(.interrupt(Operation(slot: slot, node: node)))
    }
  }

  /// Stops the run, more or less gently; never more gently than before.
  mutating func stop(_ mode: Mode, _ now: Instant, _ actions: inout [Action]) {
    guard mode.rawValue > self.mode.rawValue || !self.mode.isStopping else { return }
    self.mode = mode
    demanded = 0
    for slot in 0..<shape.window where isTaken[slot] {
      if mode != .draining {
        interrupt(slot, &actions)
        cancelQueued(slot)
      } else if !hasBegun(slot) || live[slot] == 0 {
        cancelQueued(slot)
      } else {
        cancelWaits(slot)
      }
      afterChange(slot, now, &actions)
    }
  }

  /// Cancels the nodes of an item that wait for a retry, for a host or behind a gate.
  private mutating func cancelWaits(_ slot: Int) {
    let base = slot * shape.nodes.count
    for node in 0..<shape.nodes.count {
      switch states[base + node] {
      case .retrying, .held:
        live[slot] -= 1
        settleNode(slot, node, .cancelled)
      case .gated: settleNode(slot, node, .cancelled)
      default: break
      }
    }
  }
}
