internal import FlowBase

/// What follows from a change: starts, gates, barriers, demand, the end.
extension GraphMachine {
  mutating func settle(_ now: Instant, _ actions: inout [Action]) {
    guard !isFinished else { return }
    wakeRetries(now)
    startReady(now, &actions)
    while endStages(now, &actions) { startReady(now, &actions) }
    askForItems(&actions)
    endRun(&actions)
  }

  private mutating func wakeRetries(_ now: Instant) {
    while let operation = retries.popDue(by: now.nanoseconds) {
      guard isTaken[operation.slot], states[index(operation)] == .retrying else { continue }
      states[index(operation)] = .ready
      queues[shape.nodes[operation.node].stage].append(operation)
    }
  }

  private mutating func startReady(_ now: Instant, _ actions: inout [Action]) {
    guard mode == .active || mode == .draining else { return }
    for stage in order where !queues[stage].isEmpty {
      let limits = shape.stages[stage]
      while running[stage] < limits.concurrency, nextStart[stage] <= now.nanoseconds,
        limits.pool.map({ tokens[$0] > 0 }) ?? true, let operation = queues[stage].popFirst()
      {
        guard isTaken[operation.slot], states[index(operation)] == .ready else { continue }
        states[index(operation)] = .running
        running[stage] += 1
        if let pool = limits.pool { tokens[pool] -= 1 }
        if limits.interval > 0 { nextStart[stage] = now.nanoseconds + limits.interval }
        if !hasStarted[stage] {
          hasStarted[stage] = true
          actions.append(.stageStarted(stage))
        }
        actions.append(.start(operation))
      }
    }
  }

  /// Whether no item of the sources, of the window or on disk can still reach a stage.
  private func isWhollyFinished(_ stage: Int) -> Bool {
    if shape.stages[stage].isBarrier { return barriers[stage] == .ok || barriers[stage] == .failed }
    return (sourcesEnded || mode.isStopping) && open[stage] == 0
  }

  /// Ends the stages that are wholly finished and opens what waited for them; says whether anything changed.
  private mutating func endStages(_ now: Instant, _ actions: inout [Action]) -> Bool {
    guard sourcesEnded || mode.isStopping else { return false }
    var changed = false
    for stage in shape.stages.indices where !hasEnded[stage] {
      if isWhollyFinished(stage) {
        hasEnded[stage] = true
        changed = true
        actions.append(.stageEnded(stage))
        openGates(now, &actions)
      } else if shape.stages[stage].isBarrier, barriers[stage] == .waiting, mode != .paused {
        changed = startBarrier(stage, &actions) || changed
      }
    }
    return changed
  }

  private mutating func startBarrier(_ stage: Int, _ actions: inout [Action]) -> Bool {
    let limits = shape.stages[stage]
    let isDue =
      mode.isStopping && inFlight == 0 && parkedCount == 0
      ? limits.needs.allSatisfy { !shape.stages[$0].isBarrier || hasEnded[$0] }
      : limits.needs.allSatisfy { hasEnded[$0] } && gatesAreOpen(limits)
    guard isDue else { return false }
    let needsFailed = limits.needs.contains { shape.stages[$0].isBarrier && barriers[$0] == .failed }
    if mode == .aborting || ((mode.isStopping || needsFailed) && !limits.runsAlways) {
      actions.append(.skipBarrier(stage: stage))
      endBarrier(stage, .failed, &actions)
    } else {
      barriers[stage] = .running
      if !hasStarted[stage] {
        hasStarted[stage] = true
        actions.append(.stageStarted(stage))
      }
      actions.append(.startBarrier(stage: stage))
    }
    return true
  }

  mutating func endBarrier(_ stage: Int, _ state: BarrierState, _ actions: inout [Action]) {
    guard barriers[stage] == .waiting || barriers[stage] == .running else { return }
    barriers[stage] = state
    barriersLeft -= 1
  }

  /// Lets the items in the window on that waited for a stage to end; parked ones are asked for again.
  private mutating func openGates(_ now: Instant, _ actions: inout [Action]) {
    guard !mode.isStopping, shape.stages.contains(where: { !$0.gates.isEmpty }) else { return }
    for _ in 0..<gated.count {
      guard let slot = gated.popFirst() else { break }
      guard isTaken[slot], isGated[slot] else { continue }
      let base = slot * shape.nodes.count
      for node in 0..<shape.nodes.count where states[base + node] == .gated {
        if gatesAreOpen(shape.stages[shape.nodes[node].stage]) { makeReady(slot, node) }
      }
      if live[slot] > 0 { markGated(slot, false) } else { gated.append(slot) }
    }
    parkedToReview = parkedCount
  }

  /// Fills the window: with parked items that a gate lets go on first, then from the sources.
  private mutating func askForItems(_ actions: inout [Action]) {
    var room = freeSlots.count - demanded - parkedDemanded
    let toReview = mode.isStopping ? parkedCount : parkedToReview
    if toReview > parkedDemanded, room > 0 {
      let count = min(room, toReview - parkedDemanded)
      parkedDemanded += count
      room -= count
      actions.append(.demandParked(count))
    }
    guard !sourcesEnded, !mode.isStopping else { return }
    // Asked for in lots, so that neither side is woken for single items.
    let lot = max(1, shape.window / 4)
    if room >= lot {
      demanded += room
      actions.append(.demand(room))
    } else if demanded == 0, inFlight - gatedCount < lot {
      if room > 0 {
        demanded = room
        actions.append(.demand(room))
      } else {
        parkOldest(&actions)
      }
    }
  }

  /// Makes room for new items by putting those aside that wait behind a gate.
  private mutating func parkOldest(_ actions: inout [Action]) {
    var parkedNow = 0
    while parkedNow < max(1, shape.window / 4), let slot = gated.popFirst() {
      guard isTaken[slot], isGated[slot] else { continue }
      isTaken[slot] = false
      markGated(slot, false)
      parkedCount += 1
      parkedNow += 1
      freeSlots.append(slot)
      actions.append(.park(slot: slot))
    }
    if parkedNow > 0 {
      demanded += parkedNow
      actions.append(.demand(parkedNow))
    }
  }

  private mutating func endRun(_ actions: inout [Action]) {
    guard sourcesEnded || mode.isStopping, inFlight == 0, parkedCount == 0, barriersLeft == 0 else { return }
    isFinished = true
    actions.append(.finished)
  }
}
