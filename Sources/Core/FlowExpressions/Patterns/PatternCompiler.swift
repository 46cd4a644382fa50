/// Turns the tree of a regular expression into steps.
struct PatternCompiler {
  private var steps: [PatternStep] = []
  private var parts = 0

  private static let most = 20_000

  /// The steps, with the last one that says that the pattern fits.
  var finished: [PatternStep] { steps + [.match] }

  mutating func emit(_ tree: PatternTree) throws(PatternProblem) {
    // Counts of nothing take no steps, and time all the same.
    parts += 1
    if steps.count > PatternCompiler.most || parts > PatternCompiler.most * 10 {
      throw PatternProblem(message: "it is too large", hint: "count less in `{m,n}`")
    }
    switch tree {
    case .scalar(let scalar): steps.append(.scalar(scalar))
    case .set(let set): steps.append(.set(set))
    case .start: steps.append(.start)
    case .end: steps.append(.end)
    case .boundary(let wanted): steps.append(.boundary(wanted))
    case .sequence(let parts): for part in parts { try emit(part) }
    case .choice(let ways): try emit(choice: ways)
    case .repeated(let part, let least, let most): try emit(part, least: least, most: most)
    }
  }

  private mutating func emit(choice ways: [PatternTree]) throws(PatternProblem) {
    var exits: [Int] = []
    for way in ways.dropLast() {
      let split = steps.count
      steps.append(.jump(0))
      try emit(way)
      exits.append(steps.count)
      steps.append(.jump(0))
      steps[split] = .split(split + 1, steps.count)
    }
    if let last = ways.last { try emit(last) }
    for exit in exits { steps[exit] = .jump(steps.count) }
  }

  private mutating func emit(_ part: PatternTree, least: Int, most: Int?) throws(PatternProblem) {
    for _ in 0..<least { try emit(part) }
    guard let most else {
      let split = steps.count
      steps.append(.jump(0))
      try emit(part)
      steps.append(.jump(split))
      steps[split] = .split(split + 1, steps.count)
      return
    }
    var exits: [Int] = []
    for _ in least..<most {
      exits.append(steps.count)
      steps.append(.jump(0))
      try emit(part)
    }
    for exit in exits { steps[exit] = .split(exit + 1, steps.count) }
  }
}
