public import FlowBase

/// What is asked of parts of a run while it goes: stages and items held back, limits changed.
extension GraphMachine {
  /// Holds a stage back, or lets it go on: nothing of it starts meanwhile, and what runs goes on.
  public mutating func setHeld(stage: Int, _ isHeld: Bool, at now: Instant, into actions: inout [Action]) {
    guard heldStages.indices.contains(stage), heldStages[stage] != isHeld else { return }
    heldStages[stage] = isHeld
    isReviewDue = true
    settle(now, &actions)
  }

  /// Holds an item back, or lets it go on.
  public mutating func setHeld(slot: Int, _ isHeld: Bool, at now: Instant, into actions: inout [Action]) {
    guard slots.indices.contains(slot), slots[slot].isTaken, slots[slot].isHeld != isHeld else { return }
    slots[slot].isHeld = isHeld
    if !isHeld, let entries = aside.removeValue(forKey: slot) {
      for entry in entries where isCurrent(entry) && states[index(entry.operation)] == .ready {
        returning[shape.wiring.rules[Int(entry.node)].stage].append(entry)
      }
    }
    settle(now, &actions)
  }

  /// Whether an item is held back.
  public func isHeld(slot: Int) -> Bool { slots[slot].isTaken && slots[slot].isHeld }

  /// Changes how many operations of a stage may run at once; what runs beyond it is not interrupted.
  public mutating func set(concurrency: Int, of stage: Int, at now: Instant, into actions: inout [Action]) {
    guard limits.indices.contains(stage) else { return }
    limits[stage].concurrency = max(1, concurrency)
    settle(now, &actions)
  }

  /// Changes the time between two starts of a stage; it counts from the last one.
  public mutating func set(interval: Int, of stage: Int, at now: Instant, into actions: inout [Action]) {
    guard limits.indices.contains(stage) else { return }
    if nextStart[stage] > .min { nextStart[stage] += max(0, interval) - limits[stage].interval }
    limits[stage].interval = max(0, interval)
    settle(now, &actions)
  }

  /// Cancels what an item has not begun; what runs of it is finished.
  public mutating func drainItem(slot: Int, at now: Instant, into actions: inout [Action]) {
    guard slots.indices.contains(slot), slots[slot].isTaken else { return }
    drain(slot)
    afterChange(slot, &actions)
    settle(now, &actions)
  }

  /// The operations of a stage that are in a state.
  public func operations(of stage: Int, in wanted: Set<NodeState>) -> [Operation] {
    guard shape.wiring.nodesOfStage.indices.contains(stage) else { return [] }
    var found: [Operation] = []
    for slot in slots.indices where slots[slot].isTaken {
      for node in shape.wiring.nodesOfStage[stage] where wanted.contains(state(Operation(slot: slot, node: node))) {
        found.append(Operation(slot: slot, node: node))
      }
    }
    return found
  }

  /// The items in the window some of whose operations wait for a host.
  public func slots(heldFor host: Int) -> Set<Int> {
    guard var ring = heldOperations[host] else { return [] }
    var found = Set<Int>()
    while let entry = ring.popFirst() {
      if isCurrent(entry), states[index(entry.operation)] == .held { found.insert(Int(entry.slot)) }
    }
    return found
  }

  /// Takes an interrupted operation back into its queue: it was interrupted only to go on later.
  mutating func suspend(_ operation: Operation, _ actions: inout [Action]) {
    guard runs(operation) else { return }
    leaveSlot(operation)
    if mode.isStopping || slots[operation.slot].isCancelled { return end(operation, .cancelled, &actions) }
    states[index(operation)] = .ready
    returning[shape.wiring.rules[operation.node].stage].append(entry(operation.slot, operation.node))
  }

  /// Puts an operation aside whose item is held back; false where it is not.
  mutating func putAside(_ entry: Entry) -> Bool {
    guard slots[Int(entry.slot)].isHeld else { return false }
    aside[Int(entry.slot), default: []].append(entry)
    return true
  }
}
