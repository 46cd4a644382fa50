import FlowGraph
import Testing

/// What becomes of one item on every kind of edge.
struct EdgeTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var stages: [GraphShape.Stage]
    var nodes: [GraphShape.Node]
    /// What operations do that do not go well.
    var outcomes: [Int: Outcome] = [:]
    var starts: [Int]
    var status: GraphMachine.ItemStatus
  }

  static let chain = [
    GraphShape.Node(stage: 0), GraphShape.Node(stage: 1, inputs: [0]), GraphShape.Node(stage: 2, inputs: [1]),
  ]
  /// One node, three legs, and a stage behind each leg.
  static let fan = [
    GraphShape.Node(stage: 0), GraphShape.Node(stage: 1, inputs: [0]), GraphShape.Node(stage: 1, inputs: [0]),
    GraphShape.Node(stage: 1, inputs: [0]), GraphShape.Node(stage: 2, inputs: [1]),
    GraphShape.Node(stage: 2, inputs: [2]), GraphShape.Node(stage: 2, inputs: [3]),
  ]
  /// One node, two legs, and a stage that takes both.
  static let join = [
    GraphShape.Node(stage: 0), GraphShape.Node(stage: 1, inputs: [0]), GraphShape.Node(stage: 1, inputs: [0]),
    GraphShape.Node(stage: 2, inputs: [1, 2]),
  ]
  static let three = [GraphShape.Stage(), GraphShape.Stage(), GraphShape.Stage()]
  static let joining = [GraphShape.Stage(), GraphShape.Stage(), GraphShape.Stage(joins: true)]
  static let always = [GraphShape.Stage(), GraphShape.Stage(), GraphShape.Stage(joins: true, runsAlways: true)]

  static let cases = [
    Case(testDescription: "no node at all", stages: [], nodes: [], starts: [], status: .ok),
    Case(testDescription: "a stage without legs", stages: [.init()], nodes: [], starts: [], status: .ok),
    Case(testDescription: "a chain", stages: three, nodes: chain, starts: [0, 1, 2], status: .ok),
    Case(
      testDescription: "a chain whose middle fails", stages: three, nodes: chain, outcomes: [1: .failed],
      starts: [0, 1], status: .failed),
    Case(
      testDescription: "a chain whose middle filters", stages: three, nodes: chain, outcomes: [1: .filtered],
      starts: [0, 1], status: .filtered),
    Case(
      testDescription: "a chain whose middle is cancelled", stages: three, nodes: chain, outcomes: [1: .cancelled],
      starts: [0, 1], status: .cancelled),
    Case(testDescription: "legs", stages: three, nodes: fan, starts: [0, 1, 2, 3, 4, 5, 6], status: .ok),
    Case(
      testDescription: "legs of which one fails", stages: three, nodes: fan, outcomes: [2: .failed],
      starts: [0, 1, 2, 3, 4, 6], status: .failed),
    Case(
      testDescription: "legs of which one is filtered", stages: three, nodes: fan, outcomes: [2: .filtered],
      starts: [0, 1, 2, 3, 4, 6], status: .ok),
    Case(
      testDescription: "legs that are all filtered", stages: three, nodes: fan,
      outcomes: [1: .filtered, 2: .filtered, 3: .filtered], starts: [0, 1, 2, 3], status: .filtered),
    Case(testDescription: "a join", stages: joining, nodes: join, starts: [0, 1, 2, 3], status: .ok),
    Case(
      testDescription: "a join of which one leg was filtered", stages: joining, nodes: join,
      outcomes: [1: .filtered], starts: [0, 1, 2, 3], status: .ok),
    Case(
      testDescription: "a join of which all legs were filtered", stages: joining, nodes: join,
      outcomes: [1: .filtered, 2: .filtered], starts: [0, 1, 2], status: .filtered),
    Case(
      testDescription: "a join of which one leg failed", stages: joining, nodes: join,
      outcomes: [1: .failed], starts: [0, 1, 2], status: .failed),
    Case(
      testDescription: "several needs of which one was filtered", stages: three, nodes: join,
      outcomes: [1: .filtered], starts: [0, 1, 2], status: .filtered),
    Case(
      testDescription: "a stage that runs always behind a failure", stages: always, nodes: join,
      outcomes: [1: .failed], starts: [0, 1, 2, 3], status: .failed),
    Case(
      testDescription: "a stage that runs always behind what was skipped", stages: always, nodes: join,
      outcomes: [0: .failed], starts: [0, 3], status: .failed),
    Case(
      testDescription: "the node of a barrier, which no item passes",
      stages: [.init(), .init(isBarrier: true, needs: [0])],
      nodes: [GraphShape.Node(stage: 0), GraphShape.Node(stage: 1, inputs: [0])], starts: [0], status: .ok),
  ]

  @Test(arguments: cases)
  func `An item takes its way and ends as it must`(_ one: Case) {
    let bench = Bench(one.stages, one.nodes)
    bench.admit()
    var started: [Int] = []
    var ends: [GraphMachine.ItemStatus] = []
    var waiting: [Int] = []
    repeat {
      for action in bench.take() {
        if case .start(let operation) = action { waiting.append(operation.node) }
        if case .endItem(_, let status) = action { ends.append(status) }
      }
      guard !waiting.isEmpty else { break }
      let node = waiting.removeFirst()
      started.append(node)
      bench.finish(0, node, one.outcomes[node] ?? .ok)
    } while true
    #expect(started.sorted() == one.starts)
    #expect(ends == [one.status])
  }

  @Test func `A stage with ten thousand legs before it is looked at once`() {
    let count = 10_000
    let legs = (0..<count).map { _ in GraphShape.Node(stage: 0) }
    let bench = Bench(
      [.init(), .init(joins: true)], legs + [GraphShape.Node(stage: 1, inputs: Array(0..<count))], window: 1)
    bench.admit()
    for leg in 0..<count { bench.finish(0, leg) }
    #expect(bench.state(0, count) == .running)
  }

  @Test func `A chain of ten thousand stages is skipped without deep calls`() {
    let count = 10_000
    let nodes = (0..<count).map { GraphShape.Node(stage: $0, inputs: $0 == 0 ? [] : [$0 - 1]) }
    let bench = Bench(Array(repeating: .init(), count: count), nodes, window: 1)
    bench.admit()
    bench.finish(0, 0, .failed)
    #expect(bench.take().contains(.endItem(slot: 0, .failed)))
  }

  @Test func `States that are known already are not worked on again`() {
    let bench = Bench(EdgeTests.joining, EdgeTests.join)
    var actions: [GraphMachine.Action] = []
    var machine = bench.machine
    let slot = machine.admit([.ok, .ok, .running], wasParked: false, at: bench.now, into: &actions)
    #expect(actions.contains(.start(Operation(slot: slot ?? -1, node: 2))))
    #expect(machine.runningCount == 1)
    _ = machine.admit([.ok, .ok, .ok, .ok], wasParked: false, at: bench.now, into: &actions)
    #expect(actions.contains { if case .endItem(_, .ok) = $0 { true } else { false } })
  }
}
