import FlowBase
import FlowEvents
import FlowExpressions
import FlowGraph
import FlowParts
import FlowPlan

/// What tells an item that is under way from another that comes with the same name.
struct NameState: Sendable {
  /// The digest of what the source said of it.
  var input: [UInt8]
}

/// An item whose end is on its way to the journal, and is told when it is safe there; the loop's alone.
final class EndingItem {
  let name: String
  let subject: ItemSubject
  var end: Payload.ItemEnd

  init(name: String, subject: ItemSubject, end: Payload.ItemEnd) {
    self.name = name
    self.subject = subject
    self.end = end
  }
}

/// Items from their admission to their end.
extension RunLoop {
  /// Takes items that have come from the sources into the window, as far as the machine has asked for them.
  func admitWaiting() {
    while mayAdmit {
      // So many at a time: while a reading lasts, the journal's log cannot begin anew.
      store.snapshot {
        let next = waitingItems[waitingHead..<min(waitingItems.count, waitingHead + min(machine.wanted, 256))]
        for (waiting, standing) in zip(next, store.standings(of: next)) where mayAdmit {
          waitingHead += 1
          admit(waiting.item, from: waiting.source, standing)
          perform()
        }
      }
    }
    if waitingHead == waitingItems.count {
      waitingItems.removeAll(keepingCapacity: true)
      waitingHead = 0
    } else if machine.mode.isEnding {
      waitingItems.removeAll()
      waitingHead = 0
    }
    endSources()
  }

  /// Whether there is an item for the window, and room for it.
  private var mayAdmit: Bool {
    waitingHead < waitingItems.count && !machine.mode.isEnding && ending.count < options.window * 2
      && machine.wanted > 0 && chosen.isComplete
  }

  private func admit(_ prepared: PreparedItem, from source: Int, _ standing: RunStore.Standing?) {
    if prepared.isDone { return replay(prepared.item, from: source) }
    let past: PastItem
    do { past = try self.past(of: prepared, source, standing) } catch {
      // A journal that cannot be read must not make everything be fetched again.
      react(to: error, stops: false)
      return tell(.consumed(1))
    }
    let (input, known) = (past.input, past.known)
    if let filter = options.failedOnly {
      guard let known, known.run != store.run, hasFailed(known, filter, source) else { return tell(.consumed(1)) }
    }
    if let admits = options.admits, !admits(prepared.item) { return tell(.consumed(1)) }
    if let twin = namesUnderWay[prepared.name]?.input ?? (known?.run == store.run ? known?.input : nil) {
      if twin == input {
        feeds[source].duplicates += 1
        return tell(.consumed(1))
      }
      feeds[source].items += 1
      noteCome(prepared, source)
      var item = prepared.item
      item.index = feeds[source].items
      let key = item.key
      item.key = "\(key)~\(item.index)"
      refuse(item, source, input, nil, RunLoop.duplicate(of: key, in: item.source))
      return tell(.consumed(1))
    }
    feeds[source].items += 1
    noteCome(prepared, source)
    let index = self.index(of: known, in: source)
    if let fault = prepared.fault {
      refuse(prepared.item(at: index), source, input, known, fault)
      return tell(.consumed(1))
    }
    var earlierEnd: Payload.ItemEnd?
    var earlierMade: [CachedMade] = []
    if !refetches, let known, known.gathering == fingerprints.gathering || fingerprints.gathering.isEmpty,
      let end = past.end, lockGuard == nil || agreesWithLock(prepared.item, known, lockNode),
      let made = known.made.isEmpty ? [] : cachedMade(of: known, prepared.item(at: index), source)
    {
      // What was filtered out before it was fetched was so for what its source says of it.
      guard let refreshNode, end.status == .ok || store.remembered(known, node: refreshNode) != nil else {
        let subject = ItemSubject(
          item: prepared.name, index: index, total: feeds[source].total, url: prepared.item.url,
          source: prepared.item.source, parent: prepared.item.parent)
        let isSame = known.fingerprint.starts(with: input)
        endCached(subject, prepared.item.key, source, known, isSame ? input : known.input, end)
        madeTotal += made.count
        for child in made { endCached(child.item, source, child.known, child.end) }
        return tell(.consumed(1))
      }
      (earlierEnd, earlierMade) = (end, made)
    }
    let item = prepared.item(at: index)
    namesUnderWay[prepared.name] = NameState(input: input)
    guard let slot = machine.admit(at: now, into: &actions) else { return }
    place(item, in: slot, id: known?.id ?? store.makeItemID(), input: input, history: known)
    slots[slot].course.fingerprint = past.fingerprint
    slots[slot].course.earlierEnd = earlierEnd
    slots[slot].course.earlierMade = earlierMade
  }

  /// What earlier runs have left of an item: as it was looked up with its source, where that still holds.
  ///
  /// What this run has written meanwhile counts: a twin of an item may have ended since.
  private func past(
    of prepared: PreparedItem, _ source: Int, _ standing: RunStore.Standing?
  ) throws(Fault) -> PastItem {
    // The next number is its own, if it is no twin of another.
    let isPlaced =
      !fingerprints.readsIndex || options.failedOnly != nil || prepared.past?.known?.index == feeds[source].items + 1
    if isPlaced, let past = prepared.past, try store.takes(past, standing) { return past }
    let item = prepared.item
    let input = prepared.past?.input ?? fingerprints.input(of: item)
    let known = try store.lookup(source: source, key: item.key)
    let fingerprint = fingerprints.of(input, index: index(of: known, in: source, coming: 1))
    let end = refetches ? nil : known.flatMap { store.reusable($0, fingerprint: fingerprint) }
    return PastItem(input: input, fingerprint: fingerprint, known: known, end: end)
  }

  /// The number of the item that has come last, or is `coming` next.
  ///
  /// Where only failed ones take part, they have the numbers that they had among all.
  private func index(of known: StoredItem?, in source: Int, coming: Int = 0) -> Int {
    if options.failedOnly != nil, let known { return known.index }
    return feeds[source].items + coming
  }

  /// Puts an item into a slot that the machine has given it.
  func place(_ item: Item, in slot: Int, id: Int, input: [UInt8], history: StoredItem?) {
    tickets += 1
    // The window's slots are made as they are needed: a run of few items has few.
    while slots.count <= slot {
      slots.append(
        Slot(ticket: -1, id: 0, item: Item(source: "", key: "", index: 0, url: nil), nodes: 0, stages: 0))
    }
    let held = slots[slot]
    held.renew(ticket: tickets, id: id, item: item, nodes: itemNodes, stages: plan.stages.count)
    held.course.input = input
    held.course.history = history
  }

  static func duplicate(of key: String, in source: String) -> Fault {
    Fault(
      "item.duplicate_key", .permanent,
      "another item of `\(source)` has the key `\(key)`; give each a `key:` of its own")
  }

  /// An item that fails before any stage has seen it.
  func refuse(_ item: Item, _ source: Int, _ input: [UInt8], _ known: StoredItem?, _ fault: Fault) {
    tickets += 1
    let subject = subject(of: item)
    teller.start(item.key, subject: subject)
    teller.error(EventError(fault), subject: subject)
    errorCodes[fault.code, default: 0] += 1
    counts.failed += 1
    if !fault.kind.isRetryable { onlyRetryable = false }
    let end = Payload.ItemEnd(status: .failed, attempts: 0, ratio: 0, error: EventError(fault))
    ending[tickets] = EndingItem(name: item.name, subject: subject, end: end)
    namesUnderWay[item.name] = NameState(input: input)
    store.end(
      ItemRecordDraft(
        ticket: tickets, id: known?.id ?? store.makeItemID(), item: item, source: source, status: .failed, input: input,
        fingerprint: input, fault: fault, standIns: known?.facts.standIns ?? []))
  }

  /// An item of which an earlier run has done everything.
  func endCached(_ item: Item, _ source: Int, _ known: StoredItem, _ end: Payload.ItemEnd) {
    endCached(subject(of: item), item.key, source, known, known.input, end)
  }

  private func endCached(
    _ subject: ItemSubject, _ key: String, _ source: Int, _ known: StoredItem, _ input: [UInt8], _ end: Payload.ItemEnd
  ) {
    tickets += 1
    teller.start(key, subject: subject, ratio: 1)
    if end.status == .ok {
      counts.ok += 1
      counts.cached += 1
    } else {
      counts.filtered += 1
    }
    ending[tickets] = EndingItem(name: subject.item, subject: subject, end: end)
    namesUnderWay[subject.item] = NameState(input: input)
    store.touch(ticket: tickets, index: subject.index, source: source, known: known)
  }

  /// The machine says that an item is through: its end goes to the journal, and is told when it is safe.
  func endItem(_ slot: Int, _ status: GraphMachine.ItemStatus) {
    let held = slots[slot]
    announce(held)
    let subject = subject(of: held)
    if held.course.isUnchanged, status == .ok, let known = held.course.history, let end = held.course.earlierEnd {
      return endUnchanged(slot, subject, known, end)
    }
    var end = Payload.ItemEnd(
      status: ItemStatus(status), isShared: held.course.isShared,
      attempts: held.course.isShared || held.course.isKept ? 0 : held.attempts,
      ratio: status == .ok ? 1 : nil)
    end.finalURL = redirect(of: held)
    end.outputs = held.course.outputs.map { Payload.Output($0.fact, leg: plan.nodes[$0.node].axes) }
    end.stages = plan.stages.indices.compactMap { stage in
      held.stageTimes[stage] < 0
        ? nil
        : Payload.StageTime(
          stage: plan.stages[stage].id, elapsed: Interval(nanoseconds: held.stageTimes[stage]),
          isCached: held.course.cachedStages.contains(stage))
    }
    var fault: Fault?
    switch status {
    case .ok: counts.ok += 1
    case .filtered:
      counts.filtered += 1
      end.reason = held.course.reason ?? "filtered"
    case .failed:
      counts.failed += 1
      for failure in held.course.failures {
        errorCodes[failure.fault.code, default: 0] += 1
        if !failure.fault.kind.isRetryable { onlyRetryable = false }
      }
      // Of several faults the one that says most of what the next run has to do.
      let failure = held.course.failures.first { $0.fault.blamesBytes } ?? held.course.failures.first
      fault = failure?.fault
      end.error = failure.map { EventError($0.fault, attempt: $0.attempt) }
    case .cancelled:
      counts.cancelled += 1
      end.reason = stopCause?.code ?? held.course.cancelCode
      fault = Fault(end.reason ?? "cancelled.user", .cancelled, "cancelled")
    }
    ending[held.ticket] = EndingItem(name: held.item.name, subject: subject, end: end)
    store.end(draft(of: held, slot: slot, end: end, fault: fault))
    held.close()
  }

  /// Where an item's bytes came from in the end, fit for logs; nil where that is its own address.
  private func redirect(of held: Slot) -> String? {
    for result in held.results {
      guard let final = result?.fields["final_url"]?.asString, final != held.item.url else { continue }
      // What a manifest writes may differ from what is asked for by no more than its spelling.
      if let own = held.item.url.flatMap({ try? WebAddress(parsing: $0) }), own.text == final { return nil }
      return Redaction.url(final)
    }
    return nil
  }

  /// An item whose host says that what an earlier run fetched still holds.
  private func endUnchanged(_ slot: Int, _ subject: ItemSubject, _ known: StoredItem, _ earlier: Payload.ItemEnd) {
    let held = slots[slot]
    let source = feedNumber(held.item.source)
    // A stage beside the one that asked may have made them anew, each with an end of its own.
    var anew: Set<String> = []
    let made = held.course.earlierMade.filter { child in
      guard held.course.made.contains(child.item.key) || child.item.parent.map(anew.contains) == true else {
        return true
      }
      anew.insert(child.item.name)
      return false
    }
    var end = earlier
    end.attempts = held.attempts
    if end.status == .ok {
      counts.ok += 1
      counts.cached += 1
    } else {
      counts.filtered += 1
    }
    ending[held.ticket] = EndingItem(name: held.item.name, subject: subject, end: end)
    store.touch(
      ticket: held.ticket, index: held.item.index, source: source, known: known,
      writtenAs: held.course.isWritten ? held.item : nil)
    held.close()
    madeTotal += made.count
    for child in made { endCached(child.item, source, child.known, child.end) }
  }

  /// The digest of all that an item's result depends on.
  func fingerprint(of held: Slot) -> [UInt8] {
    held.course.fingerprint ?? fingerprints.of(held.item, input: held.course.input)
  }

  private func draft(of held: Slot, slot: Int, end: Payload.ItemEnd, fault: Fault?) -> ItemRecordDraft {
    let input = held.course.input
    var draft = ItemRecordDraft(
      ticket: held.ticket, id: held.id, item: held.item, source: feedNumber(held.item.source), status: end.status,
      input: input,
      fingerprint: fingerprint(of: held), fault: fault)
    draft.end = end
    draft.made = held.course.made
    draft.standIns = held.course.standIns
    if end.status != .ok, end.status != .filtered {
      // Until it is known better, it is done by the one for which it was dropped.
      draft.standIns += held.course.history?.facts.standIns ?? []
    }
    // Nor does the run after the next take what has failed, though it has not come anew.
    draft.dropped = held.course.blamed
    if held.course.history != nil || held.course.wasParked, end.status == .ok || end.status == .filtered {
      // Or tables would list what an earlier run had made of it.
      for node in 0..<itemNodes
      where held.results[node] == nil && barrierNeeds.contains(plan.nodes[node].stage)
        && !held.course.written.contains(node)
      {
        draft.dropped.insert(node)
      }
    }
    for node in 0..<itemNodes {
      guard let result = held.results[node] else { continue }
      if barrierNeeds.contains(plan.nodes[node].stage) {
        let memberships = memberships(of: held.item, at: node, result)
        draft.groups += memberships
        guard !held.course.written.contains(node) else { continue }
        draft.results.append(ItemRecordDraft.Result(node: node, result: result, key: held.keys[node]))
        draft.memberships += memberships
      } else if let key = held.keys[node],
        end.status != .filtered || locks(node, held.item) || node == refreshNode
          || plan.stages[plan.nodes[node].stage].part.spec.isRemembered,
        mayKeep(result, of: held, end.status)
      {
        draft.results.append(ItemRecordDraft.Result(node: node, result: result, key: key))
      }
    }
    return draft
  }

  /// Whether a result that is written down keeps its bytes for the next run, as far as an item that fails has any.
  ///
  /// What an item waited with behind a gate is not its own where others had it too. A row that says nothing of bytes
  /// would stand in the place of one with which an earlier run has kept them.
  private func mayKeep(_ result: NodeResult, of held: Slot, _ status: ItemStatus) -> Bool {
    guard held.course.wasParked, status == .failed || status == .cancelled, case .file(let file)? = result.content
    else { return true }
    return file.isTemporary || store.finishedFile(file) == nil
  }

  /// Which groups a leg belongs to, by the stages that gather.
  private func memberships(of item: Item, at node: Int, _ result: NodeResult) -> [ItemRecordDraft.Membership] {
    plan.stages.indices.compactMap { barrier in
      guard plan.stages[barrier].scope.isBarrier, plan.stages[barrier].needs.contains(plan.nodes[node].stage),
        let group = group(of: item, at: node, result, for: barrier)
      else { return nil }
      return ItemRecordDraft.Membership(barrier: barrier, node: node, group: group)
    }
  }

  /// Writes what stages that gather will read of items that have not ended yet.
  ///
  /// Most items end in the same moment, and then their end brings it all.
  func writeEarly() {
    for slot in earlySlots where slots[slot].ticket >= 0 { writeEarly(slot) }
    earlySlots.removeAll(keepingCapacity: true)
  }

  /// Writes the item as it stands; with a ticket also where nothing new is to be read, and then it is answered.
  func writeEarly(_ slot: Int, ticket: Int = 0) {
    let held = slots[slot]
    // What an earlier run has written down stands.
    if ticket == 0, held.course.isUnchanged { return }
    var draft = ItemRecordDraft(
      ticket: ticket, id: held.id, item: held.item, source: feedNumber(held.item.source), status: .cancelled,
      input: held.course.input, fingerprint: held.course.input, fault: nil)
    draft.isUnderWay = true
    // Before what has come anew is written: that is not to be lost with it.
    draft.dropped = held.course.blamed
    slots[slot].course.blamed = []
    for node in 0..<itemNodes where barrierNeeds.contains(plan.nodes[node].stage) && !held.course.written.contains(node)
    {
      guard let result = held.results[node] else { continue }
      draft.results.append(ItemRecordDraft.Result(node: node, result: result, key: held.keys[node]))
      draft.memberships += memberships(of: held.item, at: node, result)
      slots[slot].course.written.insert(node)
    }
    guard ticket > 0 || !draft.results.isEmpty || !draft.dropped.isEmpty else { return }
    slots[slot].course.isWritten = true
    store.begin(draft)
  }

  /// The group of a leg as JSON, empty for the whole run; nil where it is in no group.
  func group(of item: Item, at node: Int, _ result: NodeResult, for barrier: Int) -> String? {
    guard case .group(let expression) = plan.stages[barrier].scope else { return "" }
    let leg = Leg(item: item, axes: plan.nodes[node].axes, fields: result.fields)
    guard let value = try? expression.evaluate(in: leg), !value.isNull else { return nil }
    var writer = JSONWriter()
    writer.value(value)
    return writer.text
  }

  /// The journal has taken something in: what waited for it can be told.
  func stored(_ reply: StoreReply) {
    switch reply {
    case .itemEnded(let ticket, let fault):
      if let name = parkedNames.removeValue(forKey: ticket) { namesUnderWay[name] = nil }
      guard let item = ending.removeValue(forKey: ticket) else { return }
      namesUnderWay[item.name] = nil
      if let fault { fail(item, fault) }
      noteEnd(item)
      teller.end(item.end, subject: item.subject)
    case .lotEnded(let number, let fault):
      for ticket in store.endLot(number, fault) { stored(.itemEnded(ticket: ticket, fault)) }
    case .flushed:
      let due = flushingBarriers
      flushingBarriers = []
      let passes = flushingPasses
      flushingPasses = []
      for number in passes { startPass(number) }
      for stage in due { startBarrier(stage) }
    case .runFault(let fault):
      teller.log(.error, fault.message)
      react(to: fault, stops: false)
    }
  }

  /// What cannot be remembered has not been done, as far as the next run knows; and no event may say otherwise.
  private func fail(_ item: EndingItem, _ fault: Fault) {
    switch item.end.status {
    case .ok:
      counts.ok -= 1
      if item.end.isCached { counts.cached -= 1 }
    case .filtered: counts.filtered -= 1
    case .failed, .cancelled: return react(to: fault, stops: false)
    }
    counts.failed += 1
    errorCodes[fault.code, default: 0] += 1
    if !fault.kind.isRetryable { onlyRetryable = false }
    item.end.status = .failed
    item.end.isCached = false
    item.end.ratio = nil
    item.end.error = EventError(fault)
    teller.error(EventError(fault), subject: item.subject)
    react(to: fault, stops: false)
  }

  /// Tells that work on an item begins, once.
  func announce(_ held: Slot) {
    guard !held.course.isAnnounced else { return }
    held.course.isAnnounced = true
    teller.start(held.item.key, subject: subject(of: held), why: why(held))
  }

  /// Why there is work for an item, in the words of `imgflow plan`.
  private func why(_ held: Slot) -> String {
    if options.fresh { return "--fresh" }
    if held.course.earlierEnd != nil { return "asked whether it has changed" }
    guard let known = held.course.history else { return "new" }
    switch known.status {
    case .failed: return "failed last time (\(known.fault?.code ?? "unknown"))"
    case .cancelled: return "not finished last time"
    case .ok, .filtered: break
    }
    if refetches { return "fetched again" }
    if known.input != held.course.input { return "input changed" }
    if fingerprints.differsInIndex(known, from: held.item.index) { return "its number changed" }
    if known.fingerprint != fingerprint(of: held) { return "config changed" }
    return known.facts.standIns.isEmpty || !known.facts.outputs.isEmpty ? "output missing or altered" : StandIns.lost
  }

  func subject(of item: Item) -> ItemSubject { ItemSubject(item, total: feeds[feedNumber(item.source)].total) }

  private func subject(of held: Slot) -> ItemSubject {
    var subject = held.subject
    subject.total = feeds[feedNumber(subject.source)].total
    return subject
  }

  func subject(_ held: Slot, stage: Int, attempt: Int? = nil) -> ItemSubject {
    var subject = subject(of: held)
    subject.stage = plan.stages[stage].id
    subject.attempt = attempt ?? max(1, held.attempts)
    return subject
  }

  func feedNumber(_ id: String) -> Int {
    for number in feeds.indices where feeds[number].id == id { return number }
    return 0
  }
}

extension ItemStatus {
  /// The status that the graph gave an item.
  init(_ status: GraphMachine.ItemStatus) {
    switch status {
    case .ok: self = .ok
    case .filtered: self = .filtered
    case .failed: self = .failed
    case .cancelled: self = .cancelled
    }
  }
}

extension Payload.Output {
  /// An output as events tell it.
  init(_ fact: OutputFact, leg: Fields, group: String? = nil) {
    self.init(
      path: fact.path, leg: leg, group: group, media: fact.media, bytes: fact.bytes, sha256: fact.sha256,
      width: fact.width, height: fact.height)
  }
}
