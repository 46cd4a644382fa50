public import FlowBase

/// Where a stream of events goes: how an event becomes bytes, and what takes the bytes away.
public struct Listener: Sendable {
  /// Its name in events and messages.
  public var name: String
  /// Which events it asks for.
  public var filter: EventFilter
  /// Whether the run is to be held up rather than an event lost, and fails where this cannot deliver.
  public var isRequired: Bool
  /// How long the end of a run waits for it without seeing it take anything; nil waits for as long as it takes.
  public var patience: Interval?
  /// Appends an event's bytes to a buffer; called in the order of the stream, must be quick and must not wait.
  public var render: @Sendable (Event, inout [UInt8]) -> Void
  /// Gets ready.
  public var open: @Sendable () async throws -> Void
  /// Takes bytes that `render` has made, always whole events.
  public var deliver: @Sendable ([UInt8]) async throws -> Void
  /// Takes the events in batches instead of `deliver`, out of a spool that outlives the process.
  public var courier: Courier?
  /// Ends, after everything has been delivered.
  public var close: @Sendable () async throws -> Void

  /// A listener.
  public init(
    name: String, filter: EventFilter = .all, isRequired: Bool = false, patience: Interval? = .seconds(30),
    render: @escaping @Sendable (Event, inout [UInt8]) -> Void = { NDJSON.append($0, to: &$1) },
    open: @escaping @Sendable () async throws -> Void = {},
    deliver: @escaping @Sendable ([UInt8]) async throws -> Void,
    courier: Courier? = nil, close: @escaping @Sendable () async throws -> Void = {}
  ) {
    self.name = name
    self.filter = filter
    self.isRequired = isRequired
    self.patience = patience
    self.render = render
    self.open = open
    self.deliver = deliver
    self.courier = courier
    self.close = close
  }
}

/// How a stream ended.
public struct StreamReport: Sendable, Hashable {
  /// The listener's name.
  public var name: String
  /// Whether the run depends on it.
  public var isRequired: Bool
  /// Why it did not get everything; nil if it did.
  public var fault: Fault?
  /// The first event that it did not get.
  public var missedFrom: Int?

  /// A report.
  public init(name: String, isRequired: Bool, fault: Fault?, missedFrom: Int?) {
    self.name = name
    self.isRequired = isRequired
    self.fault = fault
    self.missedFrom = missedFrom
  }
}
