import FlowBase
import FlowEvents
import FlowParts
import FlowPlan
import FlowStore

/// What is written down of how far a source has come.
extension RunStore {
  /// How far the run that was cut off last had come in a source.
  struct SourceMark: Sendable {
    var run: Int
    var cursor: Value
    /// How many items lie before it.
    var before: Int
  }

  /// The mark of a source, where the last run was cut off and had the same to do.
  func mark(of source: Int, _ fingerprint: String) -> SourceMark? {
    guard !isFresh, let cutOffRun,
      let text = try? read({ (reader) throws(Fault) in try reader.mark(markName(source)) }),
      let map = try? JSONReader.read(Array(text.utf8)).asMap, map["fingerprint"]?.asString == fingerprint,
      map["run"]?.asInt == cutOffRun, let cursor = map["cursor"], let before = map["before"]?.asInt
    else { return nil }
    return SourceMark(run: cutOffRun, cursor: cursor, before: before)
  }

  /// Writes a mark down, behind all that was posted before; one that holds a secret is not.
  func setMark(of source: Int, _ fingerprint: String, cursor: Value, before: Int) {
    var writer = JSONWriter()
    writer.value([
      "run": .int(run), "fingerprint": .string(fingerprint), "cursor": cursor, "before": .int(before),
    ])
    guard hidesNothing(writer.text) else { return }
    batch(.mark(name: markName(source), text: writer.text))
  }

  /// The items that a source gave in an earlier run, with what is known of them.
  func givenItems(
    of source: Int, run: Int, after index: Int, through last: Int, limit: Int
  ) throws(Fault) -> [(item: Item, stored: StoredItem)] {
    let name = plan.sources[source].id
    return try read { (reader) throws(Fault) in
      try reader.items(source: number(ofSource: source), run: run, after: index, through: last, limit: limit)
        .map { (record) throws(Fault) in
          var item = Item(source: name, key: record.key, index: record.index, url: record.url)
          item.fields = ["key": .string(record.key), "index": .int(record.index), "source": .string(name)]
          return (item, try StoredItem(record))
        }
    }
  }

  private func markName(_ source: Int) -> String { "cursor of \(plan.sources[source].id)" }
}
