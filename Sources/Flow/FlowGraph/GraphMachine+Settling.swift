internal import FlowBase

/// What follows from a change: starts, gates, barriers, demand, the end.
extension GraphMachine {
  mutating func settle(_ now: Instant, _ actions: inout [Action]) {
    guard !isFinished else { return }
    wakeRetries(now)
    startReady(now, &actions)
    while endStages(&actions) { startReady(now, &actions) }
    askForMade(&actions)
    askForItems(&actions)
    endRun(&actions)
  }

  private mutating func wakeRetries(_ now: Instant) {
    while let entry = retries.popDue(by: now.nanoseconds) {
      guard isCurrent(entry), states[index(entry.operation)] == .retrying else { continue }
      states[index(entry.operation)] = .ready
      queues[shape.wiring.rules[Int(entry.node)].stage].append(entry)
    }
  }

  // MARK: Starts

  private mutating func startReady(_ now: Instant, _ actions: inout [Action]) {
    guard mode == .active || mode == .draining else { return }
    for stage in order where !(queues[stage].isEmpty && returning[stage].isEmpty) {
      if shape.stages[stage].isOrdered {
        startInOrder(stage, now, &actions)
        continue
      }
      while mayStart(stage, now), let entry = returning[stage].popFirst() ?? queues[stage].popFirst() {
        guard isCurrent(entry), states[index(entry.operation)] == .ready, !putAside(entry) else { continue }
        start(entry.operation, of: stage, now, &actions)
      }
    }
  }

  func mayStart(_ stage: Int, _ now: Instant) -> Bool {
    let limits = limits[stage]
    return !heldStages[stage] && running[stage] < limits.concurrency && nextStart[stage] <= now.nanoseconds
      && (limits.pool < 0 || tokens[limits.pool] > 0)
  }

  mutating func start(_ operation: Operation, of stage: Int, _ now: Instant, _ actions: inout [Action]) {
    let limits = limits[stage]
    states[index(operation)] = .running
    running[stage] += 1
    if limits.pool >= 0 { tokens[limits.pool] -= 1 }
    if limits.interval > 0 { nextStart[stage] = now.nanoseconds.addingSaturating(limits.interval) }
    noteStart(of: stage, &actions)
    actions.append(.start(operation))
  }

  private mutating func noteStart(of stage: Int, _ actions: inout [Action]) {
    guard !hasStarted[stage] else { return }
    hasStarted[stage] = true
    actions.append(.stageStarted(stage))
  }

  // MARK: Stages

  /// Ends the stages that are wholly finished and opens what waited for them; says whether anything changed.
  private mutating func endStages(_ actions: inout [Action]) -> Bool {
    guard isReviewDue, sourcesEnded || mode.isStopping else { return false }
    // While the run is paused, a barrier that is due stays due.
    if mode != .paused { isReviewDue = false }
    var changed = false
    for stage in shape.stages.indices where !hasEnded[stage] {
      if isWhollyFinished(stage) {
        hasEnded[stage] = true
        changed = true
        actions.append(.stageEnded(stage))
        openGates(behind: stage)
      } else if shape.stages[stage].isBarrier, barriers[stage] == .waiting, mode != .paused, !heldStages[stage] {
        changed = startBarrier(stage, &actions) || changed
      }
    }
    if changed { isReviewDue = true }
    return changed
  }

  /// Whether no item of the sources, of the window or on disk can still reach a stage.
  private func isWhollyFinished(_ stage: Int) -> Bool {
    shape.stages[stage].isBarrier ? barriers[stage] == .ok || barriers[stage] == .failed : open[stage] == 0
  }

  private mutating func startBarrier(_ stage: Int, _ actions: inout [Action]) -> Bool {
    let needs = shape.stages[stage].needs
    let runsAlways = shape.stages[stage].runsAlways
    guard closedGates[stage] == 0, needs.allSatisfy({ hasEnded[$0] }) else { return false }
    let needsFailed = needs.contains { shape.stages[$0].isBarrier && barriers[$0] == .failed }
    if mode == .aborting || ((mode.isStopping || needsFailed) && !runsAlways) {
      actions.append(.skipBarrier(stage: stage))
      endBarrier(stage, from: .waiting, to: .failed)
    } else {
      barriers[stage] = .running
      noteStart(of: stage, &actions)
      actions.append(.startBarrier(stage: stage))
    }
    return true
  }

  mutating func endBarrier(_ stage: Int, from old: BarrierState, to new: BarrierState) {
    guard barriers.indices.contains(stage), shape.stages[stage].isBarrier, barriers[stage] == old else { return }
    barriers[stage] = new
    barriersLeft -= 1
    isReviewDue = true
  }

  /// Lets the items in the window on that waited for a stage to end; parked ones are asked for again.
  private mutating func openGates(behind ended: Int) {
    for stage in shape.wiring.gatedBy[ended] {
      closedGates[stage] -= 1
      guard closedGates[stage] == 0, !mode.isStopping else { continue }
      for slot in slots.indices where slots[slot].isTaken {
        for node in shape.wiring.nodesOfStage[stage] where states[slot * shape.nodes.count + node] == .gated {
          makeReady(slot, node)
          markGated(slot, false)
        }
      }
      if shape.wiring.width[stage] > 0 { parkedToReview = parkedCount }
    }
  }

  // MARK: Items

  /// Fills the window: with parked items that a gate may let go on first, then from the sources.
  private mutating func askForItems(_ actions: inout [Action]) {
    guard parkedDemanded == 0 else { return }
    // Asked for in lots, so that neither side is woken for single items.
    let lot = max(1, shape.window / 4)
    let toReview = mode.isStopping ? parkedCount : parkedToReview
    if toReview > 0 {
      makeRoom(min(lot, toReview), lot, &actions)
      let room = freeSlots.count - demanded - madeDemanded
      guard room >= min(lot, toReview) else { return }
      parkedDemanded = min(room, toReview)
      actions.append(.demandParked(parkedDemanded))
    } else if !sourcesEnded, !mode.isStopping {
      if demanded == 0 || freeSlots.count < demanded { makeRoom(1, lot, &actions) }
      let room = freeSlots.count - demanded
      guard room >= lot || (demanded == 0 && room > 0 && inFlight - gatedCount < lot) else { return }
      demanded += room
      actions.append(.demand(room))
    }
  }

  /// Puts items aside that wait behind a gate, if they leave too little room for others.
  mutating func makeRoom(_ least: Int, _ lot: Int, _ actions: inout [Action]) {
    guard freeSlots.count - demanded < least, inFlight - gatedCount < lot else { return }
    var count = 0
    while count < lot, let entry = gated.popFirst() {
      let slot = Int(entry.slot)
      guard isCurrent(entry), slots[slot].isGated else { continue }
      leaveWindow(slot)
      parkedCount += 1
      count += 1
      actions.append(.park(slot: slot))
    }
  }

  /// Gives up parked items that cannot be brought back, so that nothing waits for them.
  mutating func forgetParked() {
    parkedDemanded = 0
    parkedToReview = 0
    guard parkedCount > 0 else { return }
    parkedCount = 0
    open = Array(repeating: 0, count: open.count)
    for slot in slots.indices where slots[slot].isTaken {
      for node in shape.nodes.indices where !states[slot * shape.nodes.count + node].isFinal {
        open[shape.wiring.rules[node].stage] += 1
      }
    }
    for (node, count) in madeAhead { countAhead(node, count) }
    isReviewDue = true
  }

  private mutating func endRun(_ actions: inout [Action]) {
    guard sourcesEnded || mode.isStopping, inFlight == 0, parkedCount == 0, madeCount == 0, barriersLeft == 0 else {
      return
    }
    isFinished = true
    actions.append(.finished)
  }
}
