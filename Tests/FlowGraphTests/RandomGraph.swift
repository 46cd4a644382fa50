import FlowGraph

extension GraphShape {
  /// A graph of up to seven stages with legs, joins, gates, barriers and limits, drawn at random.
  static func random(_ seed: Int) -> GraphShape {
    var dice = Dice(seed: seed)
    let pools = [Int.random(in: 1...3, using: &dice)]
    var stages: [Stage] = []
    var nodes: [Node] = []
    var nodesOf: [[Int]] = []
    for number in 0..<Int.random(in: 0...7, using: &dice) {
      let before = Array(0..<number).filter { _ in dice.once(in: 2) }
      let isBarrier = number > 1 && dice.once(in: 4)
      let needs = isBarrier ? before : before.filter { !stages[$0].isBarrier }
      var stage = Stage(isBarrier: isBarrier, needs: needs)
      stage.gates = (0..<number).filter { _ in dice.once(in: 5) }
      stage.runsAlways = dice.once(in: 6)
      if dice.once(in: 3) { stage.concurrency = Int.random(in: 1...3, using: &dice) }
      if dice.once(in: 5) { stage.interval = Int.random(in: 1...500, using: &dice) }
      if dice.once(in: 4) { stage.pool = 0 }
      var mine: [Int] = []
      // Barriers have a node in the plan, which no item passes.
      let legs = isBarrier || dice.once(in: 2) ? 1 : Int.random(in: 0...3, using: &dice)
      if legs == 1, needs.count > 1 || dice.once(in: 3) {
        stage.joins = !isBarrier
        mine.append(nodes.count)
        nodes.append(Node(stage: number, inputs: needs.flatMap { nodesOf[$0] }))
      } else {
        let inputs = needs.first.map { nodesOf[$0] } ?? []
        for _ in 0..<legs {
          let choices: [[Int]] = inputs.isEmpty ? [[]] : inputs.map { [$0] }
          for choice in choices {
            mine.append(nodes.count)
            nodes.append(Node(stage: number, inputs: choice))
          }
        }
      }
      stages.append(stage)
      nodesOf.append(mine)
    }
    return GraphShape(
      stages: stages, nodes: nodes, pools: pools, window: [1, 2, 3, 5, 16].randomElement(using: &dice) ?? 4)
  }
}
