public import FlowBase

/// Items that stages make: they come into the window behind the node that made them.
extension GraphMachine {
  /// Notes items that are to come, so that no stage behind the node is taken for finished.
  mutating func expectMade(_ operation: Operation, _ count: Int) {
    // A stopping run begins nothing new: the next run makes the items again.
    guard runs(operation), count > 0, !mode.isStopping else { return }
    madeAhead[operation.node, default: 0] += count
    madeCount += count
    countAhead(operation.node, count)
  }

  /// Takes an item that a node has made into the window; nil where there is no room yet, or the run is stopping.
  ///
  /// What comes before the node has ended well for it, what comes behind is to be done, and all else passes it by.
  public mutating func admitMade(behind node: Int, at now: Instant, into actions: inout [Action]) -> Int? {
    madeDemanded = max(0, madeDemanded - 1)
    guard !isFinished, madeAhead[node] ?? 0 > 0, let slot = freeSlots.popLast() else { return nil }
    takeMade(node)
    fill(slot, statesBehind(node), isCounted: true)
    return enter(slot, now, &actions)
  }

  mutating func consumeMade(_ node: Int) {
    madeDemanded = max(0, madeDemanded - 1)
    guard madeAhead[node] ?? 0 > 0 else { return }
    takeMade(node)
    countAhead(node, -1)
    isReviewDue = true
  }

  /// Gives up the items that have not come into the window.
  mutating func forgetMade() {
    for (node, count) in madeAhead { countAhead(node, -count) }
    madeAhead = [:]
    madeCount = 0
    madeDemanded = 0
  }

  /// Asks for as many as find room; where none does, items that wait behind a gate make some.
  mutating func askForMade(_ actions: inout [Action]) {
    guard madeCount > madeDemanded else { return }
    let lot = max(1, shape.window / 4)
    if freeSlots.isEmpty { makeRoom(1, lot, &actions) }
    // Parked ones that are on their way have been promised their places.
    let count = min(madeCount, freeSlots.count - parkedDemanded) - madeDemanded
    guard count > 0 else { return }
    madeDemanded += count
    actions.append(.admitMade(count))
  }

  /// Counts the nodes behind a node as open for so many items more.
  mutating func countAhead(_ node: Int, _ count: Int) {
    for later in shape.wiring.behind(node) { open[shape.wiring.rules[later].stage] += count }
  }

  private mutating func takeMade(_ node: Int) {
    madeCount -= 1
    let left = (madeAhead[node] ?? 1) - 1
    madeAhead[node] = left == 0 ? nil : left
  }

  private func statesBehind(_ node: Int) -> [NodeState] {
    var states = [NodeState](repeating: .filtered, count: shape.nodes.count)
    states[node] = .ok
    for earlier in shape.wiring.before(node) { states[earlier] = .ok }
    for later in shape.wiring.behind(node) { states[later] = .waiting }
    return states
  }
}
