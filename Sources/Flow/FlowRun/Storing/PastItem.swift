import FlowBase
import FlowEvents
import FlowParts
import FlowStore

/// What earlier runs have left of an item, as it was when its source was read.
struct PastItem: Sendable {
  /// The digest of what the source says of it.
  var input: [UInt8]
  /// The digest of all that its result depends on.
  var fingerprint: [UInt8]
  /// What the journal knows of it.
  var known: StoredItem?
  /// Its end, where it needs no work.
  var end: Payload.ItemEnd?
  /// Stamps of outputs whose bytes are the same though the file was touched, by path.
  var touched: [String: FileStamp] = [:]
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

  /// The same items with what is known of them; those of which that fails are left for the loop, which says so.
  ///
  /// `place` is the place in the source at which an earlier run probably saw the first of them; it becomes that of
  /// the item behind the last.
  func look(at items: [PreparedItem], source: Int, place: inout Int) async -> [PreparedItem] {
    let count = max(1, min(readers.count, items.count / PastReaders.smallest))
    let size = (items.count + count - 1) / count
    let first = place
    let parts = await withTaskGroup(of: (Int, [PreparedItem]).self) { group in
      for number in 0..<count {
        let part = items[min(number * size, items.count)..<min((number + 1) * size, items.count)]
        group.addTask { [self] in (number, look(at: part, source, first + number * size, reader: number)) }
      }
      return await group.reduce(into: [[PreparedItem]](repeating: [], count: count)) { $0[$1.0] = $1.1 }
    }
    let found = parts.flatMap { $0 }
    place += found.count
    if let last = found.lastIndex(where: { $0.past?.known != nil }), let known = found[last].past?.known {
      place = known.index + found.count - last
    }
    return found
  }

  private func look(
    at part: ArraySlice<PreparedItem>, _ source: Int, _ place: Int, reader: Int
  ) -> [PreparedItem] {
    var items = Array(part)
    try? readers[reader].withLock { (reader) throws(Fault) in
      try reader.snapshot { () throws(Fault) in
        let known = try store.lookup(source: source, keys: items.map(\.item.key), from: place, in: reader)
        for place in items.indices where items[place].fault == nil {
          items[place].past = past(of: items[place].item, known[place], in: reader)
        }
      }
    }
    return items
  }

  private func past(of item: Item, _ known: StoredItem?, in reader: JournalReader) -> PastItem {
    let input = fingerprints.input(of: item)
    var past = PastItem(input: input, fingerprint: fingerprints.of(item, input: input), known: known)
    if let known {
      past.end = store.reusable(known, fingerprint: past.fingerprint, in: reader, &past.touched)
    }
    return past
  }
}
