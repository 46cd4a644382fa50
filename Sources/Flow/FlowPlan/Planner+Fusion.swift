internal import FlowExpressions
internal import FlowParts

// Which neighbouring stages of one kind run as one pass.
extension Planner {
  /// Marks the stages whose work is left to the stages behind them.
  ///
  /// Nobody may be able to tell: nothing but such stages takes their results, nothing waits for them, nothing between
  /// reads what they set, and no limit is theirs alone.
  static func fuse(_ stages: inout [PlannedStage], _ nodes: [PlannedNode]) {
    // What a stage's result would have set by now, had the work been done; empty where it has been.
    var open = Array(repeating: Set<String>(), count: stages.count)
    for place in stages.indices {
      guard let kind = stages[place].part.spec.fuses, !stages[place].scope.isBarrier, stages[place].isUnbounded,
        stages[place].onError == .fail
      else { continue }
      for need in stages[place].needs where stages[need].isFused { open[place].formUnion(open[need]) }
      for node in nodes where node.stage == place {
        open[place].formUnion(stages[place].part.spec.sets(node.config).map(\.name))
      }
      let takers = stages.indices.filter { stages[$0].needs.contains(place) }
      let isWaitedFor = stages.contains { $0.after.contains(place) }
      stages[place].isFused =
        !isWaitedFor && !takers.isEmpty
        && takers.allSatisfy { taker in
          stages[taker].takesOver(kind)
            && !nodes.contains { $0.stage == taker && !$0.config.isIndependent(of: open[place]) }
        }
    }
  }
}

extension PlannedStage {
  /// Whether no limit is its own, so that its work may be done with another stage's.
  fileprivate var isUnbounded: Bool {
    concurrency == nil && interval == nil && timeout == nil && deadline == nil && pool == nil
  }

  /// Whether it can do the work of a stage of a kind together with its own.
  fileprivate func takesOver(_ kind: String) -> Bool {
    part.spec.fuses == kind && scope == .leg && needs.count == 1 && after.isEmpty && condition == .success
      && onError == .fail
  }
}

extension Config {
  /// Whether none of its templates reads one of these fields of the item.
  fileprivate func isIndependent(of fields: Set<String>) -> Bool {
    references.allSatisfy { reference in
      guard reference.namespace == .item else { return true }
      guard let name = reference.path.first else { return false }
      return !fields.contains(name)
    }
  }
}
