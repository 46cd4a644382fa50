public import FlowBase
public import FlowEvents
public import FlowParts

/// Writes each event as a line of JSON.
public struct NDJSONSink: Sink {
  /// How an event looks in its line.
  private enum Form: String, CaseIterable {
    case native, cloudevents
  }

  private let output: LineOutput
  private let form: Form
  /// The manifest's name, which CloudEvents name as their source.
  private let name: String

  /// What is to be said of it.
  public static let part = SinkPart(
    PartSpec(
      name: "ndjson", role: .sink, summary: "Writes each event as a line of JSON.",
      fields: [
        FieldSpec(
          "to", .string, phase: .load, default: "stdout",
          "Where to: `stdout`, `stderr`, `fd:N`, or a path from the manifest's folder; a file is appended to."),
        FieldSpec(
          "format", .choice(Form.allCases.map(\.rawValue)), phase: .load, default: "native",
          "`native` is the event itself; `cloudevents` puts it whole into a CloudEvent of version 1.0."),
        Rotation.field,
      ], shorthand: "to",
      example: "sinks:\n  - ndjson: { to: events.ndjson, rotate: { size: 100MB, keep: 5 } }\n")
  ) { (config, context) throws(Fault) in
    NDJSONSink(
      try LineOutput(config, folder: context.folder), config.text("format").flatMap(Form.init) ?? .native,
      name: context.settings.name)
  }

  private init(_ output: LineOutput, _ form: Form, name: String) {
    self.output = output
    self.form = form
    self.name = name
  }

  init(_ output: LineOutput) { self.init(output, .native, name: "") }

  /// A sink that writes to standard output.
  public static var standardOutput: NDJSONSink { NDJSONSink(LineOutput(.stream(.output))) }

  /// A sink that writes to what `stdout`, `-`, `stderr`, `fd:N` or a path names.
  public init(to target: String, folder: String) throws(Fault) {
    self.init(try LineOutput(to: target, folder: folder))
  }

  /// Appends the event's line.
  public func render(_ event: Event, into buffer: inout [UInt8]) {
    guard form == .cloudevents else { return NDJSON.append(event, to: &buffer) }
    CloudEvents.append(event, name: name, to: &buffer)
    buffer.append(UInt8(ascii: "\n"))
  }
  /// Opens the file, if it is one.
  public func open() async throws { try output.open() }
  /// Writes whole lines.
  public func deliver(_ bytes: [UInt8]) async throws { try output.write(bytes) }
  /// Closes the file.
  public func close() async throws { output.close() }
  /// Standard output is waited for as long as its reader takes.
  public var patience: Interval? { output.patience }
}
