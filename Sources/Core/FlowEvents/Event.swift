public import FlowBase

/// One thing that happened in a run, as every sink and every reader learns it.
public struct Event: Sendable {
  /// Its place in the run's stream, from 0, without gaps.
  public var seq: Int
  /// Wall time, for people.
  public var time: WallTime
  /// Time since the run's start on the monotonic clock, for durations.
  public var elapsed: Interval
  /// The run's id.
  public var run: String
}
