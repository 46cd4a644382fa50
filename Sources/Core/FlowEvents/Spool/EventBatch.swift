public import FlowBase

/// Events that go out together, under one name that stays theirs however often they are sent.
public struct EventBatch: Sendable, Hashable {
  /// The run that told them.
  public var run: String
  /// The sink that they are for.
  public var sink: String
  /// The form of the events, as the sink named it when it made them.
  public var form: String
  /// The `seq` of the first.
  public var first: Int
  /// The `seq` of the last.
  public var last: Int
  /// The events' bytes, as the sink made them.
  public var events: [[UInt8]]

  /// A batch.
  public init(run: String, sink: String, form: String, first: Int, last: Int, events: [[UInt8]]) {
    self.run = run
    self.sink = sink
    self.form = form
    self.first = first
    self.last = last
    self.events = events
  }

  /// Its name: the same in every try, in this process and in later ones.
  public var id: String { "\(run)-\(sink)-\(first)-\(last)" }
}

/// When a batch is full.
public struct BatchRule: Sendable, Hashable {
  /// The most events.
  public var events: Int
  /// The most bytes of all events together, unless a single one is longer.
  public var bytes: Int
  /// How long the first event waits for others.
  public var wait: Interval

  /// A rule.
  public init(events: Int = 100, bytes: Int = 256 * 1024, wait: Interval = .seconds(2)) {
    self.events = events
    self.bytes = bytes
    self.wait = wait
  }
}

/// Takes a listener's events away in batches, out of a spool that outlives the process.
public struct Courier: Sendable {
  /// Where the events wait.
  public var spool: EventSpool
  /// When a batch is full.
  public var rule: BatchRule
  /// How long the end of a run waits for all to be delivered.
  public var drain: Interval
  /// Delivers a batch, however many tries that takes.
  ///
  /// What it gives back is held against the stream, which goes on.
  /// A throw ends the deliveries of this run, and what is left stays in the spool.
  public var send: @Sendable (EventBatch) async throws -> Fault?

  /// A courier.
  public init(
    spool: EventSpool, rule: BatchRule = BatchRule(), drain: Interval = .seconds(30),
    send: @escaping @Sendable (EventBatch) async throws -> Fault?
  ) {
    self.spool = spool
    self.rule = rule
    self.drain = drain
    self.send = send
  }
}
