public import FlowBase
public import FlowEvents

/// What takes the stream of events somewhere.
///
/// The run turns an event into the sink's bytes at once and hands the bytes over in order, in batches, later: a sink
/// that hangs holds up nobody, and what it has not taken waits as bytes in memory and then on disk.
public protocol Sink: Sendable {
  /// Appends this sink's form of an event to the buffer; nothing for an event that it does not care about.
  ///
  /// Called in the order of the stream, on the run's own thread: it must be quick and must not wait.
  func render(_ event: Event, into buffer: inout [UInt8])
  /// Gets ready; a throw ends this sink, not the run.
  func open() async throws
  /// Takes bytes that `render` has made: always whole events.
  func deliver(_ bytes: [UInt8]) async throws
  /// Ends; everything has been delivered.
  func close() async throws
  /// How long the end of a run waits without seeing the sink take anything; nil waits for as long as it takes.
  var patience: Interval? { get }
}

extension Sink {
  /// Half a minute.
  public var patience: Interval? { .seconds(30) }
}
