/// When what stands in the journal's write-ahead log is brought into its file.
///
/// SQLite begins the log anew at the first commit that finds all of it in the file, and nobody reading in it. A run
/// whose look-ups hardly pause would never leave that moment, and the log would grow as long as the journal; so one
/// that has not begun anew after it was copied is waited for, for a moment, until its readers have moved on.
struct CheckpointRule {
  enum Step {
    /// Nothing is due.
    case none
    /// Copy what no reader holds back.
    case copy
    /// Copy all, and wait until nobody reads in the log, so that the next commit begins it anew.
    case restart
  }

  /// From how many pages on the log is copied.
  let limit: Int
  /// How long the log has to be for the next try; nil before the first one since it began.
  private var next: Int?
  /// How long it was after the commit before.
  private var last = 0

  init(limit: Int = 2000) { self.limit = limit }

  /// What is to be done after a commit that left so many pages in the log; 0 is one that wrote nothing.
  mutating func step(pages: Int) -> Step {
    if pages == 0 { return .none }
    // A commit makes the log longer, unless it began it anew.
    if pages <= last { next = nil }
    last = pages
    guard pages >= limit else { return .none }
    guard let due = next else {
      next = pages + 1
      return .copy
    }
    if pages < due { return .none }
    // Somebody who reads for long is waited for once in a while, and not after each commit.
    next = pages + limit
    return .restart
  }
}
