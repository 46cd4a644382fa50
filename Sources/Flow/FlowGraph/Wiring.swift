/// The graph in flat lists of numbers, which cost a step of the machine neither copies nor counting of references.
struct Wiring: Sendable {
  /// What bounds the starts of a stage.
  struct Limits: Sendable {
    var concurrency: Int
    var interval: Int
    /// The pool's number; negative where the stage takes no token.
    var pool: Int
  }

  /// What decides whether a node runs.
  struct Rule: Sendable {
    var stage: Int
    var joins: Bool
    var runsAlways: Bool
  }

  let limits: [Limits]
  let rules: [Rule]
  /// How many nodes of a stage each item passes.
  let width: [Int]
  /// The nodes that items pass and that none other takes the result of.
  let leaves: [Int]
  /// The nodes that items pass and that come first.
  let roots: [Int]
  /// How many nodes an item passes.
  let passed: Int
  /// What a row of states looks like before anything has happened.
  let firstStates: [NodeState]
  /// How many inputs of each node have not ended, before anything has happened.
  let firstPending: [Int32]
  /// The stages that wait for the end of a stage.
  let gatedBy: [[Int]]
  /// For how many stages a stage waits.
  let gateCount: [Int]
  /// The item nodes of each stage.
  let nodesOfStage: [[Int]]

  private let inputStart: [Int]
  private let inputList: [Int]
  private let dependentStart: [Int]
  private let dependentList: [Int]

  init(stages: [GraphShape.Stage], nodes: [GraphShape.Node], pools: Int) {
    limits = stages.map { stage in
      let pool = stage.pool.flatMap { $0 >= 0 && $0 < pools ? $0 : nil }
      return Limits(concurrency: stage.concurrency, interval: stage.interval, pool: pool ?? -1)
    }
    rules = nodes.map {
      Rule(stage: $0.stage, joins: stages[$0.stage].joins, runsAlways: stages[$0.stage].runsAlways)
    }
    let isPassed = nodes.map { !stages[$0.stage].isBarrier }
    passed = isPassed.count(where: \.self)
    firstStates = isPassed.map { $0 ? .waiting : .skipped }
    var dependents = [[Int]](repeating: [], count: nodes.count)
    var ofStage = [[Int]](repeating: [], count: stages.count)
    for (number, node) in nodes.enumerated() where isPassed[number] {
      ofStage[node.stage].append(number)
      for input in node.inputs { dependents[input].append(number) }
    }
    nodesOfStage = ofStage
    width = ofStage.map(\.count)
    firstPending = nodes.map { node in Int32(node.inputs.count { isPassed[$0] }) }
    let pending = firstPending
    leaves = nodes.indices.filter { isPassed[$0] && dependents[$0].isEmpty }
    roots = nodes.indices.filter { isPassed[$0] && pending[$0] == 0 }
    (inputStart, inputList) = Wiring.flat(nodes.map(\.inputs))
    (dependentStart, dependentList) = Wiring.flat(dependents)
    var waiting = [[Int]](repeating: [], count: stages.count)
    for (number, stage) in stages.enumerated() {
      for gate in Set(stage.gates) { waiting[gate].append(number) }
    }
    gatedBy = waiting
    gateCount = stages.map { Set($0.gates).count }
  }

  /// Where a node's inputs lie in the list of all.
  func inputs(of node: Int) -> Range<Int> { inputStart[node]..<inputStart[node + 1] }
  /// The input at a place of the list of all.
  func input(at place: Int) -> Int { inputList[place] }
  /// Where the nodes that take a node's result lie in the list of all.
  func dependents(of node: Int) -> Range<Int> { dependentStart[node]..<dependentStart[node + 1] }
  /// The dependent node at a place of the list of all.
  func dependent(at place: Int) -> Int { dependentList[place] }

  /// The nodes that come behind a node, directly or not.
  func behind(_ node: Int) -> [Int] {
    var found = [Bool](repeating: false, count: rules.count)
    var list: [Int] = []
    var next = [node]
    while let current = next.popLast() {
      for place in dependents(of: current) where !found[dependent(at: place)] {
        found[dependent(at: place)] = true
        list.append(dependent(at: place))
        next.append(dependent(at: place))
      }
    }
    return list
  }

  /// The nodes that come before a node, directly or not.
  func before(_ node: Int) -> Set<Int> {
    var found: Set<Int> = []
    var next = [node]
    while let current = next.popLast() {
      for place in inputs(of: current) where found.insert(input(at: place)).inserted { next.append(input(at: place)) }
    }
    return found
  }

  private static func flat(_ lists: [[Int]]) -> (start: [Int], list: [Int]) {
    var start = [0]
    var list: [Int] = []
    for part in lists {
      list.append(contentsOf: part)
      start.append(list.count)
    }
    return (start, list)
  }
}
