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

/// A sink whose events wait in files that outlive the process, and go out in batches.
///
/// What it cannot deliver by the end of a run is sent by the next run, or by `imgflow flush`.
public protocol SpooledSink: Sink {
  /// Where the events wait, when a batch is full, and what delivers it.
  var courier: Courier { get }
}

extension SpooledSink {
  /// Nothing: the courier delivers.
  public func deliver(_ bytes: [UInt8]) async throws {}
}

/// What a sink is given when it is made.
public struct SinkContext: Sendable {
  /// The sink's id in the manifest.
  public var id: String
  /// The id of the run that it is made for.
  public var run: String
  /// The folder that relative paths start from.
  public var folder: String
  /// What the manifest says of the run as a whole.
  public var settings: RunSettings
  /// The folder in which sinks may keep what has to outlive the process; nil where nothing may.
  public var keep: String?
  /// Whether the run fails where the sink cannot deliver.
  public var isRequired = false
  /// The manifest as the user named it.
  public var manifest = ""
  /// Where the sources and stages stand in it, by id.
  public var places: [String: Place] = [:]
  /// What must not be told; events have it taken out already.
  public var secrets: [String] = []
  /// How the parts of the run hang together.
  public var graph = GraphSketch()
  /// The way to the run itself; nil where there is none that goes.
  public var control: RunControl?
  /// Writes a line to the run's log.
  public var log: @Sendable (LogLevel, String) -> Void = { _, _ in }

  /// A context.
  public init(id: String = "sink", run: String = "", folder: String, settings: RunSettings? = nil) {
    self.id = id
    self.run = run
    self.folder = folder
    self.settings = settings ?? RunSettings(name: "", folder: folder, outputFolder: folder)
  }
}
