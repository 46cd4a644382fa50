/// Finds what somebody may have meant.
enum Suggestions {
  /// The candidates that are close to a word, the closest first, at most three.
  static func near(_ word: String, among candidates: some Sequence<String>) -> [String] {
    let limit = max(1, word.count / 3)
    var found: [(distance: Int, name: String)] = []
    for candidate in candidates {
      let distance = distance(word.lowercased(), candidate.lowercased())
      if distance <= limit || (word.count >= 3 && candidate.hasPrefix(word)) { found.append((distance, candidate)) }
    }
    found.sort { ($0.distance, $0.name) < ($1.distance, $1.name) }
    return found.prefix(3).map(\.name)
  }

  /// How many insertions, deletions, changes and swaps of neighbours lead from one word to the other.
  static func distance(_ left: String, _ right: String) -> Int {
    let left = Array(left)
    let right = Array(right)
    if left.isEmpty || right.isEmpty { return max(left.count, right.count) }
    var beforePrevious = [Int](repeating: 0, count: right.count + 1)
    var previous = Array(0...right.count)
    for row in 1...left.count {
      var current = [row] + [Int](repeating: 0, count: right.count)
      for column in 1...right.count {
        let change = left[row - 1] == right[column - 1] ? 0 : 1
        current[column] = min(previous[column] + 1, current[column - 1] + 1, previous[column - 1] + change)
        if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
          current[column] = min(current[column], beforePrevious[column - 2] + 1)
        }
      }
      beforePrevious = previous
      previous = current
    }
    return previous[right.count]
  }

  /// "did you mean …?" with the names in backticks; nil without candidates.
  static func question(_ names: [String]) -> String? {
    names.isEmpty ? nil : "did you mean \(names.map { "`\($0)`" }.joined(separator: " or "))?"
  }
}
