internal import FlowBase

/// Finds what somebody may have meant.
enum Suggestions {
  /// The candidates that a word may have been meant for: the nearest, and those that it is the beginning of.
  static func near(_ word: String, among candidates: some Sequence<String>) -> [String] {
    let candidates = Array(candidates)
    var found = Suggestion.nearest(to: word, among: candidates).map { [$0] } ?? []
    if word.count >= 3 { found += candidates.filter { $0.hasPrefix(word) && !found.contains($0) } }
    return Array(found.prefix(3))
  }

  /// "did you mean …?" with the names in backticks; nil without candidates.
  static func question(_ names: [String]) -> String? {
    names.isEmpty ? nil : "did you mean \(names.map { "`\($0)`" }.joined(separator: " or "))?"
  }
}
