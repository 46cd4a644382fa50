internal import FlowExpressions
internal import FlowParts

// Where bytes may go from stage to stage without lying in a file.
extension Plan {
  /// Whether what a node makes is worked on as bytes, and by nothing that would rather have a file.
  ///
  /// It decides about speed alone: who asks for the path of bytes in memory gets one.
  public func feedsBytes(_ node: Int) -> Bool {
    !takers(of: node).isEmpty && isUsedAsBytes(node) && !readsPaths
  }

  private func takers(of node: Int) -> [Int] { nodes.indices.filter { nodes[$0].inputs.contains(node) } }

  private func isUsedAsBytes(_ node: Int) -> Bool {
    let isGathered = stages.contains { $0.scope.isBarrier && $0.needs.contains(nodes[node].stage) }
    return !isGathered
      && takers(of: node).allSatisfy { taker in
        let stage = stages[nodes[taker].stage]
        switch stage.part.spec.input {
        case .file: return false
        case .look: return isUsedAsBytes(taker)
        case .bytes:
          let isReplaced = stage.condition == .success && stage.onError != .useInput
          return isReplaced || isUsedAsBytes(taker)
        }
      }
  }

  /// Whether anything in the manifest names the place of an item's bytes.
  private var readsPaths: Bool {
    let conditions = stages.flatMap { stage -> [Reference] in
      if case .expression(let condition) = stage.condition { condition.references } else { [] }
    }
    return (nodes.flatMap(\.config.references) + conditions).contains { reference in
      switch reference.namespace {
      case .item: reference.path.isEmpty || reference.path == ["path"]
      case .from: true
      default: false
      }
    }
  }
}
