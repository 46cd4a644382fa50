public import FlowBase

/// Finds how many requests at once are worth it, where nobody says so: a pure value.
///
/// It grows while more of them at once bring more answers or more bytes, and stays where they do not, or where a host
/// asks to be left alone. Tell it each end, and let it `judge` once a turn.
public struct Height: Sendable, Hashable {
  /// How many requests may be under way.
  public private(set) var value: Int
  private let ceiling: Int

  private struct Rate: Sendable, Hashable {
    var answers = 0.0
    var bytes = 0.0
    /// More by a tenth, in one or the other.
    func isBetter(than other: Rate) -> Bool { answers >= other.answers * 1.1 || bytes >= other.bytes * 1.1 }
  }

  private var start: Instant?
  /// Whether a new height is still coming to be: connections are made, and what was asked before is answered.
  private var isSettling = false
  private var answers = 0
  private var bytes = 0
  private var turns = 0
  private var fullTurns = 0
  private var wasRefused = false
  private var rate = Rate()
  /// The height before the one that is being tried.
  private var before: Int?
  /// How many windows go by before a greater height is tried again, and how many the next time.
  private var rest = 0
  private var patience = 4
  private static let longestPatience = 256

  /// A window is at least so long, and ends with twice as many answers as may be under way, or after the longer time.
  static let window = (least: Interval.milliseconds(100), most: Interval.seconds(3))

  /// Begins at a height; it never leaves what lies between 1 and the ceiling.
  public init(_ first: Int = 32, ceiling: Int = 512) {
    self.ceiling = max(1, ceiling)
    value = max(1, min(first, ceiling))
  }

  /// Takes note of a request's end.
  public mutating func ended(bytes: Int, isRefusal: Bool) {
    answers += 1
    self.bytes += bytes
    if isRefusal { wasRefused = true }
  }

  /// Draws its conclusions where a window is over; whether the height is another now.
  ///
  /// - Parameter isFull: whether requests wait for nothing but the height.
  public mutating func judge(isFull: Bool, at now: Instant) -> Bool {
    guard let start else {
      self.start = now
      return false
    }
    turns += 1
    if isFull { fullTurns += 1 }
    let elapsed = now - start
    let enough = isSettling ? value : value * 2
    guard answers > 0, elapsed >= Height.window.most || elapsed >= Height.window.least && answers >= enough else {
      return false
    }
    let old = value
    if isSettling {
      isSettling = false
    } else {
      conclude(Rate(answers: Double(answers) / elapsed.seconds, bytes: Double(bytes) / elapsed.seconds))
      wasRefused = false
    }
    (answers, bytes, turns, fullTurns) = (0, 0, 0, 0)
    self.start = now
    return value != old
  }

  private mutating func conclude(_ new: Rate) {
    let wasFull = fullTurns * 2 >= turns
    if let before {
      // A height that was not reached, because a host had not come to it yet, has shown nothing.
      if !wasFull, !wasRefused, !new.isBetter(than: rate) { return }
      self.before = nil
      guard !wasRefused, new.isBetter(than: rate) else {
        value = before
        rest = patience
        patience = min(patience * 2, Height.longestPatience)
        isSettling = true
        return
      }
    }
    rate = new
    if rest > 0 {
      rest -= 1
    } else if value < ceiling, !wasRefused, wasFull {
      before = value
      value = min(ceiling, value * 2)
      isSettling = true
    }
  }
}
