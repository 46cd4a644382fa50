internal import FlowBase

/// Stages that items pass one by one, in the order in which they came into the window.
extension GraphMachine {
  /// Takes an item's place in the line of each such stage.
  mutating func joinLines(_ slot: Int) {
    let place = entry(slot, 0)
    for stage in shape.stages.indices where shape.stages[stage].isOrdered { lines[stage]?.append(place) }
  }

  /// Starts what is first in line and ready; who is first and not ready is waited for.
  mutating func startInOrder(_ stage: Int, _ now: Instant, _ actions: inout [Action]) {
    while running[stage] == 0, mayStart(stage, now), let node = firstInLine(stage) {
      guard states[index(node)] == .ready, !slots[node.slot].isHeld else { return }
      // The queue tells no more than how many are ready.
      _ = returning[stage].popFirst() ?? queues[stage].popFirst()
      start(node, of: stage, now, &actions)
    }
  }

  /// The first operation of a stage that has not ended, by the order of the items, then of the legs.
  private mutating func firstInLine(_ stage: Int) -> Operation? {
    while let first = lines[stage]?.first {
      if isCurrent(first) {
        for node in shape.wiring.nodesOfStage[stage] {
          let operation = Operation(slot: Int(first.slot), node: node)
          if !states[index(operation)].isFinal { return operation }
        }
      }
      _ = lines[stage]?.popFirst()
    }
    return nil
  }
}
