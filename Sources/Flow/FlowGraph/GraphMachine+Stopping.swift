internal import FlowBase

/// Ends before the end: of one item, or of the run.
extension GraphMachine {
  /// Stops the run, more or less gently; never more gently than before.
  mutating func stop(_ mode: Mode, _ actions: inout [Action]) {
    guard mode.rawValue > self.mode.rawValue else { return }
    self.mode = mode
    demanded = 0
    forgetMade()
    isReviewDue = true
    for slot in slots.indices where slots[slot].isTaken {
      if mode != .draining {
        interrupt(slot, &actions)
      } else {
        drain(slot)
      }
      afterChange(slot, &actions)
    }
    guard mode != .draining else { return }
    for stage in barriers.indices where barriers[stage] == .running {
      if mode == .aborting || !shape.stages[stage].runsAlways { actions.append(.interruptBarrier(stage: stage)) }
    }
  }

  /// Lets what runs of an item come to its end, and cancels the rest where nothing of it has begun.
  mutating func drain(_ slot: Int) {
    if !hasBegun(slot) || slots[slot].live == 0 { cancelQueued(slot) } else { cancelWaits(slot) }
  }

  mutating func cancelItem(_ slot: Int, _ actions: inout [Action]) {
    guard slots.indices.contains(slot), slots[slot].isTaken else { return }
    interrupt(slot, &actions)
    afterChange(slot, &actions)
  }

  /// Cancels an item: what runs is interrupted, all else ends here.
  private mutating func interrupt(_ slot: Int, _ actions: inout [Action]) {
    slots[slot].isCancelled = true
    let base = slot * shape.nodes.count
    for node in 0..<shape.nodes.count where states[base + node] == .running {
      actions.append(.interrupt(Operation(slot: slot, node: node)))
    }
    cancelQueued(slot)
  }

  /// Cancels all of an item's nodes that do not run.
  mutating func cancelQueued(_ slot: Int) {
    let base = slot * shape.nodes.count
    for node in 0..<shape.nodes.count {
      switch states[base + node] {
      case .ready, .held, .retrying:
        // Its entry in a queue is passed over when it is met.
        slots[slot].live -= 1
        settleNode(slot, node, .cancelled)
      case .waiting, .gated: settleNode(slot, node, .cancelled)
      default: break
      }
    }
  }

  /// Cancels the nodes of an item that wait for a retry, for a host or behind a gate.
  private mutating func cancelWaits(_ slot: Int) {
    let base = slot * shape.nodes.count
    for node in 0..<shape.nodes.count {
      switch states[base + node] {
      case .retrying, .held:
        slots[slot].live -= 1
        settleNode(slot, node, .cancelled)
      case .gated: settleNode(slot, node, .cancelled)
      default: break
      }
    }
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
}
