import FlowBase
import FlowEvents
import FlowExpressions
import FlowGraph
import FlowParts
import FlowPlan

/// How a stage ended for a group or for the run.
struct GroupEnd: Sendable {
  var stage: Int
  var group: String?
  var members: Int
  var status: ItemStatus
  var outputs: [OutputFact] = []
  var fault: Fault?
  /// Whether an earlier run had done it, and nothing has changed since.
  var isCached = false
}

/// Stages that run once for many items.
extension RunLoop {
  /// Starts the barriers that are due, once the journal holds every result that they will read.
  func startDueBarriers() {
    guard flushingBarriers.isEmpty, flushingPasses.isEmpty, !(dueBarriers.isEmpty && duePasses.isEmpty) else { return }
    flushingBarriers = dueBarriers
    flushingPasses = duePasses
    dueBarriers = []
    duePasses = []
    store.askForFlush()
  }

  /// Ends a stage early, also one that still waits for the journal.
  func interruptBarrier(_ stage: Int) {
    barrierTasks[stage]?.cancel()
    if let number = earlyGroups.firstIndex(where: { $0.stage == stage && $0.isDue }) {
      earlyGroups[number].isDue = false
      noteCut()
      return tell(.barrierFinished(stage: stage, ok: false))
    }
    guard dueBarriers.contains(stage) || flushingBarriers.contains(stage) else { return }
    dueBarriers.removeAll { $0 == stage }
    flushingBarriers.removeAll { $0 == stage }
    noteCut()
    tell(.barrierFinished(stage: stage, ok: false))
  }

  /// A stage that gathers was cut off: what it had made before is not made anew, and no orphan for that.
  private func noteCut() {
    if stopCause != nil || isCutByControl { hasSkippedBarrier = true }
    hasUnmadeGathering = true
  }

  func startBarrier(_ stage: Int) {
    if waitsForPass(stage) { return }
    let planned = plan.stages[stage]
    if planned.condition == .success, counts.ended > 0, !anySucceeded(before: stage) {
      // "At least one succeeded" is what `success` means for many.
      skipBarrier(stage)
      return barrierDone(stage: stage, ok: false)
    }
    if case .expression(let condition) = planned.condition, !((try? condition.isTrue(in: runScope)) ?? false) {
      return barrierDone(stage: stage, ok: true)
    }
    let job = barrierJob(stage, except: nil)
    let hasFailed = earlyGroups.contains { $0.stage == stage && $0.hasFailed }
    let mailbox = mailbox
    barrierTasks[stage] = Task(executorPreference: services.blocking) {
      let ok = await job.run { mailbox.post($0) }
      mailbox.post(.barrierDone(stage: stage, ok: ok && !hasFailed))
    }
  }

  /// The work of a stage on its groups or on the run; with exceptions, on the groups that are complete.
  func barrierJob(_ stage: Int, except pending: Set<String>?) -> BarrierJob {
    BarrierJob(
      plan: plan, stage: stage, part: stages[stage], config: barrierConfig(stage), scope: runScope,
      policy: policies[stage], services: services, store: store, rerun: options.fresh, clock: clock, pending: pending)
  }

  /// Whether anything came out well of what a stage needs; items need not have ended for that.
  func anySucceeded(before stage: Int) -> Bool {
    counts.ok > 0 || plan.stages[stage].needs.contains { stageCounts[$0].ok > 0 }
  }

  private func barrierConfig(_ stage: Int) -> Config {
    plan.nodes.first { $0.stage == stage }?.config ?? Config()
  }

  func groupStarted(_ stage: Int, _ group: String?, _ members: Int) {
    teller.barrierStart(barrier(stage, group, members))
  }

  func groupEnded(_ end: GroupEnd) {
    let outputs = end.outputs.map { Payload.Output($0, leg: [:], group: end.group.map(groupText)) }
    if !end.isCached {
      for output in outputs { teller.output(output) }
    }
    if let fault = end.fault, fault.kind != .cancelled {
      failedBarrier = true
      if end.group == nil { hasUnmadeGathering = true }
      errorCodes[fault.code, default: 0] += 1
      if !fault.kind.isRetryable { onlyRetryable = false }
      stageCounts[end.stage].failed += 1
      react(to: fault, stops: plan.stages[end.stage].onError == .stop)
    } else if end.fault == nil {
      stageCounts[end.stage].ok += 1
    } else {
      noteCut()
    }
    teller.barrierEnd(
      Payload.BarrierEnd(
        barrier(end.stage, end.group, end.members), status: end.status, outputs: outputs,
        error: end.fault.map { EventError($0) }))
  }

  func barrierDone(stage: Int, ok: Bool) {
    barrierTasks[stage] = nil
    tell(.barrierFinished(stage: stage, ok: ok))
    perform()
  }

  func skipBarrier(_ stage: Int) {
    noteCut()
    teller.log(.info, "stage `\(plan.stages[stage].id)` did not run: what it needs failed, or the run was stopped")
  }

  private func barrier(_ stage: Int, _ group: String?, _ members: Int) -> Payload.BarrierStart {
    Payload.BarrierStart(
      stage: plan.stages[stage].id, per: group == nil ? "run" : "group", group: group.map(groupText), items: members)
  }

  /// A group's value as people write it: texts without quotes.
  private func groupText(_ json: String) -> String {
    (try? JSONReader.read(Array(json.utf8)))?.text ?? json
  }

  // MARK: Stages

  func stageStarted(_ stage: Int) {
    guard stageCounts[stage].started == nil else { return }
    stageCounts[stage].started = now
    teller.stageStart(plan.stages[stage].id, op: plan.stages[stage].op)
  }

  func stageEnded(_ stage: Int) {
    stageStarted(stage)
    guard !stageCounts[stage].ended else { return }
    stageCounts[stage].ended = true
    let counts = stageCounts[stage]
    teller.stageEnd(
      Payload.StageEnd(
        stage: plan.stages[stage].id, ok: counts.ok, failed: counts.failed, filtered: counts.filtered,
        elapsed: now - (counts.started ?? now)))
  }
}
