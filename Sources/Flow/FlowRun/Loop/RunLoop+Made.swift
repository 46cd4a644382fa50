import FlowBase
import FlowEvents
import FlowExpressions
import FlowGraph
import FlowParts
import FlowPlan

/// An item that a stage has made, on its way into the window.
struct MadeDraft: Sendable {
  var item: Item
  var input: [UInt8]
  /// The node that made it, and what that node hands on for it.
  var node: Int
  var result: NodeResult
  /// Why the stage's description of it is no good.
  var fault: Fault?
}

/// Items that stages make: they go on behind that stage, name their parent, and outlive it.
///
/// The parent's record lists their keys. A later run takes the parent for done only where all of them are; else the
/// stage makes them again, and each that is done already ends as cached.
extension RunLoop {
  /// What describes the bytes of an item, and means nothing for one that has other bytes.
  private static let contentFields = [
    "final_url", "status", "bytes", "media", "sha256", "etag", "last_modified", "path", "width", "height", "pages",
    "has_alpha", "orientation", "colourspace",
  ]

  /// Takes in what a stage has made of an item.
  func take(_ items: [MadeItem], from operation: Operation, fields: Fields) {
    var base = input(of: operation, slots[operation.slot])
    base.fields = base.fields.merging(fields)
    for made in items { slots[operation.slot].course.made.append(slots[operation.slot].item.key + "/" + made.key) }
    // A stopping run begins nothing new; the next one finds that these are missing.
    guard !machine.mode.isEnding else {
      if !items.isEmpty { hasCutSources = true }
      return
    }
    let parent = slots[operation.slot].item
    for made in items {
      waitingMade.append(draft(made, of: parent, input: slots[operation.slot].course.input, base, node: operation.node))
    }
    madeTotal += items.count
    tell(.made(operation, count: items.count))
  }

  private func draft(
    _ made: MadeItem, of parent: Item, input: [UInt8], _ base: NodeResult, node: Int
  ) -> MadeDraft {
    let key = parent.key + "/" + made.key
    var item = parent
    var fault: Fault?
    if let url = made.url {
      let prepared = ItemMaker(source: parent.source).prepare(
        SourceItem(url: url, key: key, row: made.row ?? parent.row, loop: parent.loop))
      item = prepared.item
      fault = prepared.fault
    }
    item.key = key
    item.index = parent.index
    item.row = made.row ?? parent.row
    item.parent = parent.name
    item.fields["key"] = .string(key)
    item.fields["index"] = .int(parent.index)
    if let name = made.fields["name"]?.asString {
      item.fields["name"] = .string(name)
      item.fields["stem"] = .string(FileName.stem(of: name))
      item.fields["ext"] = .string(FileName.ext(of: name))
    }
    if made.key.isEmpty || made.key.utf8.contains(0) {
      fault = Fault("item.key", .permanent, "a stage made an item of \(parent.name) without a key that can be used")
    }
    var result = NodeResult(fields: base.fields, content: made.content)
    if made.url != nil || made.content != nil {
      for name in RunLoop.contentFields { result.fields[name] = nil }
    } else {
      result.content = base.content
      if case .file(let file)? = base.content { _ = file.share() }
    }
    if case .file(let file)? = made.content {
      result.fields["bytes"] = .int(file.bytes)
      result.fields["sha256"] = .string(file.sha256.hex)
    }
    result.fields = result.fields.merging(made.fields)
    return MadeDraft(
      item: item, input: RunLoop.digest(of: item, made, result, under: input), node: node, result: result, fault: fault)
  }

  /// The digest of what a stage says of an item that it made, as for items of sources.
  private static func digest(
    of item: Item, _ made: MadeItem, _ result: NodeResult, under input: [UInt8]
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginArray()
    writer.string(Hex.encode(input))
    writer.string(item.key)
    writer.string(item.url ?? "")
    writer.value(.map(made.fields))
    writer.value(.map(made.row ?? [:]))
    switch result.content {
    case .file(let file)?: writer.string(file.sha256.hex)
    case .bytes(let bytes)?: writer.string(Digest.sha256(of: bytes).hex)
    case .deferred(let work)?: writer.string(work.identity)
    case nil: break
    }
    writer.endArray()
    return Array(Digest.sha256(of: writer.bytes).bytes.prefix(16))
  }

  /// Lets as many made items into the window as the machine has asked for.
  ///
  /// Not while actions are being performed: an item whose end is among them may still be in the slot.
  func admitMade() {
    while madeAsked > 0 {
      madeAsked -= 1
      guard let next = waitingMade.first, !machine.mode.isEnding else {
        madeAsked = 0
        return
      }
      if admit(next) { _ = waitingMade.popFirst() } else { tell(.tick) }
      perform()
    }
  }

  /// Whether an item has found its place, or needs none.
  private func admit(_ made: MadeDraft) -> Bool {
    let item = made.item
    let source = feedNumber(item.source)
    let known: StoredItem?
    do { known = try store.lookup(source: source, key: item.key) } catch {
      react(to: error, stops: false)
      tell(.madeConsumed(node: made.node))
      return true
    }
    if namesUnderWay[item.name] != nil || known?.run == store.run {
      var twin = item
      twin.key += "~\(madeTotal)-\(waitingMade.count)"
      refuse(twin, source, made.input, nil, RunLoop.duplicate(of: item.key, in: item.source))
    } else if let fault = made.fault {
      refuse(item, source, made.input, known, fault)
    } else {
      let earlier = known.flatMap { earlierEnd(of: made, $0, source) }
      if let known, let earlier, plan.state.refresh != .changed || !fetchesBehind[made.node] {
        endCached(item, source, known, earlier.end)
        madeTotal += earlier.made.count
        for other in earlier.made { endCached(other.item, source, other.known, other.end) }
        tell(.madeConsumed(node: made.node))
        return true
      }
      guard let slot = machine.admitMade(behind: made.node, at: now, into: &actions) else { return false }
      namesUnderWay[item.name] = NameState(input: made.input)
      place(item, in: slot, id: known?.id ?? store.makeItemID(), input: made.input, history: known)
      slots[slot].results[made.node] = made.result
      if !refetches, let earlier {
        slots[slot].course.earlierEnd = earlier.end
        slots[slot].course.earlierMade = earlier.made
      }
      if barrierNeeds.contains(plan.nodes[made.node].stage) { earlySlots.insert(slot) }
      return true
    }
    tell(.madeConsumed(node: made.node))
    return true
  }

  /// How a made item ended in an earlier run that has done all of it, and what was made of it; nil where there is work.
  private func earlierEnd(
    of made: MadeDraft, _ known: StoredItem, _ source: Int
  ) -> (end: Payload.ItemEnd, made: [CachedMade])? {
    guard known.gathering == fingerprints.gathering || fingerprints.gathering.isEmpty,
      let end = store.reusable(known, fingerprint: fingerprints.of(made.item, input: made.input)),
      agreesWithLock(made.item, known, lockNodesOfMade[made.node]),
      let others = cachedMade(of: known, made.item, source)
    else { return nil }
    return (end, others)
  }

  /// An item that an earlier run has made and done.
  struct CachedMade {
    var item: Item
    var known: StoredItem
    var end: Payload.ItemEnd
  }

  /// What an earlier run made of an item and did; nil where some of it is not done, so that it must be made again.
  func cachedMade(of known: StoredItem, _ parent: Item, _ source: Int) -> [CachedMade]? {
    var found: [CachedMade] = []
    // Only who made them knows their addresses, which are locked as well.
    if lockGuard != nil, !known.made.isEmpty, !lockNodesOfMade.isEmpty { return nil }
    for key in known.made {
      guard let child = try? store.lookup(source: source, key: key) else { return nil }
      var item = Item(source: parent.source, key: key, index: parent.index, url: nil, parent: parent.name)
      item.fields = ["key": .string(key), "index": .int(parent.index), "source": .string(parent.source)]
      guard let end = store.reusable(child, fingerprint: fingerprints.of(item, input: child.input)),
        let others = cachedMade(of: child, item, source)
      else { return nil }
      found.append(CachedMade(item: item, known: child, end: end))
      found += others
    }
    return found
  }

  /// Whether an item, or one that was made of it, failed last time in a way that is asked for.
  func hasFailed(_ known: StoredItem, _ filter: FailureFilter, _ source: Int) -> Bool {
    if let fault = known.fault, filter.matches(fault) { return true }
    return known.made.contains { key in
      guard let child = try? store.lookup(source: source, key: key) else { return false }
      return hasFailed(child, filter, source)
    }
  }
}
