import FlowBase
import FlowExpressions
import FlowParts
import FlowPlan
import FlowStore

/// Finds the files that a run would write anew, as far as their names can be known beforehand.
struct Overwrites {
  /// The nodes that write a path over what is there.
  private let writers: [Int]
  private let plan: Plan
  private let tree: OutputTree?
  private let reader: JournalReader?

  init(_ plan: Plan, tree: OutputTree?, reader: JournalReader?) {
    self.plan = plan
    self.tree = tree
    self.reader = reader
    writers = plan.nodes.indices.filter { number in
      let stage = plan.stages[plan.nodes[number].stage]
      let policy = plan.nodes[number].config.text("on_exists").flatMap(OnExists.init(rawValue:))
      return !stage.scope.isBarrier && stage.part.spec.fields.contains { $0.name == "path" && $0.type == .path }
        && [.keep, .overwrite].contains(policy ?? plan.settings.onExists)
    }
  }

  /// Adds what an item would write over.
  func look(at item: Item, _ outlook: inout Forecast.OverwriteOutlook) {
    guard let tree else { return }
    for number in writers {
      let node = plan.nodes[number]
      let leg = Leg(item: item, axes: node.axes)
      guard let value = node.config["path"], value.references.allSatisfy({ Overwrites.isKnown($0, item) }),
        let path = (try? node.config.resolved(in: leg))?.text("path"), let relative = try? RelativePath(parsing: path),
        // Without an extension, the bytes decide on one.
        !relative.ext.isEmpty, let facts = try? tree.facts(relative.text), facts.kind == .file
      else { continue }
      if let reader, (try? reader.output(at: relative.text)) != nil {
        outlook.ours += 1
      } else {
        outlook.foreign += 1
        if outlook.some.count < 10 { outlook.some.append(relative.text) }
      }
    }
  }

  private static func isKnown(_ reference: Reference, _ item: Item) -> Bool {
    switch reference.namespace {
    case .item: reference.path.first.map { item.fields[$0] != nil } ?? false
    case .from, .out, .run, .group: false
    default: true
    }
  }
}
