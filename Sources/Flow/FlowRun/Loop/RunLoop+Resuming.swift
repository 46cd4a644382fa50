import FlowBase
import FlowEvents
import FlowExpressions
import FlowGraph
import FlowParts
import FlowPlan

/// Sources that can be asked from somewhere in the middle: what a run that is cut off leaves for the next.
extension RunLoop {
  /// Where the last run was cut off in a source, if this run may go on from there; nil where it begins anew.
  ///
  /// What lies before is not asked for again, and so must all be done: each item is looked at, with its files.
  func resumption(of number: Int) -> SourceFeed.Resumption? {
    guard options.failedOnly == nil, options.admits == nil, lockGuard == nil, !refetches, refreshNode == nil,
      keepsTrail(of: number), let mark = store.mark(of: number, fingerprint(of: number))
    else { return nil }
    var last = 0
    while last < mark.before {
      guard
        let page = try? store.givenItems(of: number, run: mark.run, after: last, through: mark.before, limit: 512),
        !page.isEmpty
      else { return nil }
      for known in page {
        last += 1
        guard known.item.index == last, store.reusable(known.stored, fingerprint: known.stored.fingerprint) != nil,
          cachedMade(of: known.stored, known.item, number) != nil
        else { return nil }
      }
    }
    let store = store
    return SourceFeed.Resumption(cursor: mark.cursor, count: mark.before) { after, limit in
      try store.givenItems(of: number, run: mark.run, after: after, through: mark.before, limit: limit).map(\.item)
    }
  }

  /// Whether a place in a source means something to the next run: not where items are picked out of all.
  private func keepsTrail(of number: Int) -> Bool {
    if case .count? = plan.sources[number].sample { return false }
    if case .count? = plan.sample { return false }
    return true
  }

  /// The digest of all that decides which items a source gives and what becomes of them.
  private func fingerprint(of number: Int) -> String {
    let source = plan.sources[number]
    var text = "\(source.op) \(source.part.spec.version) \(source.config.canonical) \(source.take ?? -1) "
    text += "\(source.condition?.canonical ?? "") \(source.sample?.words ?? "") "
    text += "\(plan.sample?.words ?? "") \(plan.digest(of: source.part.spec, source.config)) "
    text +=
      fingerprints.gathering + Hex.encode(fingerprints.of(Item(source: "", key: "", index: 0, url: nil), input: []))
    return Digest.sha256(of: text).hex
  }

  /// An item of an earlier run that is not asked for again.
  func replay(_ given: Item, from source: Int) {
    var item = given
    feeds[source].items += 1
    item.index = feeds[source].items
    guard let known = try? store.lookup(source: source, key: item.key),
      // The one for which it was dropped may have come anew since this run began: the next one judges that.
      let end = store.reusable(known, fingerprint: known.fingerprint, asDropped: true),
      let made = cachedMade(of: known, item, source)
    else {
      let fault = Fault(
        "state.changed", .local, "what an earlier run had done of \(item.name) was changed while this run began")
      refuse(item, source, [], nil, fault)
      return tell(.consumed(1))
    }
    endCached(item, source, known, end)
    madeTotal += made.count
    for child in made { endCached(child.item, source, child.known, child.end) }
    tell(.consumed(1))
  }

  /// An item has come out of its source and has its place.
  func noteCome(_ prepared: PreparedItem, _ source: Int) {
    // What lies before a place must all be done, not only what a part of the items left there.
    guard options.isWhole, prepared.cursor != nil, keepsTrail(of: source) else { return }
    if feeds[source].trail.came(feeds[source].items, cursor: prepared.cursor) { writeMark(source) }
  }

  /// The journal has an item's end.
  func noteEnd(_ item: EndingItem) {
    guard item.subject.parent == nil else { return }
    let source = feedNumber(item.subject.source)
    let isDone = item.end.status == .ok || item.end.status == .filtered
    if feeds[source].trail.ended(item.subject.index, isDone: isDone) { writeMark(source) }
  }

  private func writeMark(_ source: Int) {
    guard let place = feeds[source].trail.place else { return }
    store.setMark(of: source, fingerprint(of: source), cursor: place.cursor, before: place.before)
  }
}
