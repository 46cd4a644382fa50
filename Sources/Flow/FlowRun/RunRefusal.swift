public import FlowBase
public import FlowEvents

/// The stream of a run that cannot begin, because its manifest or its command line is wrong.
public enum RunRefusal {
  /// Tells what is wrong, and ends the stream as every stream ends.
  public static func tell(_ diagnostics: [Diagnostic], manifest: String?, tool: String, to listeners: [Listener]) async
  {
    let bus = EventBus(run: RunID.make(at: SystemTime().wall()))
    for listener in listeners { bus.attach(listener) }
    bus.emit(.streamStart(Payload.StreamStart(tool: tool, manifest: manifest)))
    for diagnostic in diagnostics { bus.emit(.diagnostic(Payload.DiagnosticFound(diagnostic))) }
    let codes = Dictionary(grouping: diagnostics.filter { $0.severity == .error }, by: \.code)
      .map { CodeCount(code: $0.key, count: $0.value.count) }.sorted { ($1.count, $0.code) < ($0.count, $1.code) }
    await bus.finish(
      Payload.RunEnd(
        result: .error, exit: ExitCode.usage.rawValue, items: ItemCounts(total: 0), bytesIn: 0, errors: codes))
  }
}
