internal import FlowBase
public import FlowEvents
public import FlowParts

/// Keeps a file of metrics for Prometheus, such as the textfile collector of its node exporter reads.
public final class MetricsSink: Sink {
  private let path: String
  private let book = Guarded(MetricsBook())

  /// What is to be said of it.
  public static let part = SinkPart(
    PartSpec(
      name: "metrics", role: .sink, summary: "Keeps a file of metrics for Prometheus, written anew every second.",
      fields: [
        FieldSpec("to", .string, phase: .load, required: true, "The file; a reader always finds a whole one.")
      ], shorthand: "to", example: "sinks:\n  - metrics: { to: /var/lib/node_exporter/imgflow.prom }\n")
  ) { (config, context) throws(Fault) in
    MetricsSink(path: PathText.absolute(config.text("to") ?? "imgflow.prom", from: context.folder))
  }

  init(path: String) { self.path = path }

  /// Takes note of the event; the file follows with the run's progress.
  public func render(_ event: Event, into buffer: inout [UInt8]) {
    book.withLock { $0.handle(event) }
    switch event.type {
    case .runStart, .runProgress, .runEnd: buffer.append(0)
    default: break
    }
  }

  /// Makes the folder.
  public func open() async throws { try SmallFiles.makeFolder(PathText.parent(of: path)) }

  /// Writes the file as it is now.
  public func deliver(_ bytes: [UInt8]) async throws {
    let text = book.withLock { $0.text }
    let path = path
    try naming("write", path) { () throws(Errno) in
      try FileSystem.replace(path, with: Array(text.utf8), mode: 0o644)
    }
  }

  /// Nothing is held open.
  public func close() async throws {}
}
