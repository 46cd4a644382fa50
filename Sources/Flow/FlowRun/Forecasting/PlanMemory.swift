import FlowBase
import FlowParts
import FlowPlan

/// What a run writes down of its plan, so that a later one can say what has changed.
enum PlanMemory {
  /// The configuration of each stage and leg, as the journal keeps it with the run.
  static func facts(_ plan: Plan) -> Value {
    var stages: Fields = [:]
    for (place, stage) in plan.stages.enumerated() where !stage.scope.isBarrier {
      let configs = plan.nodes.filter { $0.stage == place }.map { Value.string($0.config.canonical) }
      stages[stage.id] = .map([
        "op": .string(stage.op), "version": .int(stage.part.spec.version), "configs": .list(configs),
      ])
    }
    return .map(stages)
  }

  /// What differs between the plan of an earlier run and this one, in words; nil where nothing is known to differ.
  static func changes(from facts: Fields, to plan: Plan) -> String? {
    guard let before = facts["plan"]?.asMap, let now = PlanMemory.facts(plan).asMap else { return nil }
    for stage in plan.stages where !stage.scope.isBarrier {
      let place = stage.place.map { "  (\($0.file):\($0.mark.line))" } ?? ""
      guard let old = before[stage.id]?.asMap else { return "stage `\(stage.id)` is new\(place)" }
      guard let new = now[stage.id]?.asMap, old != new else { continue }
      if old["op"] != new["op"] {
        return "config changed: `\(stage.id)` was \(old["op"]?.text ?? "?"), is \(stage.op)\(place)"
      }
      if old["version"] != new["version"] { return "`\(stage.op)` works differently in this version" }
      return "config changed: \(difference(old["configs"], new["configs"]) ?? "legs of `\(stage.id)`")\(place)"
    }
    for id in before.names where !plan.stages.contains(where: { $0.id == id }) { return "stage `\(id)` is gone" }
    return "edges or conditions changed"
  }

  /// The first key whose value differs: `width 256 -> 300`.
  private static func difference(_ old: Value?, _ new: Value?) -> String? {
    guard let olds = old?.asList, let news = new?.asList, olds.count == news.count else { return nil }
    for (left, right) in zip(olds, news) where left != right {
      guard let left = object(left), let right = object(right) else { continue }
      for name in left.names + right.names where left[name] != right[name] {
        return "\(name) \(left[name]?.text ?? "(none)") -> \(right[name]?.text ?? "(none)")"
      }
    }
    return nil
  }

  private static func object(_ json: Value) -> Fields? {
    (try? JSONReader.read(Array(json.text.utf8)))?.asMap
  }
}
