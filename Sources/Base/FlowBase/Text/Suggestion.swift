/// Finds what was probably meant by a word that nobody knows.
public enum Suggestion {
  /// The nearest of some words, if one is near enough to be a slip of the finger.
  ///
  /// Of equally near words the first wins.
  public static func nearest(to word: String, among words: some Sequence<String>) -> String? {
    let letters = Array(word.lowercased().unicodeScalars)
    guard !letters.isEmpty, letters.count <= 64 else { return nil }
    let reach = letters.count <= 3 ? 1 : letters.count <= 7 ? 2 : 3
    var best: (word: String, distance: Int)?
    for candidate in words where candidate != word {
      let other = Array(candidate.lowercased().unicodeScalars)
      guard abs(other.count - letters.count) <= reach else { continue }
      let distance = distance(letters, other)
      guard distance <= reach, distance < max(letters.count, other.count) else { continue }
      if best.map({ distance < $0.distance }) ?? true { best = (candidate, distance) }
    }
    return best?.word
  }

  /// How many letters must be added, removed, replaced or swapped with their neighbour.
  private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    var before: [Int] = []
    var last = Array(0...right.count)
    for i in left.indices {
      var row = [i + 1]
      for j in right.indices {
        var cost = min(last[j] + (left[i] == right[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] { cost = min(cost, before[j - 1] + 1) }
        row.append(cost)
      }
      before = last
      last = row
    }
    return last[right.count]
  }
}
