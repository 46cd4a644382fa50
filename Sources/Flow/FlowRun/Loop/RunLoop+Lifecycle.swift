import FlowBase
import FlowEvents
import FlowExpressions
import FlowGraph
import FlowParts
import FlowPlan

/// The first and the last things that a run does.
extension RunLoop {
  func begin() {
    for warning in plan.warnings { teller.diagnostic(warning) }
    if let who = options.startedBy {
      teller.control(Payload.Control(verb: "start", by: who, isAccepted: true, message: "started"))
    }
    enter(.active, by: options.startedBy ?? "start")
    teller.runStart(
      Payload.RunStart(
        sources: plan.sources.map(\.id), stages: plan.stages.map(\.id), sinks: plan.sinks.map(\.id),
        output: plan.settings.outputFolder))
    if let deadline = options.deadline { timers.add(.deadline, due: (now + deadline).nanoseconds) }
    openSources()
    machine.begin(at: now, into: &actions)
    perform()
    assignDemand()
    store.flush()
  }

  /// Judges the run and tells its end.
  func end() -> RunOutcome {
    closeSources()
    if let cause = stopCause, cause.by != "deadline" || counts.cancelled > 0 { enter(.draining, by: cause.by) }
    enter(.done, by: stopCause?.by ?? "end")
    finishLock()
    let verdict = judge()
    let items = ItemCounts(
      total: totalItems ?? feeds.reduce(madeTotal) { $0 + $1.items }, ok: counts.ok, cached: counts.cached,
      filtered: counts.filtered, failed: counts.failed, cancelled: counts.cancelled)
    let errors = errorCodes.map { CodeCount(code: $0.key, count: $0.value) }
      .sorted { ($1.count, $0.code) < ($0.count, $1.code) }
    let end = Payload.RunEnd(
      result: verdict.result, exit: verdict.exit.rawValue, items: items, bytesIn: bytesIn, errors: errors)
    var outcome = RunOutcome(
      end: end, isComplete: !leftSomething && brokenSource == nil, elapsed: clock.now() - started)
    outcome.isWhole = options.isWhole && !hasUnmadeGathering
    outcome.differences = lockGuard?.differences ?? []
    return outcome
  }

  /// What went wrong with the run itself, in words without secrets; once nothing more comes.
  var troubles: [String] {
    var troubles = teller.troubles
    for fault in [internalFault, configFault, localFault, brokenSource].compactMap(\.self)
    where !troubles.contains(where: { $0.contains(fault.message) }) { troubles.append(fault.message) }
    return troubles.map(store.redact)
  }

  private func judge() -> (result: RunResult, exit: ExitCode) {
    var exits: [ExitCode] = []
    if internalFault != nil { exits.append(.bug) }
    if configFault != nil { exits.append(.usage) }
    if localFault != nil { exits.append(.disk) }
    if lockGuard?.differences.isEmpty == false || (options.isFrozen && errorCodes["cache.missing"] != nil) {
      exits.append(.lockViolated)
    }
    if let cause = stopCause, leftSomething || cause.code == "cancelled.stop_if" {
      if let signal = cause.signal {
        exits.append(ExitCode(signal: signal) ?? .interrupted)
      } else if cause.code == "cancelled.deadline" {
        exits.append(.deadline)
      } else if cause.code == "cancelled.user", configFault == nil, localFault == nil {
        exits.append(.interrupted)
      } else if cause.code == "cancelled.stop_if" {
        exits.append(.failed)
      }
    }
    if isCutByControl, stopCause == nil, leftSomething { exits.append(.interrupted) }
    if failsPolicy {
      let mayPass = counts.failed > 0 && onlyRetryable && !failedBarrier && brokenSource == nil
      exits.append(mayPass ? .tryAgain : .failed)
    }
    let exit = ExitCode.strongest(exits)
    let result: RunResult =
      switch exit {
      case .done: .success
      case .failed, .tryAgain, .lockViolated, .sinkFailed: .failure
      case .usage, .disk, .bug, .held: .error
      case .deadline: .timeout
      case .interrupted, .terminated, .hungUp: .cancelled
      }
    return (stopCause?.by == "stop_if" ? .cancelled : result, exit)
  }

  /// Whether what stopped the run has kept anything from being done.
  var leftSomething: Bool { counts.cancelled > 0 || hasCutSources || hasSkippedBarrier }

  /// Whether items, stages or sources failed beyond what the manifest allows.
  private var failsPolicy: Bool {
    if failedBarrier || brokenSource != nil { return true }
    guard let condition = plan.failIf else { return counts.failed > 0 }
    return (try? condition.isTrue(in: runScope)) ?? true
  }

  /// How many operations are at work, by stage.
  private var stagesAtWork: [String: Int] {
    var counts: [String: Int] = [:]
    for (stage, count) in zip(plan.stages, stageCounts) where count.running > 0 { counts[stage.id] = count.running }
    return counts
  }

  /// The run's figures, for listeners.
  var currentProgress: Payload.RunProgress {
    let total = totalItems
    return Payload.RunProgress(
      items: ItemCounts(
        total: total, ok: counts.ok, cached: counts.cached, filtered: counts.filtered, failed: counts.failed,
        cancelled: counts.cancelled),
      bytesIn: bytesIn, itemsPerSecond: 0, bytesPerSecond: 0,
      ratio: total.map { $0 == 0 ? 1 : min(1, Double(counts.ended) / Double($0)) }, eta: nil,
      inFlight: machine.inFlight, stages: stagesAtWork)
  }
}
