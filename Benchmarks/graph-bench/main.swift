import FlowBase
import FlowGraph

// How many operations the machine decides in a second on one core: `swift run -c release graph-bench [OPERATIONS]`.

let wanted = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000_000
measure("chain of 4, 1 leg", .chain(stages: 4, legs: 1, concurrency: .max), operations: wanted)
measure("chain of 4, 12 legs", .chain(stages: 4, legs: 12, concurrency: .max), operations: wanted)
measure("chain of 4, 1 leg, 32 at once", .chain(stages: 4, legs: 1, concurrency: 32), operations: wanted)
measure("chain of 4, 12 legs, 32 at once", .chain(stages: 4, legs: 12, concurrency: 32), operations: wanted)

/// Runs as many items as make the operations, and prints a line.
func measure(_ name: String, _ shape: GraphShape, operations: Int) {
  let items = max(1, operations / shape.nodes.count)
  let clock = SystemTime()
  let start = clock.now()
  let done = drive(shape, items: items)
  let seconds = (clock.now() - start).seconds
  let rate = Int(Double(done) / seconds)
  let nanoseconds = Int(seconds * 1e9 / Double(max(1, done)))
  print("\(name): \(done) operations of \(items) items, \(rate) operations/s, \(nanoseconds) ns an operation")
}

/// Lets every operation end in the order of its start; gives their number.
func drive(_ shape: GraphShape, items: Int) -> Int {
  var machine = GraphMachine(shape)
  var actions: [GraphMachine.Action] = []
  var running: [Operation] = []
  var isFinished = false
  var owed = 0
  var left = items
  var done = 0
  var next = 0
  var now = Instant(nanoseconds: 0)

  func perform() {
    for action in actions {
      switch action {
      case .start(let operation): running.append(operation)
      case .demand(let count): owed += count
      case .finished: isFinished = true
      default: break
      }
    }
    actions.removeAll(keepingCapacity: true)
  }

  machine.begin(at: now, into: &actions)
  perform()
  while !isFinished {
    while owed > 0, left > 0 {
      owed -= 1
      left -= 1
      _ = machine.admit(at: now, into: &actions)
      if left == 0 { machine.handle(.sourcesEnded, at: now, into: &actions) }
      perform()
    }
    guard next < running.count else { break }
    now.nanoseconds += 1_000
    machine.handle(.finished(running[next], .ok), at: now, into: &actions)
    next += 1
    done += 1
    if next == 65_536 {
      running.removeFirst(next)
      next = 0
    }
    perform()
  }
  return done
}

extension GraphShape {
  /// Stages one behind the other; the first has one leg, the others so many.
  static func chain(stages: Int, legs: Int, concurrency: Int) -> GraphShape {
    var nodes = [Node(stage: 0)]
    for stage in 1..<stages {
      for _ in 0..<legs {
        nodes.append(Node(stage: stage, inputs: [stage == 1 ? 0 : nodes.count - legs]))
      }
    }
    return GraphShape(
      stages: (0..<stages).map { Stage(needs: $0 == 0 ? [] : [$0 - 1], concurrency: concurrency) }, nodes: nodes)
  }
}
