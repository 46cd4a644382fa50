internal import FlowBase
public import FlowEvents
public import FlowParts

/// Shows a person how far the run is: live on a terminal, else a line now and then, and at the end a summary.
public final class ProgressSink: Sink {
  /// How progress is shown.
  public enum Style: String, Sendable, Hashable, CaseIterable {
    /// Bars on a terminal, else plain lines.
    case auto
    /// Lines that are drawn again in place.
    case bars
    /// A line every ten seconds.
    case plain
    /// The summary alone.
    case none
  }

  private struct State {
    var view = ProgressView()
    var isDirty = false
    var lines = LiveLines()
  }

  private enum Letter: Sendable { case stop(CheckedContinuation<Void, Never>) }

  private let screen: Screen
  private let style: Style
  private let folder: String
  private let state = Guarded(State())
  private let letters = Mailbox<Letter>()
  private let time: any TimeSource

  private static let redraw = Interval.milliseconds(100)
  private static let plainLine = Interval.seconds(10)

  /// What is to be said of it.
  public static let part = SinkPart(
    PartSpec(
      name: "progress", role: .sink, summary: "Shows how far the run is, live on a terminal, and a summary at the end.",
      fields: [
        FieldSpec(
          "style", .choice(Style.allCases.map(\.rawValue)), phase: .load, default: "auto",
          "`bars` draws in place, `plain` writes a line every 10 s, `none` the summary alone; `auto` asks the terminal."
        )
      ], shorthand: "style", example: "sinks:\n  - progress: { style: auto }\n")
  ) { (config, _) throws(Fault) in ProgressSink(style: config.text("style").flatMap(Style.init) ?? .auto) }

  /// A view on standard error.
  public convenience init(style: Style) { self.init(style: style, screen: .standardError) }

  init(
    style: Style, screen: Screen, folder: String = ProcessFacts.folder, time: any TimeSource = SystemTime()
  ) {
    self.style = style == .auto ? (screen.isTerminal ? .bars : .plain) : style
    self.screen = screen
    self.folder = folder
    self.time = time
  }

  /// Takes note of the event; what is shown is drawn by a thread of its own.
  public func render(_ event: Event, into buffer: inout [UInt8]) {
    state.withLock { state in
      if state.view.handle(event) { state.isDirty = true }
    }
  }

  /// Begins to draw.
  public func open() async throws {
    guard style != .none else { return }
    WorkerThread.start("progress") { self.drawUntilStopped() }
  }

  /// Nothing: the view takes no bytes.
  public func deliver(_ bytes: [UInt8]) async throws {}

  /// Takes the live lines away and writes the summary.
  public func close() async throws {
    if style != .none { await withCheckedContinuation { letters.post(.stop($0)) } }
    let columns = screen.size().columns
    let (erasure, summary) = state.withLock { state in
      (
        state.lines.erase(columns: columns),
        state.view.summary(
          folder: folder, hasColor: screen.hasColor, width: screen.isTerminal ? columns : .max)
      )
    }
    screen.write(erasure + summary.map { $0 + "\n" }.joined())
  }

  private func drawUntilStopped() {
    let span = style == .bars ? Self.redraw : Self.plainLine
    var batch: [Letter] = []
    while true {
      letters.take(into: &batch, until: time.now() + span)
      if case .stop(let done)? = batch.first { return done.resume() }
      draw()
    }
  }

  /// Draws once, if there is something new.
  func draw() {
    let (columns, rows) = screen.size()
    let text: String? = state.withLock { state in
      guard state.isDirty || style == .plain, state.view.hasStarted, state.view.end == nil else { return nil }
      state.isDirty = false
      if style == .plain { return state.view.plain + "\n" }
      let lines = state.view.lines(width: columns, height: rows, hasColor: screen.hasColor)
      return state.lines.redraw(lines, columns: columns)
    }
    if let text { screen.write(text) }
  }
}
