internal import FlowBase
public import FlowEvents
public import FlowParts

/// Tells a workflow of GitHub Actions what failed: annotations, a summary of the step, its outputs.
public final class GitHubSink: Sink {
  private struct State {
    var groups = FailureGroups()
    var diagnostics: [Diagnostic] = []
    var end: Payload.RunEnd?
    var elapsed = Interval.zero
  }

  private let context: SinkContext
  private let isOn: Bool
  private let environment: [String: String]
  private let write: @Sendable (String) -> Void
  private let state = Guarded(State())

  /// A step shows ten annotations of a kind.
  private static let annotationLimit = 10

  /// What is to be said of it.
  public static let part = SinkPart(
    PartSpec(
      name: "github", role: .sink,
      summary: "Tells a workflow of GitHub Actions what failed: annotations, a summary of the step, its outputs.",
      fields: [
        FieldSpec(
          "when", .choice(["always", "auto"]), phase: .load, default: "always",
          "`auto` does something inside of GitHub Actions only.")
      ], shorthand: "when", example: "sinks:\n  - github: auto\n")
  ) { (config, context) throws(Fault) in
    GitHubSink(context, isOn: config.text("when") != "auto" || GitHubSink.isInActions(ProcessFacts.environment))
  }

  init(
    _ context: SinkContext, isOn: Bool, environment: [String: String] = ProcessFacts.environment,
    write: @escaping @Sendable (String) -> Void = { StandardStream.errors.write($0) }
  ) {
    self.context = context
    self.isOn = isOn
    self.environment = environment
    self.write = write
  }

  /// Whether a step of a workflow reads what is written.
  static func isInActions(_ environment: [String: String]) -> Bool { environment["GITHUB_ACTIONS"] == "true" }

  /// Hides the secrets from the log of the step.
  public func open() async throws {
    guard isOn, GitHubSink.isInActions(environment) else { return }
    let lines = context.secrets.flatMap { $0.split(whereSeparator: \.isNewline) }.filter { !$0.isEmpty }
    if !lines.isEmpty { write(lines.map { "::add-mask::\(WorkflowCommand.message(String($0)))\n" }.joined()) }
  }

  /// Takes note of the event.
  public func render(_ event: Event, into buffer: inout [UInt8]) {
    guard isOn else { return }
    state.withLock { state in
      state.elapsed = event.elapsed
      state.groups.handle(event)
      switch event.payload {
      case .diagnostic(let found):
        if state.diagnostics.count < 1000 { state.diagnostics.append(found.diagnostic) }
      case .runEnd(let end): state.end = end
      default: break
      }
    }
  }

  /// Nothing: all is told at the end.
  public func deliver(_ bytes: [UInt8]) async throws {}

  /// Writes annotations, summary and outputs.
  public func close() async throws {
    guard isOn else { return }
    let (groups, diagnostics, end, elapsed) = state.withLock { ($0.groups, $0.diagnostics, $0.end, $0.elapsed) }
    let annotations = diagnostics.map(placed) + groups.sorted.map(annotation)
    write(DiagnosticText.github(GitHubSink.shown(annotations, others: groups.others)))
    guard let end else { return }
    let text = GitHubText(manifest: context.manifest, end: end, elapsed: elapsed, groups: groups)
    try append(text.summary, to: "GITHUB_STEP_SUMMARY")
    try append(text.outputs, to: "GITHUB_OUTPUT")
  }

  /// As many as a step shows, the last of them saying how many are not shown.
  private static func shown(_ annotations: [Diagnostic], others: Int) -> [Diagnostic] {
    guard annotations.count > annotationLimit || others > 0 else { return annotations }
    let shown = annotations.prefix(annotationLimit - 1)
    let rest = annotations.count - shown.count
    return shown + [
      Diagnostic("imgflow", "\(rest)\(others > 0 ? "+" : "") more: `imgflow status` lists them", at: shown.last?.place)
    ]
  }

  /// A group of failures where its stage stands in the manifest.
  private func annotation(_ group: FailureGroups.Group) -> Diagnostic {
    let host = group.host.map { " at \($0)" } ?? ""
    let count = group.count == 1 ? "" : " (\(group.count) times)"
    let others = group.count == 1 ? "" : "\nand \(group.count - 1) more"
    let message = "\(TextWidth.printable(group.example)): \(group.message)\(others)"
    return placed(
      Diagnostic(
        "\(group.code)\(host)\(count)", message,
        at: context.places[group.stage] ?? start))
  }

  /// The beginning of the manifest, for what has no place of its own in it.
  private var start: Place? { context.manifest.isEmpty ? nil : Place(file: context.manifest, mark: .start) }

  /// The same with its file as the workflow's repository has it.
  private func placed(_ diagnostic: Diagnostic) -> Diagnostic {
    var placed = diagnostic
    guard let place = diagnostic.place, let root = environment["GITHUB_WORKSPACE"], !root.isEmpty else { return placed }
    let path = PathText.absolute(place.file)
    if path.hasPrefix(root + "/") { placed.place?.file = String(path.dropFirst(root.utf8.count + 1)) }
    return placed
  }

  private func append(_ text: String, to variable: String) throws(Fault) {
    guard let path = environment[variable], !path.isEmpty else { return }
    let file = try AppendFile(path)
    try file.write(Array(text.utf8))
  }
}
