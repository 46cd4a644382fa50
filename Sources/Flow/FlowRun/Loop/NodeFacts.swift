import FlowBase
import FlowExpressions
import FlowParts
import FlowPlan

/// What the loop asks of a node for every item, worked out once: casts and copies of whole plans cost more than it does.
final class NodeFacts: Sendable {
  let stage: Int
  let planned: PlannedStage
  let axes: Fields
  let inputs: [Int]
  let config: Config
  /// What it does with each of its inputs, as far as the results depend on it.
  let keyed: KeyedWork
  let work: any Stage
  let immediate: (any ImmediateStage)?
  /// The stage, where it may begin its work without a task.
  let prompt: (any PromptStage)?
  /// What an item must be for the stage to do anything; nil where there is no such condition.
  let condition: Expression?
  let runsProgram: Bool
  /// Whether it reads what a source says of items beyond what its expressions name.
  let readsRow: Bool
  let keepsStartsApart: Bool
  /// Whether it alone reads what its input has made, so that a file may be moved rather than copied.
  let mayMove: Bool
  /// Whether its result must outlast the process's memory.
  let spills: Bool
  /// Whether what it takes in may stay in memory, since nothing behind it needs a file.
  let keepsInMemory: Bool
  /// Whether it says where its bytes are.
  let setsPath: Bool
  /// The configurations of the nodes of its stage with the same input, its own among them; empty where it is alone.
  let siblings: [Config]

  init(_ plan: Plan, node: Int, work: any Stage, digest: String, mayMove: Bool, spills: Bool, keepsInMemory: Bool) {
    let planned = plan.nodes[node]
    stage = planned.stage
    self.planned = plan.stages[planned.stage]
    (axes, inputs, config) = (planned.axes, planned.inputs, planned.config)
    keyed = KeyedWork(
      op: self.planned.op, version: self.planned.part.spec.version, config: planned.config, plugin: digest)
    self.work = work
    immediate = work.asImmediateStage
    prompt = spills ? nil : work.asPromptStage
    if case .expression(let condition) = self.planned.condition { self.condition = condition } else { condition = nil }
    readsRow = !self.planned.part.spec.readsBeside(planned.config).isEmpty
    runsProgram = self.planned.part.spec.runsProgram
    keepsStartsApart = self.planned.interval != nil
    (self.mayMove, self.spills, self.keepsInMemory) = (mayMove, spills, keepsInMemory)
    setsPath = self.planned.part.spec.sets(planned.config).contains { $0.name == "path" }
    let beside = plan.nodes.filter { $0.stage == planned.stage && $0.inputs == planned.inputs }
    siblings = beside.count > 1 ? beside.map(\.config) : []
  }
}
