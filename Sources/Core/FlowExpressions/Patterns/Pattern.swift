/// What is wrong with a regular expression.
struct PatternProblem: Error {
  var message: String
  var hint: String?
}

/// A regular expression that is compiled once and takes time in proportion to the text, whatever the pattern is.
///
/// It knows `. [] [^] \d \w \s \D \W \S \b \B ^ $ | () (?:) * + ? {m,n}` and `(?i)` at the beginning. There are no
/// back references and no look-around: those are what makes other matchers take exponential time.
struct Pattern: Sendable, Hashable {
  /// The pattern as it was written.
  let source: String
  private let steps: [PatternStep]
  private let ignoresCase: Bool

  /// The longest text that is searched, in bytes.
  static let longestText = 1 << 20

  init(_ source: String) throws(PatternProblem) {
    self.source = source
    var parser = PatternParser(source)
    let tree = try parser.parse()
    ignoresCase = parser.ignoresCase
    var compiler = PatternCompiler()
    try compiler.emit(tree)
    steps = compiler.finished
  }

  static func == (left: Pattern, right: Pattern) -> Bool { left.source == right.source }
  func hash(into hasher: inout Hasher) { hasher.combine(source) }

  /// Whether the pattern fits anywhere in the text.
  func fits(_ text: String) -> Bool {
    var search = PatternSearch(steps)
    var previous: Unicode.Scalar?
    let scalars = ignoresCase ? text.lowercased().unicodeScalars : text.unicodeScalars
    for scalar in scalars {
      search.begin(previous, scalar)
      if search.hasMatch { return true }
      search.advance(over: scalar)
      previous = scalar
    }
    search.begin(previous, nil)
    return search.hasMatch
  }
}

/// One instruction of a compiled pattern.
enum PatternStep: Sendable {
  case scalar(Unicode.Scalar)
  case set(PatternSet)
  case split(Int, Int)
  case jump(Int)
  case start
  case end
  case boundary(Bool)
  case match
}

/// A set of characters.
struct PatternSet: Sendable, Hashable {
  enum Class: Sendable, Hashable { case digit, word, space }

  var ranges: [ClosedRange<UInt32>] = []
  var classes: [Class] = []
  var withoutClasses: [Class] = []
  var isNegated = false

  /// Everything but the end of a line.
  static let dot = PatternSet(ranges: [10...10, 13...13], isNegated: true)

  func contains(_ scalar: Unicode.Scalar) -> Bool { holds(scalar) != isNegated }

  private func holds(_ scalar: Unicode.Scalar) -> Bool {
    for range in ranges where range.contains(scalar.value) { return true }
    for one in classes where PatternSet.fits(scalar, one) { return true }
    for one in withoutClasses where !PatternSet.fits(scalar, one) { return true }
    return false
  }

  static func fits(_ scalar: Unicode.Scalar, _ one: Class) -> Bool {
    switch one {
    case .digit: scalar.properties.generalCategory == .decimalNumber
    case .space: scalar.properties.isWhitespace
    case .word:
      scalar == "_" || scalar.properties.isAlphabetic || scalar.properties.generalCategory == .decimalNumber
    }
  }
}

/// All ways through a pattern at once, one character after the other.
private struct PatternSearch {
  private let steps: [PatternStep]
  private var active: [Int] = []
  /// The round in which a step was last entered, so that each is entered once a round.
  private var entered: [Int]
  private var round = 0
  private(set) var hasMatch = false
  private var waiting: [Int] = []
  private var stack: [Int] = []

  init(_ steps: [PatternStep]) {
    self.steps = steps
    entered = [Int](repeating: -1, count: steps.count)
  }

  /// Enters the steps that are reached between two characters; a match may begin at each place.
  mutating func begin(_ previous: Unicode.Scalar?, _ next: Unicode.Scalar?) {
    active.removeAll(keepingCapacity: true)
    for step in waiting { enter(step, previous, next) }
    enter(0, previous, next)
    round += 1
  }

  private mutating func enter(_ first: Int, _ previous: Unicode.Scalar?, _ next: Unicode.Scalar?) {
    stack.append(first)
    while let place = stack.popLast() {
      if entered[place] == round { continue }
      entered[place] = round
      switch steps[place] {
      case .scalar, .set: active.append(place)
      case .match: hasMatch = true
      case .jump(let target): stack.append(target)
      case .split(let one, let other):
        stack.append(other)
        stack.append(one)
      case .start: if previous == nil { stack.append(place + 1) }
      case .end: if next == nil { stack.append(place + 1) }
      case .boundary(let wanted):
        let before = previous.map { PatternSet.fits($0, .word) } ?? false
        let after = next.map { PatternSet.fits($0, .word) } ?? false
        if (before != after) == wanted { stack.append(place + 1) }
      }
    }
  }

  /// Leaves the steps that take the character.
  mutating func advance(over scalar: Unicode.Scalar) {
    waiting.removeAll(keepingCapacity: true)
    for place in active {
      switch steps[place] {
      case .scalar(let wanted): if wanted == scalar { waiting.append(place + 1) }
      case .set(let set): if set.contains(scalar) { waiting.append(place + 1) }
      default: break
      }
    }
  }
}
