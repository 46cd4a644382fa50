public import FlowBase

/// One thing that happened in a run, as every sink and every reader learns it.
public struct Event: Sendable, Hashable {
  /// Its place in the run's stream, from 0, without gaps.
  public var seq: Int
  /// Wall time, for people.
  public var time: WallTime
  /// Time since the run's start on the monotonic clock, for durations.
  public var elapsed: Interval
  /// The run's id.
  public var run: String
  /// The item that it is about; nil where it is about none.
  public var subject: ItemSubject?
  /// What happened.
  public var payload: Payload

  /// An event.
  public init(
    seq: Int, time: WallTime, elapsed: Interval, run: String, subject: ItemSubject? = nil, payload: Payload
  ) {
    self.seq = seq
    self.time = time
    self.elapsed = elapsed
    self.run = run
    self.subject = subject
    self.payload = payload
  }

  /// The type of what happened.
  public var type: EventType { payload.type }

  /// What becomes of it where its reader is behind.
  public var delivery: EventType.Delivery {
    if case .log(let line) = payload, line.level == .debug { return .droppable }
    return type.delivery
  }
}
