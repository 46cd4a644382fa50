public import FlowBase
import FlowEvents
import FlowParts
import FlowPlan
public import FlowStore

/// The items that stand for others, which were dropped in their favour.
///
/// A dropped item has no file of its own: it is done as long as the other one has what both had, and no longer.
public struct StandIns: Sendable {
  /// The journal's numbers of sources, by their names; also of those that no manifest names any more.
  private let sources: [String: Int]
  private let lastWholeRun: Int
  /// Whether it counts whether files are there, and where.
  private let looksForFiles: Bool
  private let tree: OutputTree?

  /// Why there is work for an item whose other one does not stand any more.
  static let lost = "what it was dropped for changed"
  /// How deep archives in archives are followed.
  private static let depth = 8

  /// - Parameter tree: nil where there is no folder for files.
  init(_ plan: Plan, _ reader: JournalReader, tree: OutputTree?) throws(Fault) {
    sources = try StandIns.numbers(of: reader)
    lastWholeRun = try reader.lastCompleteRun() ?? 1
    looksForFiles = plan.state.rerunOn.contains(.outputMissing)
    self.tree = tree
  }

  /// Whether an item still has what another was dropped for, in files that are there.
  func stands(_ other: StandIn, in reader: JournalReader) -> Bool {
    guard let record = try? StandIns.find(other, sources, in: reader) else { return false }
    switch record.status {
    // The run that was cut off goes on, and then it is known.
    case .cancelled, .running: return record.run >= lastWholeRun
    case .failed: return record.run >= lastWholeRun && hasOldFiles(record, in: reader)
    // Dropped by another stage, as the one that equals it would have been.
    case .filtered: return record.run >= lastWholeRun && has(record, other, in: reader)
    case .ok: return has(record, other, in: reader) && haveTheirFiles([record], in: reader) == [true]
    }
  }

  private func has(_ record: ItemRecord, _ other: StandIn, in reader: JournalReader) -> Bool {
    ((try? reader.results(of: record.id)) ?? [])
      .contains { RunStore.fields(of: $0)?[other.field]?.asString == other.value }
  }

  /// Whether an item that has failed has what it had before.
  private func hasOldFiles(_ record: ItemRecord, in reader: JournalReader) -> Bool {
    guard let traces = try? reader.traces(of: [record.id]) else { return false }
    return !traces.isEmpty && traces.allSatisfy(isThere)
  }

  /// Whether all that some items have published is there, each at its item's place.
  ///
  /// What has published nothing by itself stands as long as it is listed.
  func haveTheirFiles(_ records: [ItemRecord], in reader: JournalReader) -> [Bool] {
    haveTheirFiles(records, in: reader, depth: 0)
  }

  private func haveTheirFiles(_ records: [ItemRecord], in reader: JournalReader, depth: Int) -> [Bool] {
    guard looksForFiles else { return records.map { _ in true } }
    guard let traces = try? reader.traces(of: Set(records.map(\.id)).sorted()) else {
      return records.map { _ in false }
    }
    let published = Dictionary(grouping: traces, by: \.owner)
    return records.map { record in
      guard let facts = try? StoredFacts(record.facts) else { return false }
      if facts.outputs.isEmpty, facts.made.isEmpty { return record.run >= lastWholeRun }
      let own = published[record.id] ?? []
      guard facts.outputs.allSatisfy({ fact in own.contains { $0.path == fact.path && isThere($0) } }) else {
        return false
      }
      if facts.made.isEmpty { return true }
      let made = facts.made.compactMap { try? reader.item(source: record.source, key: $0) }
      return made.count == facts.made.count && depth < StandIns.depth
        && !haveTheirFiles(made, in: reader, depth: depth + 1).contains(false)
    }
  }

  /// Whether a file stands where one was published, as long as that was: its bytes are its own item's matter.
  private func isThere(_ trace: OutputTrace) -> Bool {
    guard let tree, let facts = try? tree.facts(trace.path) else { return false }
    return facts.kind == .file && facts.size == trace.bytes
  }

  /// The items in whose favour items of the last whole run, or of a later one, were dropped.
  public static func all(in reader: JournalReader) throws(Fault) -> Set<ItemID> {
    let sources = try numbers(of: reader)
    let since = try reader.lastCompleteRun() ?? 0
    var found: Set<ItemID> = []
    var last = 0
    while true {
      let page = try reader.facts(holding: EndCodec.standIns, since: since, after: last, limit: 256)
      guard let end = page.last else { return found }
      last = end.item
      for entry in page {
        for other in try StoredFacts(entry.facts).standIns {
          if let record = try find(other, sources, in: reader) { try insert(record, into: &found, in: reader) }
        }
      }
    }
  }

  /// An item, and those that its stages have made of it.
  private static func insert(
    _ record: ItemRecord, into found: inout Set<ItemID>, in reader: JournalReader
  ) throws(Fault) {
    guard found.insert(record.id).inserted else { return }
    for key in try StoredFacts(record.facts).made {
      guard let child = try reader.item(source: record.source, key: key) else { continue }
      try insert(child, into: &found, in: reader)
    }
  }

  private static func numbers(of reader: JournalReader) throws(Fault) -> [String: Int] {
    Dictionary(try reader.sourceNames().map { ($0.value, $0.key) }) { first, _ in first }
  }

  private static func find(
    _ other: StandIn, _ sources: [String: Int], in reader: JournalReader
  ) throws(Fault) -> ItemRecord? {
    guard let source = sources[other.source] else { return nil }
    return try reader.item(source: source, key: other.key)
  }
}
