public import FlowBase
public import FlowEvents
public import FlowParts

/// Writes each event as a readable line.
public struct LogSink: Sink {
  private let output: LineOutput
  private let level: Payload.LogLine.Level
  /// Lines for a terminal have colours and the time of day; lines in a file have the whole date.
  private let isTerminal: Bool
  private let hasColor: Bool

  /// What is to be said of it.
  public static let part = SinkPart(
    PartSpec(
      name: "log", role: .sink, summary: "Writes each event as a readable line.",
      fields: [
        FieldSpec(
          "to", .string, phase: .load, default: "stderr",
          "Where to: `stdout`, `stderr`, `fd:N`, or a path from the manifest's folder; a file is appended to."),
        FieldSpec(
          "level", .choice(Payload.LogLine.Level.allCases.map(\.rawValue)), phase: .load, default: "info",
          "The quietest that is written."),
        Rotation.field,
      ], shorthand: "to", example: "sinks:\n  - log: { to: run.log, level: info }\n")
  ) { (config, context) throws(Fault) in
    let output = try LineOutput(to: config.text("to") ?? "stderr", folder: context.folder, rotation: Rotation(config))
    let level = config.text("level").flatMap(Payload.LogLine.Level.init) ?? .info
    return LogSink(output, level: level)
  }

  init(_ output: LineOutput, level: Payload.LogLine.Level) {
    self.output = output
    self.level = level
    if case .stream(let stream) = output.target, stream.isTerminal { isTerminal = true } else { isTerminal = false }
    hasColor = isTerminal && Paint.isWanted
  }

  /// A sink that writes to standard error.
  public static func standardError(level: Payload.LogLine.Level) -> LogSink {
    LogSink(LineOutput(.stream(.errors)), level: level)
  }

  /// Appends the event's line, if it is loud enough.
  public func render(_ event: Event, into buffer: inout [UInt8]) {
    guard event.level >= level else { return }
    buffer.append(contentsOf: LogSink.line(event, wholeDate: !isTerminal, hasColor: hasColor).utf8)
    buffer.append(0x0A)
  }

  /// An event as one line: time, level, and what happened in words.
  static func line(_ event: Event, wholeDate: Bool, hasColor: Bool) -> String {
    let time = event.time.text
    let shown = wholeDate ? time.prefix(19) + "Z" : time.dropFirst(11).prefix(8)
    let level = event.level.rawValue.padding(to: 5)
    let text = "\(level)  \(TextWidth.printable(event.words))"
    switch event.level {
    case .error: return "\(shown) \(Paint.red(text, hasColor))"
    case .warn: return "\(shown) \(Paint.yellow(text, hasColor))"
    case .debug: return "\(shown) \(Paint.faint(text, hasColor))"
    case .info: return "\(shown) \(text)"
    }
  }

  /// Opens the file, if it is one.
  public func open() async throws { try output.open() }
  /// Writes whole lines.
  public func deliver(_ bytes: [UInt8]) async throws { try output.write(bytes) }
  /// Closes the file.
  public func close() async throws { output.close() }
  /// A standard stream is waited for as long as its reader takes.
  public var patience: Interval? { output.patience }
}

/// Colours for terminals.
enum Paint {
  /// Whether the environment lets terminals have colours (`NO_COLOR`, `TERM=dumb`).
  static var isWanted: Bool {
    let environment = ProcessFacts.environment
    return environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
  }

  static func red(_ text: String, _ isOn: Bool) -> String { isOn ? "\u{1B}[31m\(text)\u{1B}[0m" : text }
  static func green(_ text: String, _ isOn: Bool) -> String { isOn ? "\u{1B}[32m\(text)\u{1B}[0m" : text }
  static func yellow(_ text: String, _ isOn: Bool) -> String { isOn ? "\u{1B}[33m\(text)\u{1B}[0m" : text }
  static func faint(_ text: String, _ isOn: Bool) -> String { isOn ? "\u{1B}[2m\(text)\u{1B}[0m" : text }
}

extension String {
  /// The text with spaces behind it up to so many columns.
  func padding(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - TextWidth.columns(of: self)))
  }
}
