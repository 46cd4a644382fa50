import FlowBase
import FlowEvents
import FlowExpressions
import FlowGraph
import FlowParts
import FlowPlan

/// One stage's work on all of its groups, or on the run, off the loop's thread.
struct BarrierJob: Sendable {
  let plan: Plan
  let stage: Int
  let part: any Stage
  let config: Config
  let scope: RunScope
  let policy: RetryPolicy
  let services: Services
  let store: RunStore
  /// Whether what an earlier run has done is done again.
  let rerun: Bool
  let clock: any TimeSource
  /// The groups that are not complete yet; nil where all are.
  let pending: Set<String>?

  /// Does the work and says whether all of it went well.
  func run(_ post: @escaping @Sendable (RunLoop.Letter) -> Void) async -> Bool {
    do {
      guard case .group = plan.stages[stage].scope else {
        return await gather(nil, count: try store.resultCount(stage: stage), post)
      }
      return try await gatherGroups(post)
    } catch {
      let fault = Fault(error)
      let isCancelled = fault.kind == .cancelled
      post(
        .group(
          GroupEnd(stage: stage, group: nil, members: 0, status: isCancelled ? .cancelled : .failed, fault: fault)))
      return false
    }
  }

  /// Works on the groups, several at once.
  private func gatherGroups(_ post: @escaping @Sendable (RunLoop.Letter) -> Void) async throws -> Bool {
    var last: String?
    var allWell = true
    let width = plan.stages[stage].concurrency ?? 4
    while true {
      let page = try store.groups(stage: stage, after: last, limit: 256)
      guard let end = page.last else { return allWell }
      if Task.isCancelled { throw Fault("cancelled.user", .cancelled, "cancelled") }
      last = end.group
      // What an earlier pass of this run has done is done, also where it failed.
      let groups = try page.filter { group in
        if let pending, pending.contains(group.group) { return false }
        return try !store.isDone(stage: stage, group: group.group)
      }
      allWell =
        await withTaskGroup(of: Bool.self) { tasks in
          var well = true
          var waiting = groups[...]
          for group in waiting.prefix(width) {
            tasks.addTask(executorPreference: services.blocking) { await gather(group.group, count: group.count, post) }
          }
          waiting = waiting.dropFirst(width)
          for await ended in tasks {
            well = well && ended
            if !Task.isCancelled, let group = waiting.popFirst() {
              tasks.addTask(executorPreference: services.blocking) {
                await gather(group.group, count: group.count, post)
              }
            }
          }
          return well
        } && allWell
    }
  }

  private func gather(_ group: String?, count: Int, _ post: @escaping @Sendable (RunLoop.Letter) -> Void) async -> Bool
  {
    post(.groupStarted(stage: stage, group: group, members: count))
    var end = GroupEnd(stage: stage, group: group, members: count, status: .ok)
    var attempt = 0
    while true {
      attempt += 1
      do {
        let value = try group.map { (json) throws(Fault) in try groupValue(json) }
        let config = try config.resolved(in: ScopePair(first: GroupScope(group: value), second: scope))
        let digest = try store.gatheringDigest(stage: stage, group: group, count: count, config: config)
        if !rerun, let outputs = try store.reusableBarrier(stage: stage, group: group, digest: digest) {
          end.outputs = outputs
          end.isCached = true
        } else {
          end.outputs = try await limited { [attempt] in try await work(value, group, count, config, attempt) }
        }
        // Also where nothing was to do: the files are this run's now, and no orphans.
        try await store.recordBarrier(stage: stage, group: group, digest: digest, outputs: end.outputs, fault: nil)
        break
      } catch {
        let fault = Fault(error)
        if let delay = policy.delay(after: fault, attempt: attempt, chance: Double.random(in: 0..<1)) {
          try? await Task.sleep(nanoseconds: UInt64(max(0, delay.nanoseconds)))
          continue
        }
        end.status = fault.kind == .cancelled ? .cancelled : .failed
        if end.status == .failed, group != nil {
          try? await store.recordBarrier(stage: stage, group: group, digest: [], outputs: [], fault: fault)
        }
        end.fault = fault
        break
      }
    }
    post(.group(end))
    return end.fault == nil
  }

  private func work(_ value: Value?, _ group: String?, _ count: Int, _ config: Config, _ attempt: Int) async throws
    -> [OutputFact]
  {
    let store = store
    let stage = stage
    let gathering = Gathering(group: value, count: count) {
      store.members(stage: stage, group: group, everything: false)
    } everything: {
      store.members(stage: stage, group: group, everything: true)
    }
    let context = StageContext(
      stage: plan.stages[stage].id, config: config, attempt: attempt,
      services: services.forBarrier(stage: stage, group: group))
    return try await part.gather(gathering, in: context).outputs
  }

  /// Does work within the stage's time for one try; what takes longer is interrupted.
  private func limited(_ body: @escaping @Sendable () async throws -> [OutputFact]) async throws -> [OutputFact] {
    let planned = plan.stages[stage]
    guard let limit = planned.timeout ?? planned.deadline else { return try await body() }
    return try await withThrowingTaskGroup(of: [OutputFact]?.self) { tasks in
      tasks.addTask(executorPreference: services.blocking) { try await body() }
      tasks.addTask {
        try await Task.sleep(nanoseconds: UInt64(max(0, limit.nanoseconds)))
        return nil
      }
      defer { tasks.cancelAll() }
      if let first = try await tasks.next(), let outputs = first { return outputs }
      throw Fault(
        "net.timeout.total", planned.timeout == nil ? .permanent : .transient,
        "\(planned.id) took longer than its \(planned.timeout == nil ? "deadline" : "timeout") of \(limit.text)")
    }
  }

  private func groupValue(_ json: String) throws(Fault) -> Value {
    do { return try JSONReader.read(Array(json.utf8)) } catch {
      throw .internal("group", "a group is no JSON: \(json)")
    }
  }
}
