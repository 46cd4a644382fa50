import FlowBase
import FlowEvents
import FlowGraph
import FlowParts
import FlowPlan

/// How many requests there may be at once, what is asked for again, and what is done where there is no network.
extension RunLoop {
  /// The one node that asks a host for each item, where what it brought earlier is to be asked for again.
  static func refreshNode(of plan: Plan, _ stages: [any Stage]) -> Int? {
    // Behind a gate items are put aside, and come back with their bytes or not at all.
    guard plan.state.refresh == .changed, plan.stages.allSatisfy({ $0.after.isEmpty }) else { return nil }
    let asking = (0..<plan.itemNodeCount).filter { stages[plan.nodes[$0].stage].asNetworkStage != nil }
    return asking.count == 1 ? asking[0] : nil
  }

  /// Whether a node asks its host although an earlier run may have left what it fetched.
  ///
  /// What the run that was cut off right before has fetched counts as fetched by this one.
  func asksAgain(_ operation: Operation, _ known: StoredItem) -> Bool {
    guard facts[operation.node].work.asNetworkStage != nil else { return false }
    let held = slots[operation.slot]
    if refetches || held.course.earlierEnd != nil { return true }
    if failedOnItsBytes(operation, known) {
      held.course.blamed.insert(operation.node)
      return true
    }
    return operation.node == refreshNode && !store.isOfCutOffRun(known, node: operation.node)
  }

  /// Whether an item failed last time in a way that it would fail again with the same bytes.
  ///
  /// Hosts send error pages in place of pictures, and mend it. With other stages the same bytes may do.
  private func failedOnItsBytes(_ operation: Operation, _ known: StoredItem) -> Bool {
    let held = slots[operation.slot]
    // First what is nearly always so.
    guard known.fault != nil || !known.made.isEmpty, known.fingerprint == fingerprint(of: held) else { return false }
    if known.fault?.blamesBytes == true { return true }
    // Items that were made of it and are fetched themselves have bytes of their own.
    return !fetchesBehind[operation.node] && blamesBytes(known, feedNumber(held.item.source))
  }

  /// Whether an item, or one that was made of it, failed on bytes.
  private func blamesBytes(_ known: StoredItem, _ source: Int) -> Bool {
    if known.fault?.blamesBytes == true { return true }
    return known.made.contains { key in
      guard let child = try? store.lookup(source: source, key: key) else { return false }
      return blamesBytes(child, source)
    }
  }

  /// What an earlier run's result said, for a stage that is to find out whether it still holds.
  func earlierFields(_ operation: Operation) -> Fields? {
    let slot = slots[operation.slot]
    guard operation.node == refreshNode, !slot.course.asksPlainly, let known = slot.course.history,
      let key = slot.keys[operation.node], !failedOnItsBytes(operation, known)
    else { return nil }
    // Where all that was made of it is there, its bytes need not be.
    guard slot.course.earlierEnd != nil || store.mayHold(known, node: operation.node, key: key) else { return nil }
    return store.earlierFields(known, node: operation.node, key: key)
  }

  /// Whether there is a node behind one that fetches.
  static func fetchesBehind(_ plan: Plan, _ stages: [any Stage]) -> [Bool] {
    var asks = Array(repeating: false, count: plan.itemNodeCount)
    // Nodes stand behind their inputs, so one look from the end is enough.
    for node in asks.indices.reversed() {
      guard asks[node] || stages[plan.nodes[node].stage].asNetworkStage != nil else { continue }
      for input in plan.nodes[node].inputs { asks[input] = true }
    }
    return asks
  }

  // MARK: Height

  func noteHeight(_ result: Result<StageResult, Fault>) {
    switch result {
    case .success(let made): height?.ended(bytes: made.bytesIn, isRefusal: false)
    case .failure(let fault): height?.ended(bytes: 0, isRefusal: fault.kind == .quota)
    }
  }

  /// Lets more requests, or again fewer, be under way at once, where that is ours to find out.
  func judgeHeight() {
    guard height?.judge(isFull: gate.isAtLimit, at: now) == true, let value = height?.value else { return }
    gate.set(total: value)
  }

  // MARK: Offline

  /// Whether a failure may be the network's, in a run that waits for its network.
  func mayBeOffline(_ operation: Operation, _ fault: Fault) -> Bool {
    guard plan.pausesOffline, fault.kind == .transient, fault.httpStatus == nil, !machine.mode.isEnding,
      stages[plan.nodes[operation.node].stage].asNetworkStage != nil
    else { return false }
    let codes = ["dns.temporary", "body.truncated", "tls.handshake"]
    return fault.code.hasPrefix("net.") || codes.contains(fault.code)
  }

  /// Looks whether a host can be reached before its failure is taken for one.
  func lookForHost(_ host: Int, after fault: Fault, of operation: Operation) {
    let name = hostNames[host]
    let ticket = slots[operation.slot].ticket
    reach(name, through: operation.node) { reach in
      .reached(name, Outage.Finding(reach), after: fault, operation, ticket: ticket)
    }
  }

  /// A host has answered.
  func hasAnswered(_ host: Int) {
    if plan.pausesOffline { outage.answered(by: hostNames[host]) }
  }

  /// Whether a host, `name:port`, is none of this machine and of no network beside it, as far as its name tells.
  private static func isFar(_ host: String) -> Bool {
    guard let url = try? WebAddress(parsing: "http://\(host)/") else { return true }
    if url.host == "localhost" || url.host.hasSuffix(".localhost") { return false }
    return NetworkAddress(parsing: url.host).map { $0.reach == .global } ?? true
  }

  /// Tries to reach a host, on a task of its own.
  private func reach(_ host: String, through node: Int, _ letter: @escaping @Sendable (Reach) -> Letter) {
    guard let stage = stages[plan.nodes[node].stage].asNetworkStage else { return }
    let mailbox = mailbox
    let services = services
    Task(executorPreference: services.blocking) {
      let legServices = services.forLeg(item: 0, node: node, mayMove: false)
      mailbox.post(letter(await stage.reach(host, in: legServices)))
    }
  }

  /// The answer to `lookForHost`: the failure is the host's, or there is no network and it was no try.
  func reached(_ host: String, _ finding: Outage.Finding, _ fault: Fault, _ operation: Operation, _ ticket: Int) {
    guard slots[operation.slot].ticket == ticket else { return }
    let wasOffline = outage.isOffline
    let isFar = RunLoop.isFar(host)
    guard !machine.mode.isEnding,
      outage.found(finding, at: host, others: hostNames, isAlike: { RunLoop.isFar($0) == isFar })
    else {
      return failed(operation, fault)
    }
    slots[operation.slot].tries[operation.node] -= 1
    offlineNode = operation.node
    if !wasOffline {
      teller.log(.warn, "there is no network (\(fault.message)); waiting until it is back")
      if state == .active {
        enter(.paused, by: "offline")
        isPausedByOutage = true
      }
      _ = pauses.pause(.run, at: now)
      tell(.pause)
      timers.add(.lookForNetwork, due: (now + outage.nextWait()).nanoseconds)
    }
    tell(.retry(operation, at: now))
  }

  /// It is time to see whether the network is back.
  func lookForNetwork() {
    guard outage.isOffline, !machine.mode.isEnding else { return }
    guard state == .paused else {
      isPausedByOutage = false
      return outage.end()
    }
    let host = outage.host
    reach(host, through: offlineNode) { .looked(Outage.Finding($0), at: host) }
  }

  /// The answer to `lookForNetwork`.
  func looked(_ finding: Outage.Finding, at host: String) {
    guard outage.isOffline, !machine.mode.isEnding else { return }
    guard outage.looked(finding, at: host) else {
      timers.add(.lookForNetwork, due: (now + outage.nextWait()).nanoseconds)
      return
    }
    teller.log(.info, "the network is back")
    // A pause that somebody has asked for is theirs to end.
    guard state == .paused, isPausedByOutage else { return }
    isPausedByOutage = false
    enter(.active, by: "offline")
    goOn(.run)
    tell(.resume)
  }
}

extension Outage.Finding {
  /// What a stage has found.
  init(_ reach: Reach) {
    self =
      switch reach {
      case .open: .open
      case .refused: .refused
      case .silent: .silent
      case .gone: .gone
      }
  }
}
