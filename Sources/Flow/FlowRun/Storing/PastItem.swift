import FlowBase
import FlowEvents
import FlowParts
import FlowStore

/// What earlier runs have left of an item, as it was when its source was read.
final class PastItem: Sendable {
  /// The digest of what the source says of it.
  let input: [UInt8]
  /// The digest of all that its result depends on.
  let fingerprint: [UInt8]
  /// What the journal knows of it.
  let known: StoredItem?
  /// Its end, where it needs no work.
  let end: Payload.ItemEnd?
  /// Stamps of outputs whose bytes are the same though the file was touched, by path.
  let touched: [String: FileStamp]

  init(
    input: [UInt8], fingerprint: [UInt8], known: StoredItem?, end: Payload.ItemEnd?, touched: [String: FileStamp] = [:]
  ) {
    self.input = input
    self.fingerprint = fingerprint
    self.known = known
    self.end = end
    self.touched = touched
  }
}

/// Looks up what earlier runs have left, many items at a time, on threads of the sources.
///
/// For a run that finds most of its items done this is nearly all of the work, and the loop has none of it.
final class PastReaders: Sendable {
  private let store: RunStore
  private let fingerprints: Fingerprints
  /// Each is one thread's at a time; all sources share them, since each holds files open.
  private let readers: [Guarded<JournalReader>]

  /// Fewer items are not worth a thread of their own.
  private static let smallest = 32

  init(_ store: RunStore, _ fingerprints: Fingerprints, threads: Int) throws(Fault) {
    self.store = store
    self.fingerprints = fingerprints
    var readers: [Guarded<JournalReader>] = []
    for _ in 0..<max(1, threads) { readers.append(Guarded(try store.makeReader())) }
    self.readers = readers
  }

  /// Notes at each item what is known of it; those of which that fails are left for the loop, which says so.
  ///
  /// `place` is the place in the source at which an earlier run probably saw the first of them; it becomes that of
  /// the item behind the last.
  func look(at items: [PreparedItem], source: Int, place: inout PastPlace) async {
    let count = max(1, min(readers.count, items.count / PastReaders.smallest))
    let size = (items.count + count - 1) / count
    let first = place
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<count {
        let part = items[min(number * size, items.count)..<min((number + 1) * size, items.count)]
        group.addTask { [self] in look(at: part, source, first.advanced(by: number * size), reader: number) }
      }
    }
    place = place.advanced(by: items.count)
    if let last = items.lastIndex(where: { $0.past?.known != nil }), let known = items[last].past?.known {
      place = PastPlace(index: known.index, id: known.id).advanced(by: items.count - last)
    }
  }

  private func look(at items: ArraySlice<PreparedItem>, _ source: Int, _ place: PastPlace, reader: Int) {
    try? readers[reader].withLock { (reader) throws(Fault) in
      try reader.snapshot { () throws(Fault) in
        let known = try store.lookup(source: source, keys: items.map { $0.item.key }, from: place, in: reader)
        let traces = try reader.traces(of: known.compactMap { $0?.facts.outputs.isEmpty == false ? $0?.id : nil })
        var cursor = traces.startIndex
        var looks: [Look] = []
        looks.reserveCapacity(items.count)
        for (item, known) in zip(items, known) where item.fault == nil {
          var own = traces[cursor..<cursor]
          if let known, !known.facts.outputs.isEmpty {
            own = PastReaders.take(known.id, from: traces, at: &cursor)
          }
          looks.append(look(at: item, known, own, in: reader))
        }
        // Their bytes are read together: side by side they have their digests sooner.
        let altered = store.altered(looks.compactMap { $0.isInPlace == true ? $0.known : nil })
        for look in looks { look.item.past = past(of: look, altered, in: reader) }
      }
    }
  }

  /// The outputs of an item among those of many, which stand in the order of the items.
  private static func take(
    _ item: ItemID, from traces: [OutputTrace], at cursor: inout Int
  ) -> ArraySlice<OutputTrace> {
    var start = cursor
    while start < traces.count, traces[start].owner < item { start += 1 }
    var end = start
    while end < traces.count, traces[end].owner == item { end += 1 }
    // Items that do not come in the order of their numbers have been read one by one, in their own order.
    if start == end, let other = traces.firstIndex(where: { $0.owner == item }) {
      start = other
      end = other
      while end < traces.count, traces[end].owner == item { end += 1 }
      return traces[start..<end]
    }
    cursor = end
    return traces[start..<end]
  }

  /// What was seen of an item before the bytes of its files.
  private struct Look {
    let item: PreparedItem
    let known: StoredItem?
    let input: [UInt8]
    let fingerprint: [UInt8]
    /// Whether what is known still holds; nil where more has to be looked up to know.
    var isInPlace: Bool?
  }

  private func look(
    at item: PreparedItem, _ known: StoredItem?, _ traces: ArraySlice<OutputTrace>, in reader: JournalReader
  ) -> Look {
    let input = fingerprints.input(of: item.item)
    // Where numbers count, that of before is taken for today's until all that come before have come.
    let fingerprint = fingerprints.of(input, index: known?.index ?? 0)
    return Look(
      item: item, known: known, input: input, fingerprint: fingerprint,
      isInPlace: known.map { store.areInPlace($0, fingerprint: fingerprint, traces, in: reader) } ?? false)
  }

  private func past(of look: Look, _ altered: Set<Int>, in reader: JournalReader) -> PastItem {
    guard let known = look.known else {
      return PastItem(input: look.input, fingerprint: look.fingerprint, known: nil, end: nil)
    }
    if let isInPlace = look.isInPlace, !altered.contains(known.id) {
      let end = isInPlace ? known.facts.cachedEnd(known.status) : nil
      return PastItem(input: look.input, fingerprint: look.fingerprint, known: known, end: end)
    }
    var touched: [String: FileStamp] = [:]
    let end = store.reusable(known, fingerprint: look.fingerprint, in: reader, &touched)
    return PastItem(input: look.input, fingerprint: look.fingerprint, known: known, end: end, touched: touched)
  }
}
