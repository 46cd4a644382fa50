public import FlowBase

/// Decides whether and when a failed operation is tried again: back-off with full jitter, Retry-After honoured.
public struct RetryPolicy: Sendable, Hashable {
  /// All tries, the first included.
  public var attempts: Int
  /// The wait before the second try, doubled from try to try.
  public var shortest: Interval
  /// The longest wait by back-off.
  public var longest: Interval
  /// The classes that are tried again.
  public var classes: Set<FaultClass>
  /// The longest wait that a host may ask for.
  public static let longestRetryAfter = Interval.seconds(600)

  /// A policy.
  public init(attempts: Int, shortest: Interval, longest: Interval, classes: Set<FaultClass>) {
    self.attempts = attempts
    self.shortest = shortest
    self.longest = longest
    self.classes = classes
  }

  /// The wait before the next try; nil where there is none.
  ///
  /// - Parameters:
  ///   - attempt: the try that failed, from 1.
  ///   - chance: a random number from 0 up to 1, which spreads the tries of many clients.
  public func delay(after fault: Fault, attempt: Int, chance: Double) -> Interval? {
    guard attempt < attempts, classes.contains(fault.kind) else { return nil }
    let doublings = Double(min(attempt - 1, 40))
    let ceiling = min(longest.seconds, shortest.seconds * pow2(doublings))
    let backOff = Interval(seconds: ceiling * min(max(chance, 0), 1))
    // A host that asks for no time, or for one that is over by our clock, has all tries at once otherwise.
    return max(backOff, min(fault.retryAfter ?? .zero, RetryPolicy.longestRetryAfter))
  }

  private func pow2(_ exponent: Double) -> Double { Double(sign: .plus, exponent: Int(exponent), significand: 1) }
}
