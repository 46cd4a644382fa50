import FlowParts
import FlowPlan

extension Plan {
  /// Whether a stage that gathers reads the bytes of a node's results.
  func isGathered(_ node: Int) -> Bool {
    stages.contains {
      $0.scope.isBarrier && $0.part.spec.gathersBytes && $0.needs.contains(nodes[node].stage)
    }
  }
}
