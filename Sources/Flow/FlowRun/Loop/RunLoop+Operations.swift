import FlowBase
import FlowEvents
import FlowExpressions
import FlowGraph
import FlowParts
import FlowPlan
import FlowStore

/// Starting operations and taking in how they end.
extension RunLoop {
  func start(_ operation: Operation) {
    let held = slots[operation.slot]
    let node = facts[operation.node]
    // What was made of it earlier still holds.
    if held.course.isUnchanged { return pass(operation) }
    if pauses.isAnyPartHeld, isPaused(operation.slot), !machine.isHeld(slot: operation.slot) {
      // An item of a source that is held back has just come.
      machine.setHeld(slot: operation.slot, true, at: now, into: &actions)
      return tell(.suspended(operation))
    }
    if !closed.isEmpty, isClosed(operation, host: nil) { return tell(.finished(operation, .cancelled)) }
    var leg = leg(for: operation, held)
    if held.firstStart[operation.node] == nil {
      held.firstStart[operation.node] = now
    }
    do {
      if let condition = node.condition, try !condition.isTrue(in: ScopePair(first: leg, second: runScope)) {
        return pass(operation)
      }
      if lockGuard != nil, locks(operation.node, held.item) {
        // What the lock says of an item is nothing that its source says.
        if held.course.origin == nil { held.course.origin = origin(of: held) }
        try imposeLock(on: operation)
        leg = self.leg(for: operation, held)
      }
      let config = node.keyed.isConstant ? node.config : try resolved(node, leg)
      held.tryStart[operation.node] = now
      // What is known already asks no host.
      if node.immediate == nil, reuse(operation, node, leg, config) { return }
      var host: Int?
      if let name = node.work.host(of: leg, config: config) {
        if !closed.isEmpty, isClosed(operation, host: name) { return tell(.finished(operation, .cancelled)) }
        let number = hostNumber(name)
        guard gate.mayStart(number, at: now) else { return tell(.held(operation, host: number)) }
        held.hosts[operation.node] = number
        host = number
      }
      announce(held)
      tellStart(of: node, host: host)
      held.tries[operation.node] += 1
      if let immediate = node.immediate {
        finish(operation, .success(try immediate.decide(leg, config: config)))
      } else {
        launch(operation, node, leg, config)
      }
    } catch {
      finish(operation, .failure(Fault(error)))
    }
  }

  private func resolved(_ node: NodeFacts, _ leg: Leg) throws(Fault) -> Config {
    let scope = ScopePair(first: leg, second: runScope)
    // Where a program's words stand, the path of its input is known only once the input is a file.
    return node.runsProgram
      ? try node.config.resolved(in: WithoutPath(scope: scope)) : try node.config.resolved(in: scope)
  }

  /// Whoever keeps starts apart hears when this one was made: it was decided on some time ago.
  private func tellStart(of node: NodeFacts, host: Int?) {
    guard host != nil || node.keepsStartsApart else { return }
    let instant = clock.now()
    if let host { gate.hasStarted(host, at: instant) }
    if node.keepsStartsApart { machine.hasStarted(stage: node.stage, at: instant) }
  }

  /// Takes what an earlier run has made of this node, where it depends on the same and is still there.
  private func reuse(_ operation: Operation, _ node: NodeFacts, _ leg: Leg, _ config: Config) -> Bool {
    // What it would make is made by the stage behind it.
    if node.planned.isFused { return false }
    let held = slots[operation.slot]
    let input: ResultKey.Input =
      switch leg.content {
      case .file(let file)?: .digest(file.sha256)
      case .bytes(let bytes)?: .digest(Digest.sha256(of: bytes))
      case .deferred(let work)?: .identity(work.identity)
      case nil: .item(node.readsRow ? held.course.input : origin(of: held))
      }
    let key = ResultKey(work: node.keyed, config: node.keyed.isConstant ? nil : config, input: input)
    held.keys[operation.node] = key
    if node.planned.part.spec.isRemembered { return false }
    guard let known = held.course.history, !asksAgain(operation, known),
      let result = earlierResult(operation, known, key)
    else { return false }
    if locks(operation.node, held.item) { held.course.isKept = true }
    held.tries[operation.node] = 0
    finish(operation, .success(result))
    return true
  }

  /// The digest of where an item's bytes come from: another title in its row is no reason to fetch them again.
  private func origin(of held: Slot) -> [UInt8] {
    if let origin = held.course.origin { return origin }
    return held.item.parent == nil ? fingerprints.origin(of: held.item, input: held.course.input) : held.course.input
  }

  /// What an earlier run has made of a node, where its bytes are still there and are those that are locked.
  private func earlierResult(_ operation: Operation, _ known: StoredItem, _ key: ResultKey) -> StageResult? {
    let (held, node) = (slots[operation.slot], facts[operation.node])
    guard let (made, loan) = store.reusableResult(known, node: operation.node, key: key), let content = made.content,
      !locks(operation.node, held.item) || isLocked(content, on: operation)
    else { return nil }
    held.course.cachedStages.insert(node.stage)
    if let loan { held.course.loans.append(loan) }
    var fields = made.fields
    // Where the bytes are now, and not where they were in an earlier run.
    if node.setsPath, case .file(let file) = content, let path = file.writtenPath { fields["path"] = .string(path) }
    return StageResult(content: content, fields: fields)
  }

  /// The host says that what an earlier run has fetched holds, and there is more to be done with it than there was.
  private func goOnWithEarlier(_ operation: Operation, _ held: Slot) {
    if let known = held.course.history, let key = held.keys[operation.node],
      let result = earlierResult(operation, known, key)
    {
      return succeeded(operation, held, result)
    }
    // The bytes went while the host was asked: now it has to send them.
    held.course.asksPlainly = true
    tell(.retry(operation, at: now))
  }

  private func launch(_ operation: Operation, _ node: NodeFacts, _ leg: Leg, _ config: Config) {
    let held = slots[operation.slot]
    let ticket = held.ticket
    let attempt = held.tries[operation.node]
    setTimers(operation, ticket, attempt, node.planned)
    let mailbox = mailbox
    let legServices = services.forLeg(
      item: held.id, node: operation.node, mayMove: node.mayMove, keepsInMemory: node.keepsInMemory)
    var context = StageContext(stage: node.planned.id, config: config, attempt: attempt, services: legServices)
    if teller.tellsItemProgress(of: itemsSoFar) {
      context.progress = { bytes, size in
        mailbox.post(.progress(operation, ticket: ticket, bytes: bytes, size: size))
      }
    }
    context.isFused = node.planned.isFused
    if !node.siblings.isEmpty {
      context.siblings = { [runScope] () throws(Fault) in
        var resolved: [Config] = []
        for config in node.siblings {
          resolved.append(try config.resolved(in: ScopePair(first: leg, second: runScope)))
        }
        return resolved
      }
    }
    context.earlier = earlierFields(operation)
    stageCounts[node.stage].running += 1
    if let prompt = node.prompt {
      do throws(Fault) {
        let begun = try prompt.begin(leg, in: context) { result in
          mailbox.post(.finished(operation, ticket: ticket, result))
        }
        if let begun {
          held.tasks[operation.node] = .begun(begun)
          return
        }
      } catch {
        // Told as all ends are: whoever has started this goes on first.
        held.tasks[operation.node] = .begun(BegunWork {})
        return mailbox.post(.finished(operation, ticket: ticket, .failure(error)))
      }
    }
    let (stage, spills) = (node.work, node.spills)
    let task = Task(executorPreference: services.blocking) { [context] in
      let result: Result<StageResult, Fault>
      do {
        var made = try await stage.run(leg, in: context)
        if case .bytes(let bytes)? = made.content {
          if !spills { made.room = legServices.base.memory.take(bytes.count) }
          if made.room == nil { made.content = .file(try legServices.base.store.spill(bytes)) }
        }
        result = .success(made)
      } catch {
        result = .failure(Fault(error))
      }
      mailbox.post(.finished(operation, ticket: ticket, result))
    }
    held.tasks[operation.node] = .task(task)
  }

  private func setTimers(_ operation: Operation, _ ticket: Int, _ attempt: Int, _ stage: PlannedStage) {
    if let timeout = stage.timeout {
      timers.add(.late(operation, ticket: ticket, attempt: attempt), due: (now + timeout).nanoseconds)
    }
    if let deadline = stage.deadline, let first = slots[operation.slot].firstStart[operation.node] {
      timers.add(.late(operation, ticket: ticket, attempt: nil), due: (first + deadline).nanoseconds)
    }
  }

  /// A try, or an operation with all its tries, has had its time.
  func ring(_ timer: Timer) {
    switch timer {
    case .late(let operation, let ticket, let attempt):
      guard slots[operation.slot].ticket == ticket, operation.node < slots[operation.slot].tasks.count,
        let task = slots[operation.slot].tasks[operation.node],
        attempt == nil || attempt == slots[operation.slot].tries[operation.node]
      else { return }
      if isTimeStopped(for: operation) { return heldTimers.append(timer) }
      let stage = plan.stages[plan.nodes[operation.node].stage]
      let limit = attempt == nil ? stage.deadline : stage.timeout
      // Where the run was paused meanwhile, there is time left.
      let from = attempt == nil ? slots[operation.slot].firstStart[operation.node] : nil
      let due = (from ?? slots[operation.slot].tryStart[operation.node]) + (limit ?? .zero)
      if now < due { return timers.add(timer, due: due.nanoseconds) }
      let host = slots[operation.slot].item.fields["host"]?.asString
      slots[operation.slot].course.lateness[operation.node] = Fault(
        "net.timeout.total", attempt == nil ? .permanent : .transient,
        "\(stage.id) took longer than its \(attempt == nil ? "deadline" : "timeout") of \(limit?.text ?? "")",
        host: host)
      task.cancel()
    case .deadline:
      if pauses.holds(.run) { return heldTimers.append(timer) }
      let due = started + (options.deadline ?? .zero) + pausedTime
      if now < due { return timers.add(timer, due: due.nanoseconds) }
      stop(StopCause(by: "deadline", code: "cancelled.deadline"), .cancel)
    case .grace: tell(.cancel)
    case .lookForNetwork: lookForNetwork()
    }
  }

  /// An operation's task has come to its end.
  func finished(_ operation: Operation, _ ticket: Int, _ result: Result<StageResult, Fault>) {
    guard slots[operation.slot].ticket == ticket else { return }
    finish(operation, result)
  }

  private func finish(_ operation: Operation, _ result: Result<StageResult, Fault>) {
    let held = slots[operation.slot]
    if wasSuspended(operation, held, result) { return }
    announce(held)
    let stageIndex = facts[operation.node].stage
    if held.tasks[operation.node] != nil { stageCounts[stageIndex].running -= 1 }
    held.tasks[operation.node] = nil
    let host = held.host(of: operation.node)
    leaveHost(operation, held, result)
    let spent = (now - held.tryStart[operation.node]).nanoseconds
    held.stageTimes[stageIndex] = max(0, held.stageTimes[stageIndex]) + spent
    switch result {
    case .success(let made):
      if !held.course.loans.isEmpty, made.outputs.isEmpty, let fault = lostLoan(operation, held) {
        return failed(operation, fault)
      }
      succeeded(operation, held, made)
    case .failure(let fault):
      let fault = late(operation) ?? fault
      if let host, mayBeOffline(operation, fault) { return lookForHost(host, after: fault, of: operation) }
      failed(operation, fault)
    }
  }

  /// Why what an operation has made of bytes under a final name is not to be believed.
  ///
  /// The name has become another's while it read them. What is copied from there is compared as it is copied.
  private func lostLoan(_ operation: Operation, _ held: Slot) -> Fault? {
    guard facts[operation.node].immediate == nil else { return nil }
    let lost: OutputRecord?
    switch input(of: operation, held).content {
    case .file(let file)?: lost = held.course.loans.first { $0.sha256 == file.sha256 && !store.stillHas($0) }
    case .deferred?: lost = held.course.loans.first { !store.stillHas($0) }
    case .bytes?, nil: lost = nil
    }
    return lost.map {
      Fault(
        "content.changed", .permanent, "\($0.path) became another's while it was read for \(held.item.name)")
    }
  }

  /// Whether an operation was stopped by a pause, to go on later: that is no failure, and no try is lost.
  private func wasSuspended(
    _ operation: Operation, _ held: Slot, _ result: Result<StageResult, Fault>
  ) -> Bool {
    guard !held.course.suspended.isEmpty, held.course.suspended.remove(operation.node) != nil,
      case .failure(let fault) = result,
      fault.kind == .cancelled, held.course.lateness[operation.node] == nil
    else { return false }
    // It is not at work until it goes on: whoever asks whether anything is would hear of it for ever.
    if held.tasks[operation.node] != nil { stageCounts[facts[operation.node].stage].running -= 1 }
    held.tasks[operation.node] = nil
    leaveHost(operation, held, result)
    held.course.pardoned[operation.node, default: 0] += 1
    tell(.suspended(operation))
    return true
  }

  /// The fault that an interruption by the clock stands for.
  private func late(_ operation: Operation) -> Fault? {
    slots[operation.slot].course.lateness.removeValue(forKey: operation.node)
  }

  private func leaveHost(_ operation: Operation, _ held: Slot, _ result: Result<StageResult, Fault>) {
    guard let host = held.host(of: operation.node) else { return }
    held.hosts[operation.node] = -1
    noteHeight(result)
    switch result {
    case .success(let made):
      if made.isMultiplexed { gate.carriesStreams(host) }
      hasAnswered(host)
      gate.ended(host, .answered, at: now)
    case .failure(let fault) where fault.kind == .quota:
      hasAnswered(host)
      gate.ended(host, .refused(retryAfter: fault.retryAfter), at: now)
    case .failure(let fault):
      if fault.httpStatus != nil { hasAnswered(host) }
      gate.ended(host, fault.httpStatus == nil ? .other : .answered, at: now)
    }
  }

  private func succeeded(_ operation: Operation, _ held: Slot, _ made: StageResult) {
    let stage = facts[operation.node].stage
    bytesIn += made.bytesIn
    if made.isKept {
      held.course.isKept = true
      held.course.cachedStages.insert(stage)
      held.tries[operation.node] = 0
    }
    if made.isShared {
      held.course.isShared = true
      held.tries[operation.node] = 0
    }
    switch made.verdict {
    case .drop(let reason):
      held.course.reason = held.course.reason ?? "\(plan.stages[stage].id): \(reason)"
      if let other = made.standIn {
        // Of two legs of one item that are equal, both are done when it is.
        if other.key != held.item.key || other.source != held.item.source { held.course.standIns.append(other) }
        // Nobody else is to be dropped for what was dropped itself.
        for input in facts[operation.node].inputs
        where plan.stages[plan.nodes[input].stage].part.spec.isRemembered {
          held.keys[input] = nil
          held.course.blamed.insert(input)
        }
      }
      stageCounts[stage].filtered += 1
      tell(.finished(operation, .filtered))
    case .unchanged:
      guard held.course.earlierEnd != nil else { return goOnWithEarlier(operation, held) }
      held.course.isUnchanged = true
      held.course.cachedStages.insert(stage)
      held.results[operation.node] = input(of: operation, held)
      stageCounts[stage].ok += 1
      tell(.finished(operation, .ok))
    case .many(let items):
      stageCounts[stage].ok += 1
      take(items, from: operation, fields: made.fields)
      tell(.finished(operation, .split))
    case .pass:
      var result = input(of: operation, held)
      if !made.fields.isEmpty { result.fields = result.fields.merging(made.fields) }
      if let content = made.content {
        result.content = content
        result.share = made.room as? MemoryBudget.Share
      }
      let isRemembered = plan.stages[stage].part.spec.isRemembered
      if (made.content == nil && !isRemembered) || !made.outputs.isEmpty {
        // Only what makes new bytes is worth remembering by itself. What publishes is done again: equal files stay as
        // they are, and count for this run.
        held.keys[operation.node] = nil
      }
      if !made.outputs.isEmpty { result.outputs = made.outputs }
      held.results[operation.node] = result
      for fact in made.outputs {
        held.course.outputs.append(PublishedOutput(fact: fact, node: operation.node))
        teller.output(fact, leg: plan.nodes[operation.node].axes, subject: subject(held, stage: stage))
      }
      if barrierNeeds.contains(stage) { earlySlots.insert(operation.slot) }
      stageCounts[stage].ok += 1
      tell(.finished(operation, .ok))
    }
  }

  /// The leg goes by a stage whose condition is false, as it came.
  private func pass(_ operation: Operation) {
    let held = slots[operation.slot]
    announce(held)
    held.results[operation.node] = input(of: operation, held)
    // Of what still holds, stages that gather read what an earlier run wrote down.
    if !held.course.isUnchanged, barrierNeeds.contains(plan.nodes[operation.node].stage) {
      earlySlots.insert(operation.slot)
    }
    tell(.finished(operation, .ok))
  }

  func failed(_ operation: Operation, _ cause: Fault) {
    let fault = asLocked(cause, operation)
    let held = slots[operation.slot]
    let stageIndex = plan.nodes[operation.node].stage
    let stage = plan.stages[stageIndex]
    if fault.kind == .cancelled {
      return tell(.finished(operation, .cancelled))
    }
    let attempt = held.tries[operation.node]
    if !machine.mode.isEnding, let delay = retryDelay(operation, fault, attempt) {
      let error = EventError(fault, attempt: attempt)
      teller.retry(
        attempt: attempt, delay: delay, error: error, subject: subject(held, stage: stageIndex, attempt: attempt))
      return tell(.retry(operation, at: now + delay))
    }
    switch stage.onError {
    case .useInput where fault.kind != .config && fault.kind != .internal:
      var result = input(of: operation, held)
      var errors = result.fields["errors"]?.asMap ?? [:]
      errors[stage.id] = .string(fault.code)
      result.fields["errors"] = .map(errors)
      held.results[operation.node] = result
      stageCounts[stageIndex].ok += 1
      teller.log(.warn, "\(held.item.name): \(stage.id) failed (\(fault.code)), going on with its input")
      tell(.finished(operation, .ok))
    case .drop where fault.kind != .config && fault.kind != .internal:
      held.course.reason = held.course.reason ?? "\(stage.id): \(fault.code)"
      stageCounts[stageIndex].filtered += 1
      tell(.finished(operation, .filtered))
    case .useInput, .drop, .fail, .stop:
      held.course.failures.append(Failure(node: operation.node, fault: fault, attempt: attempt))
      stageCounts[stageIndex].failed += 1
      teller.error(EventError(fault, attempt: attempt), subject: subject(held, stage: stageIndex, attempt: attempt))
      tell(.finished(operation, .failed))
      react(to: fault, stops: stage.onError == .stop)
    }
  }

  private func retryDelay(_ operation: Operation, _ fault: Fault, _ attempt: Int) -> Interval? {
    let stageIndex = plan.nodes[operation.node].stage
    // Tries that a pause has cut short are not held against it.
    let counted = max(1, attempt - (slots[operation.slot].course.pardoned[operation.node] ?? 0))
    guard
      let delay = policies[stageIndex].delay(after: fault, attempt: counted, chance: Double.random(in: 0..<1))
    else { return nil }
    // The deadline holds for all tries together; a wait that ends behind it is not begun.
    if let deadline = plan.stages[stageIndex].deadline,
      let first = slots[operation.slot].firstStart[operation.node], now + delay > first + deadline, fault.kind != .quota
    {
      return nil
    }
    return delay
  }

  /// What a fault means for the run as a whole.
  func react(to fault: Fault, stops: Bool) {
    switch fault.kind {
    case .config where !fault.code.hasPrefix("item."):
      configFault = configFault ?? fault
      stop(StopCause(by: fault.code, code: "cancelled.user"), .cancel)
    case .local:
      localFault = localFault ?? fault
      stop(StopCause(by: fault.code, code: "cancelled.user"), .drain)
    case .internal: internalFault = internalFault ?? fault
    default: if stops { stop(StopCause(by: "on_error", code: "cancelled.stop_if"), .cancel) }
    }
  }

  func progressed(_ operation: Operation, _ ticket: Int, _ bytes: Int, _ size: Int?) {
    let held = slots[operation.slot]
    guard held.ticket == ticket else { return }
    let stage = plan.nodes[operation.node].stage
    teller.progress(
      bytes: bytes, size: size,
      subject: subject(held, stage: stage, attempt: held.tries[operation.node]), at: now,
      items: itemsSoFar)
  }

  /// As many items as the run is known to have so far.
  private var itemsSoFar: Int { max(counts.ended + machine.inFlight, totalItems ?? 0) }

  private func hostNumber(_ name: String) -> Int {
    if let number = hostNumbers[name] { return number }
    let number = gate.add(hostTable.limits(of: name, defaultConnections: options.hostConnections))
    hostNumbers[name] = number
    hostNames.append(name)
    if pauses.holds(host: name) { gate.setHeld(number, true) }
    return number
  }

  /// What a node works on: its single input's result, or several joined.
  func input(of operation: Operation, _ held: Slot) -> NodeResult {
    let inputs = facts[operation.node].inputs
    guard let first = inputs.first else { return NodeResult() }
    if inputs.count == 1 {
      var result = held.results[first] ?? NodeResult()
      if !result.outputs.isEmpty { result.outputs = [] }
      return result
    }
    var joined = NodeResult()
    for input in inputs {
      guard let result = held.results[input] else { continue }
      joined.fields = joined.fields.merging(result.fields)
      joined.content = result.content ?? joined.content
    }
    return joined
  }

  /// The leg that a node works on.
  func leg(for operation: Operation, _ held: Slot) -> Leg {
    let node = facts[operation.node]
    let input = input(of: operation, held)
    return Leg(
      item: held.item, axes: node.axes, fields: input.fields, content: input.content,
      from: node.inputs.count > 1 ? fromFields(operation, held) : [:])
  }

  /// `from`: for each needed stage its leg's fields, or a list of them where there are several legs.
  private func fromFields(_ operation: Operation, _ held: Slot) -> Fields {
    var from: Fields = [:]
    for stage in plan.stages[plan.nodes[operation.node].stage].needs {
      var legs: [Value] = []
      for input in plan.nodes[operation.node].inputs where plan.nodes[input].stage == stage {
        guard let result = held.results[input] else { continue }
        var fields = result.fields
        if case .file(let file)? = result.content, let path = file.writtenPath { fields["path"] = .string(path) }
        legs.append(.map(fields))
      }
      from[plan.stages[stage].id] = legs.count == 1 ? legs[0] : .list(legs)
    }
    return from
  }
}

extension GraphMachine.Mode {
  /// Whether the run is on its way to its end.
  var isEnding: Bool { rawValue >= GraphMachine.Mode.draining.rawValue }
}
