import FlowBase
import FlowGraph

/// A machine on a bench: each step is made by hand, and what it said is kept.
final class Bench {
  private(set) var machine: GraphMachine
  private(set) var said: [GraphMachine.Action] = []
  var now = Instant(nanoseconds: 0)

  init(_ stages: [GraphShape.Stage], _ nodes: [GraphShape.Node], pools: [Int] = [], window: Int = 16) {
    machine = GraphMachine(GraphShape(stages: stages, nodes: nodes, pools: pools, window: window))
    machine.begin(at: now, into: &said)
  }

  /// Stages one behind the other with one leg each.
  static func chain(_ stages: GraphShape.Stage..., window: Int = 16, pools: [Int] = []) -> Bench {
    Bench(
      stages, stages.indices.map { GraphShape.Node(stage: $0, inputs: $0 == 0 ? [] : [$0 - 1]) }, pools: pools,
      window: window)
  }

  /// Admits items; gives the slot of the last.
  @discardableResult
  func admit(_ count: Int = 1) -> Int {
    var last = -1
    for _ in 0..<count { last = machine.admit(at: now, into: &said) ?? -1 }
    return last
  }

  /// Takes a parked item back.
  @discardableResult
  func takeBack(_ states: [NodeState]) -> Int { machine.admit(states, wasParked: true, at: now, into: &said) ?? -1 }

  func hasStarted(stage: Int, at instant: Instant) { machine.hasStarted(stage: stage, at: instant) }

  /// Admits an item that a node has made.
  func admitMade(behind node: Int) -> Int? { machine.admitMade(behind: node, at: now, into: &said) }

  func tell(_ event: GraphMachine.Event) { machine.handle(event, at: now, into: &said) }

  /// Asks something of the machine that is no event.
  func steer(_ body: (inout GraphMachine, Instant, inout [GraphMachine.Action]) -> Void) { body(&machine, now, &said) }

  func finish(_ slot: Int, _ node: Int, _ outcome: Outcome = .ok) {
    tell(.finished(Operation(slot: slot, node: node), outcome))
  }

  func state(_ slot: Int, _ node: Int) -> NodeState { machine.state(Operation(slot: slot, node: node)) }

  /// What was said since this was asked last.
  func take() -> [GraphMachine.Action] {
    defer { said = [] }
    return said
  }

  /// The operations that were started since anything was taken, as slot and node.
  func starts() -> [[Int]] {
    take().compactMap { if case .start(let operation) = $0 { [operation.slot, operation.node] } else { nil } }
  }
}
