import FlowBase
import FlowEvents
import Testing

@testable import FlowBuiltins

private func event(_ payload: Payload, _ subject: ItemSubject? = nil, at seconds: Int = 1) -> Event {
  Event(
    seq: 0, time: WallTime(microseconds: 0), elapsed: .seconds(seconds), run: "R", subject: subject, payload: payload)
}

private func item(_ number: Int, _ name: String = "products/A") -> ItemSubject {
  ItemSubject(item: "\(name)\(number)", index: number, total: 100, url: nil, source: "products", stage: "fetch")
}

/// A run of 100 items: 40 at work, and of those that ended one in five failed.
private func busyView() -> ProgressView {
  var view = ProgressView()
  _ = view.handle(event(.streamStart(.init(tool: "0.1.0", manifest: "my catalog.yaml"))))
  _ = view.handle(event(.runStart(.init(sources: ["products"], stages: ["fetch"], sinks: [], output: "/w/out"))))
  for number in 1...60 { _ = view.handle(event(.itemStart(.init(key: "A\(number)")), item(number))) }
  for number in 1...20 {
    let fault = Fault("http.404", .permanent, "the server has no such file", host: "cdn.example.com")
    let end: Payload.ItemEnd =
      number % 5 == 0 ? .init(status: .failed, error: EventError(fault, attempt: 1)) : .init(status: .ok)
    _ = view.handle(event(.itemEnd(end), item(number)))
  }
  _ = view.handle(event(.itemProgress(.init(bytes: 500_000, size: 1_000_000, ratio: 0.5)), item(21)))
  _ = view.handle(
    event(
      .runProgress(
        .init(
          items: ItemCounts(total: 100, ok: 16, failed: 4), bytesIn: 12_300_000, itemsPerSecond: 35.04,
          bytesPerSecond: 1_200_000, ratio: 0.2, eta: .seconds(64), inFlight: 40))))
  return view
}

private func runEnd(_ result: RunResult, exit: Int, _ items: ItemCounts, errors: [CodeCount] = []) -> Payload {
  .runEnd(.init(result: result, exit: exit, items: items, bytesIn: 98_213_004, errors: errors))
}

/// Takes what is written, in order.
private final class Paper: Sendable {
  private let text = Guarded("")
  var written: String { text.withLock { $0 } }
  func screen(isTerminal: Bool) -> Screen {
    Screen(
      isTerminal: isTerminal, hasColor: false, size: { (80, 24) }, write: { text in self.text.withLock { $0 += text } })
  }
}

@Suite struct ProgressTests {
  @Test func `A wide window shows the run, what is at work, and the last failures`() {
    let lines = busyView().lines(width: 120, height: 12, hasColor: false)
    #expect(lines.count == 11)
    #expect(
      lines[0]
        == "██████░░░░░░░░░░░░░░░░░░░░░░░░  20%  20/100  4 failed  1 min 04 s left  1.20 MB/s  12.3 MB  35.0 items/s  1.0 s"
    )
    #expect(lines[1] == "  ██████░░░░░░ 50%  fetch  products/A21  500 kB of 1.00 MB")
    #expect(lines[7] == "  and 34 more")
    #expect(lines[8] == "  failed: products/A10  http.404 at cdn.example.com: the server has no such file")
  }

  @Test(arguments: [1, 2, 5, 10, 20, 40, 79, 200], [1, 2, 3, 8, 50])
  func `No line is wider than the window and no view is higher`(width: Int, height: Int) {
    var view = busyView()
    _ = view.handle(event(.itemStart(.init(key: "x")), item(1, "写真/長い名前の写真が入っているところ")))
    let lines = view.lines(width: width, height: height, hasColor: false)
    #expect(lines.count <= max(1, height - 1))
    #expect(lines.allSatisfy { TextWidth.columns(of: $0) <= max(1, width - 1) })
  }

  @Test func `Twenty columns keep what matters most`() {
    #expect(busyView().lines(width: 20, height: 2, hasColor: false) == ["20%  20/100"])
  }

  @Test func `A paused run says so first`() {
    var view = busyView()
    _ = view.handle(event(.runState(.init(from: .active, to: .paused, by: "ctl"))))
    #expect(view.lines(width: 30, height: 2, hasColor: false) == ["paused  20%  20/100  4 failed"])
    #expect(view.plain == "1.0 s: 20 %, 20 of 100 items, 4 failed, 12.3 MB, 1.20 MB/s, 1 min 04 s left, paused")
  }

  @Test func `The summary groups what failed and says what to type next`() {
    var view = busyView()
    _ = view.handle(event(.output(.init(path: "a", bytes: 1000, sha256: "00"))))
    _ = view.handle(
      event(runEnd(.failure, exit: 1, ItemCounts(total: 100, ok: 96, cached: 10, failed: 4)), at: 60))
    #expect(
      view.summary(folder: "/w", hasColor: false) == [
        "failed: 96 of 100 ok (10 from before), 4 failed in 1 min 00 s, 98.2 MB received",
        "  results  ./out  (1 new file, 1.00 kB)",
        "  failed   4 × http.404 at cdn.example.com  such as products/A5: the server has no such file",
        "  next     imgflow run 'my catalog.yaml' --failed   once the reasons are gone",
        "           imgflow status 'my catalog.yaml'         what failed, what is left, and why",
        "           imgflow explain http.404                 what it means and what to do",
      ])
  }

  @Test func `The summary says what was odd, and how much more of it there is`() {
    var view = busyView()
    for number in 1...5 { _ = view.handle(event(.log(.init(number == 2 ? .info : .warn, "odd \(number)")))) }
    _ = view.handle(event(runEnd(.success, exit: 0, ItemCounts(total: 1, ok: 1)), at: 60))
    let lines = view.summary(folder: "/w", hasColor: false)
    let first = lines.firstIndex(of: "  warned   odd 1") ?? 0
    #expect(
      lines[first...].prefix(4) == [
        "  warned   odd 1", "           odd 3", "           odd 4", "           and 1 more, in the events",
      ])
  }

  @Test(arguments: [20, 40]) func `In a narrow window notes go below, and commands stay whole`(width: Int) {
    var view = busyView()
    _ = view.handle(event(runEnd(.failure, exit: 1, ItemCounts(total: 100, ok: 96, failed: 4)), at: 60))
    let lines = view.summary(folder: "/w", hasColor: false, width: width)
    for command in [
      "imgflow run 'my catalog.yaml' --failed", "imgflow status 'my catalog.yaml'", "imgflow explain http.404",
    ] {
      #expect(lines.contains { $0.hasSuffix("  " + command) }, "\(lines)")
    }
    let notes = lines.filter { $0.hasPrefix("    ") && !$0.contains("imgflow ") }
    #expect(notes.count >= 3)
    #expect(notes.allSatisfy { $0.count <= width || !$0.drop { $0 == " " }.contains(" ") }, "\(notes)")
    #expect(notes.map { $0.drop { $0 == " " } }.joined(separator: " ").contains("the server has no such file"))
  }

  @Test func `A failure is named by its file where its key is a digest, and by its code where there is little room`() {
    var view = ProgressView()
    _ = view.handle(event(.runStart(.init(sources: ["urls"], stages: ["fetch"], sinks: []))))
    let subject = ItemSubject(
      item: "urls/0f563f662e5bf70b", index: 1, url: "https://h.example/pictures/cat.png", source: "urls")
    let fault = Fault("http.404", .permanent, "h.example answered 404", host: "h.example")
    _ = view.handle(event(.itemEnd(.init(status: .failed, error: EventError(fault))), subject))
    let wide = view.lines(width: 100, height: 10, hasColor: false)
    #expect(wide.last == "  failed: urls/cat.png  http.404 at h.example: h.example answered 404")
    let narrow = view.lines(width: 24, height: 10, hasColor: false)
    #expect(narrow.last == "  http.404 urls/cat.png")
  }

  @Test func `What went wrong with the run itself stands in the summary too`() {
    var view = ProgressView()
    _ = view.handle(event(.runStart(.init(sources: [], stages: [], sinks: [], output: "/w/out"))))
    for level in [Payload.LogLine.Level.warn, .error, .error] {
      _ = view.handle(event(.log(.init(level, "\(level): cannot read lst.txt"))))
    }
    _ = view.handle(
      event(runEnd(.error, exit: 6, ItemCounts(), errors: [CodeCount(code: "disk.missing", count: 1)])))
    #expect(
      view.summary(folder: "/w", hasColor: false) == [
        "error: 0 ok in 1.0 s, 98.2 MB received", "  results  ./out", "  why      error: cannot read lst.txt",
        "  warned   warn: cannot read lst.txt",
        "  next     imgflow status                 what failed, what is left, and why",
        "           imgflow explain disk.missing   what it means and what to do",
      ])
  }

  @Test func `A run that went well ends with one line and a place`() {
    var view = ProgressView()
    _ = view.handle(event(.runStart(.init(sources: [], stages: [], sinks: [], output: "/elsewhere"))))
    _ = view.handle(event(runEnd(.success, exit: 0, ItemCounts(total: 2, ok: 2))))
    #expect(
      view.summary(folder: "/w", hasColor: true) == [
        "\u{1B}[32mdone\u{1B}[0m: 2 of 2 ok in 1.0 s, 98.2 MB received", "  results  /elsewhere",
      ])
  }

  @Test func `A run that never started has no summary`() {
    var view = ProgressView()
    _ = view.handle(event(.streamStart(.init(tool: "0.1.0", manifest: "m.yaml"))))
    _ = view.handle(event(runEnd(.error, exit: 2, ItemCounts())))
    #expect(view.summary(folder: "/w", hasColor: false).isEmpty)
  }

  @Test func `Lines are drawn over, also where a narrower window has wrapped them`() {
    var lines = LiveLines()
    #expect(lines.redraw(["one", "\u{1B}[31mtwo\u{1B}[0m"], columns: 80) == "one\n\u{1B}[31mtwo\u{1B}[0m\n")
    #expect(lines.redraw(["one"], columns: 2) == "\u{1B}[4A\r\u{1B}[Jone\n")
    #expect(lines.erase(columns: 80) == "\u{1B}[1A\r\u{1B}[J")
    #expect(lines.erase(columns: 80) == "")
  }

  @Test func `The live lines go away before the summary`() async throws {
    let paper = Paper()
    let sink = ProgressSink(style: .auto, screen: paper.screen(isTerminal: true), folder: "/w")
    try await sink.open()
    var bytes: [UInt8] = []
    sink.render(event(.runStart(.init(sources: [], stages: [], sinks: [], output: "/w/out"))), into: &bytes)
    sink.draw()
    sink.render(event(runEnd(.success, exit: 0, ItemCounts(total: 0))), into: &bytes)
    try await sink.close()
    #expect(bytes.isEmpty)
    #expect(
      paper.written.hasSuffix("\u{1B}[1A\r\u{1B}[Jdone: 0 of 0 ok in 1.0 s, 98.2 MB received\n  results  ./out\n"))
  }

  @Test func `Where nothing can be drawn over there are plain lines`() async throws {
    let paper = Paper()
    let sink = ProgressSink(style: .auto, screen: paper.screen(isTerminal: false), folder: "/w")
    var bytes: [UInt8] = []
    sink.render(event(.runStart(.init(sources: [], stages: [], sinks: []))), into: &bytes)
    sink.draw()
    #expect(paper.written == "1.0 s: 0 items\n")
  }

  @Test func `Widths count wide characters twice, and cuts keep to them`() {
    #expect(TextWidth.columns(of: "abc") == 3)
    #expect(TextWidth.columns(of: "写真") == 4)
    #expect(TextWidth.columns(of: "e\u{301}") == 1)
    #expect(TextWidth.cut("写真写真", to: 6) == "写真…")
    #expect(TextWidth.cut("abc", to: 3) == "abc")
  }
}
