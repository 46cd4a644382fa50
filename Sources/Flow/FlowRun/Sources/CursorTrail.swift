import FlowBase

/// From where a source would have to be asked again, were the run cut off now: a pure value.
///
/// Items come with the cursor that brings them. The oldest cursor with an item that has not ended well is kept; what
/// lies before it is done.
struct CursorTrail: Sendable {
  /// The items of one cursor that have come so far.
  private struct Step {
    var cursor: Value?
    /// The place of the first.
    var first: Int
    var unfinished = 0
  }

  private var steps: [Step] = []
  /// The places of the first of `steps` that are still of interest.
  private var head = 0
  /// Whether an item of the last step that counts will never be done in this run, so that no later one matters.
  private var isStuck = false

  /// Where the source is asked again, and how many items lie before; nil at its beginning.
  var place: (cursor: Value, before: Int)? {
    guard head < steps.count, let cursor = steps[head].cursor, !cursor.isNull else { return nil }
    return (cursor, steps[head].first - 1)
  }

  /// An item has come; says whether `place` is another now.
  mutating func came(_ index: Int, cursor: Value?) -> Bool {
    if isStuck { return false }
    if head < steps.count, let last = steps.last, last.cursor == cursor {
      steps[steps.count - 1].unfinished += 1
      return false
    }
    steps.append(Step(cursor: cursor, first: index, unfinished: 1))
    return advance() || head == steps.count - 1
  }

  /// An item has ended; says whether `place` is another now.
  mutating func ended(_ index: Int, isDone: Bool) -> Bool {
    guard let number = step(of: index) else { return false }
    guard isDone else {
      steps.removeLast(steps.count - 1 - number)
      isStuck = true
      return false
    }
    steps[number].unfinished -= 1
    return advance()
  }

  /// Leaves behind what is done, but for the last step: more of it may come.
  private mutating func advance() -> Bool {
    let before = head
    while head < steps.count - 1, steps[head].unfinished == 0 { head += 1 }
    let hasMoved = head > before
    if head > 256 {
      steps.removeFirst(head)
      head = 0
    }
    return hasMoved
  }

  private func step(of index: Int) -> Int? {
    var (low, high) = (head, steps.count)
    while low < high {
      let middle = (low + high) / 2
      if steps[middle].first <= index { low = middle + 1 } else { high = middle }
    }
    return low > head ? low - 1 : nil
  }
}
