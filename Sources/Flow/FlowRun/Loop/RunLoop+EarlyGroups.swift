import FlowBase
import FlowExpressions
import FlowGraph
import FlowParts
import FlowPlan

/// A stage per group whose complete groups need not wait for the others.
struct EarlyGroups: Sendable {
  /// The stage.
  let stage: Int
  /// The nodes whose results it takes.
  let nodes: [Int]
  /// The groups that still had items under way at the last look; nil before the first.
  var pending: Set<String>?
  /// How many items were under way then.
  var inFlight = Int.max
  /// Whether a pass over complete groups is on its way.
  var isBusy = false
  /// Whether a pass has left a group failed.
  var hasFailed = false
  /// Whether all groups are complete, and the last pass waits for the one that is on its way.
  var isDue = false

  /// The stage, if a group of it can be told from what sources say, before its items are done.
  init?(_ plan: Plan, stage: Int) {
    let planned = plan.stages[stage]
    guard case .group(let expression) = planned.scope, planned.after.isEmpty, planned.condition == .success,
      planned.needs.allSatisfy({ !plan.stages[$0].scope.isBarrier }),
      !plan.stages.contains(where: { !$0.scope.isBarrier && $0.part.spec.makesItems }),
      expression.references.allSatisfy({ reference in
        switch reference.namespace {
        case .row, .for, .vars, .env, .output: true
        case .item: reference.path.first.map(ItemMaker.names.contains) ?? false
        default: false
        }
      })
    else { return nil }
    self.stage = stage
    nodes = plan.nodes.indices.filter { planned.needs.contains(plan.nodes[$0].stage) }
  }
}

/// Once the sources are exhausted, a group whose items are all done is worked on, though others still wait for theirs.
///
/// The machine knows of none of this: to it, a stage that gathers starts when all is done, and then what is left runs.
extension RunLoop {
  func openCompleteGroups() {
    guard earlyGroups.contains(where: { !$0.isBusy }), machine.mode == .active, machine.parked == 0, chosen.isComplete,
      waitingHead == waitingItems.count, feeds.allSatisfy(\.hasEnded)
    else { return }
    for number in earlyGroups.indices {
      let early = earlyGroups[number]
      // Far from the end a look at each item's end would cost more than it gives.
      guard !early.isBusy, machine.inFlight < early.inFlight,
        early.inFlight <= 64 || machine.inFlight <= early.inFlight / 2, barrierTasks[early.stage] == nil,
        !dueBarriers.contains(early.stage), !flushingBarriers.contains(early.stage)
      else { continue }
      earlyGroups[number].inFlight = machine.inFlight
      let pending = pendingGroups(of: early)
      // Where nothing is pending, the machine is about to say so itself.
      guard !pending.isEmpty, pending != early.pending, anySucceeded(before: early.stage) else { continue }
      earlyGroups[number].pending = pending
      earlyGroups[number].isBusy = true
      duePasses.append(number)
    }
  }

  /// The groups that items under way may still come into.
  private func pendingGroups(of early: EarlyGroups) -> Set<String> {
    var pending = Set<String>()
    for slot in slots.indices where slots[slot].ticket >= 0 {
      let isOpen = early.nodes.contains {
        machine.state(Operation(slot: slot, node: $0)).rawValue < NodeState.ok.rawValue
      }
      guard isOpen, let node = early.nodes.first,
        let group = group(of: slots[slot].item, at: node, NodeResult(), for: early.stage)
      else { continue }
      pending.insert(group)
    }
    return pending
  }

  /// The journal holds what the complete groups have: works on all but those that are pending.
  func startPass(_ number: Int) {
    let early = earlyGroups[number]
    guard machine.mode == .active else { return passDone(early.stage, ok: true) }
    stageStarted(early.stage)
    let job = barrierJob(early.stage, except: early.pending ?? [])
    let mailbox = mailbox
    barrierTasks[early.stage] = Task(executorPreference: services.blocking) {
      let ok = await job.run { mailbox.post($0) }
      mailbox.post(.passDone(stage: early.stage, ok: ok))
    }
  }

  func passDone(_ stage: Int, ok: Bool) {
    barrierTasks[stage] = nil
    guard let number = earlyGroups.firstIndex(where: { $0.stage == stage }) else { return }
    earlyGroups[number].isBusy = false
    if !ok { earlyGroups[number].hasFailed = true }
    guard earlyGroups[number].isDue else { return }
    earlyGroups[number].isDue = false
    startBarrier(stage)
  }

  /// Whether the last pass of a stage has to wait; it is begun when the one on its way is over.
  func waitsForPass(_ stage: Int) -> Bool {
    guard let number = earlyGroups.firstIndex(where: { $0.stage == stage }), earlyGroups[number].isBusy else {
      return false
    }
    earlyGroups[number].isDue = true
    return true
  }

  /// Ends what works on complete groups, because the run is to stop.
  func interruptPasses() {
    for early in earlyGroups where early.isBusy { barrierTasks[early.stage]?.cancel() }
  }
}
