import FlowBase
import FlowEvents
import FlowParts
import FlowTesting
import Testing

@testable import FlowBuiltins

private func event(_ payload: Payload, _ subject: ItemSubject? = nil, at milliseconds: Int = 1) -> Event {
  Event(
    seq: 0, time: WallTime(microseconds: 1_795_195_800_000_000), elapsed: .milliseconds(milliseconds), run: "R1",
    subject: subject, payload: payload)
}

private func item(_ key: String, stage: String? = nil) -> ItemSubject {
  ItemSubject(
    item: "products/\(key)", index: 1, total: 3, url: "https://h.example/\(key)", source: "products", stage: stage)
}

private func missing(_ host: String = "h.example") -> EventError {
  EventError(Fault("http.404", .permanent, "\(host) answered 404 (not found)", httpStatus: 404, host: host), attempt: 1)
}

private func end(_ counts: ItemCounts, _ result: RunResult = .failure, exit: Int = 1) -> Event {
  event(.runEnd(.init(result: result, exit: exit, items: counts, bytesIn: 5_000_000)), at: 4000)
}

private let nasty = "a|b`c<script>\n::error::x%0A##[warning]y"

/// A run of three items, of which one failed and one was filtered.
private func events(_ failed: String = "B") -> [Event] {
  let output = Payload.Output(path: "a.png", media: "image/png", bytes: 70, sha256: "00", width: 8, height: 8)
  let time = [Payload.StageTime(stage: "fetch", elapsed: .milliseconds(300))]
  return [
    event(.streamStart(.init(tool: "0.1.0", manifest: "catalog.yaml"))),
    event(.runStart(.init(sources: ["products"], stages: ["fetch", "store"], sinks: []))),
    event(.itemRetry(.init(attempt: 1, delay: .seconds(1), error: missing())), item("A", stage: "fetch")),
    event(.output(output), item("A", stage: "store")),
    event(.itemEnd(.init(status: .ok, outputs: [output], stages: time)), item("A"), at: 500),
    event(.itemError(missing()), item(failed, stage: "fetch"), at: 600),
    event(.itemEnd(.init(status: .failed, error: missing(), stages: time)), item(failed), at: 700),
    event(.itemEnd(.init(status: .filtered, reason: "too small")), item("C"), at: 900),
    event(
      .runProgress(
        .init(
          items: ItemCounts(total: 3, ok: 1, filtered: 1, failed: 1), bytesIn: 5_000_000, itemsPerSecond: 1,
          bytesPerSecond: 10, ratio: 1, eta: nil, inFlight: 2, stages: ["fetch": 2])), at: 1000),
    event(.stageEnd(.init(stage: "fetch", ok: 2, failed: 1, filtered: 0, elapsed: .seconds(1))), at: 1000),
    end(ItemCounts(total: 3, ok: 1, filtered: 1, failed: 1)),
  ]
}

/// Tells a sink a whole run.
private func tell(_ sink: any Sink, _ events: [Event]) async throws {
  try await sink.open()
  for event in events {
    var bytes: [UInt8] = []
    sink.render(event, into: &bytes)
    if !bytes.isEmpty { try await sink.deliver(bytes) }
  }
  try await sink.close()
}

private func read(_ path: String) throws -> String { String(decoding: try SmallFiles.read(path), as: UTF8.self) }

@Suite struct JUnitTests {
  @Test func `Each item is one test case, and the totals stand in front`() async throws {
    let place = try TempPlace()
    try await tell(JUnitSink(path: place.file("out/r.xml")), events())
    let text = try read(place.file("out/r.xml"))
    #expect(
      text.hasPrefix(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"imgflow\" tests=\"3\" failures=\"1\""))
    #expect(text.contains("<testcase classname=\"products\" name=\"A\" time=\"0.300\"/>\n"))
    #expect(text.contains("name=\"B\" time=\"0.300\"><failure type=\"http.404\" message=\"h.example answered 404"))
    #expect(text.contains("name=\"C\" time=\"0.000\"><skipped message=\"too small\"/></testcase>"))
    #expect(text.hasSuffix("</testsuite>\n</testsuites>\n"))
    #expect(try SmallFiles.names(in: place.file("out")) == ["r.xml"])
  }

  @Test func `No name becomes markup, and what XML cannot hold is replaced`() async throws {
    let place = try TempPlace()
    try await tell(JUnitSink(path: place.file("r.xml")), events("<&\"\u{1}\u{FFFE}'"))
    let text = try read(place.file("r.xml"))
    #expect(text.contains("name=\"&lt;&amp;&quot;\u{FFFD}\u{FFFD}&#39;\""))
  }

  @Test func `A manifest that is wrong is a test case that failed`() async throws {
    let place = try TempPlace()
    let wrong = Diagnostic(
      "E0103", "unknown key", at: Place(file: "m.yaml", mark: Mark(line: 3, column: 1)))
    try await tell(JUnitSink(path: place.file("r.xml")), [event(.diagnostic(.init(wrong)))])
    #expect(try read(place.file("r.xml")).contains("<error type=\"E0103\" message=\"unknown key\"/>"))
  }
}

@Suite struct MetricsTests {
  private func page(_ events: [Event]) -> String {
    var book = MetricsBook()
    for event in events { book.handle(event) }
    return book.text
  }

  @Test func `Items by status and code, bytes, stages as histograms`() {
    let text = page(events())
    #expect(text.contains("imgflow_items_total{code=\"http.404\",status=\"failed\"} 1\n"))
    #expect(text.contains("imgflow_items_total{code=\"\",status=\"ok\"} 1\n"))
    #expect(text.contains("imgflow_received_bytes_total 5000000\n"))
    #expect(text.contains("imgflow_stage_seconds_bucket{le=\"0.25\",stage=\"fetch\"} 0\n"))
    #expect(text.contains("imgflow_stage_seconds_bucket{le=\"0.5\",stage=\"fetch\"} 2\n"))
    #expect(text.contains("imgflow_stage_seconds_count{stage=\"fetch\"} 2\n"))
    #expect(text.contains("imgflow_retries_total{code=\"http.404\",stage=\"fetch\"} 1\n"))
    #expect(text.contains("imgflow_run_exit_code 1\n"))
  }

  @Test func `While it runs, what is at work is told by stage`() {
    let text = page(Array(events().dropLast()))
    #expect(text.contains("imgflow_stage_in_flight{stage=\"fetch\"} 2\n"))
    #expect(text.contains("imgflow_stage_in_flight{stage=\"store\"} 0\n"))
    #expect(text.contains("imgflow_run_active 1\n"))
  }

  @Test func `A name cannot leave its label`() {
    let text = page([event(.streamStart(.init(tool: "0.1.0", manifest: "a\"} 1\nb\\{.yaml")))])
    #expect(text.contains("manifest=\"a\\\"} 1\u{FFFD}b\\\\{.yaml\""))
  }

  @Test func `The file is whole whenever it is there`() async throws {
    let place = try TempPlace()
    try await tell(MetricsSink(path: place.file("m/imgflow.prom")), events())
    #expect(try SmallFiles.names(in: place.file("m")) == ["imgflow.prom"])
    #expect(try read(place.file("m/imgflow.prom")).hasSuffix("imgflow_stage_seconds_count{stage=\"store\"} 0\n"))
  }
}

@Suite struct GitHubTests {
  private struct Told {
    var lines: [String]
    var summary: String
    var outputs: String
  }

  private func told(
    _ events: [Event], secrets: [String] = [], isInActions: Bool = true, isOn: Bool = true
  ) async throws -> Told {
    let place = try TempPlace()
    var context = SinkContext(folder: place.path)
    context.manifest = "jobs/catalog.yaml"
    context.secrets = secrets
    context.places = ["fetch": Place(file: "/repo/jobs/catalog.yaml", mark: Mark(line: 7, column: 5, length: 5))]
    let written = Guarded("")
    let sink = GitHubSink(
      context, isOn: isOn,
      environment: [
        "GITHUB_ACTIONS": isInActions ? "true" : "", "GITHUB_STEP_SUMMARY": place.file("summary"),
        "GITHUB_OUTPUT": place.file("output"), "GITHUB_WORKSPACE": "/repo",
      ]
    ) { text in
      written.withLock { $0 += text }
    }
    try await tell(sink, events)
    return Told(
      lines: written.withLock { $0 }.split(separator: "\n").map(String.init),
      summary: (try? read(place.file("summary"))) ?? "", outputs: (try? read(place.file("output"))) ?? "")
  }

  @Test func `A failure is annotated at the line of its stage`() async throws {
    let told = try await told(events())
    #expect(
      told.lines == [
        "::error file=jobs/catalog.yaml,line=7,col=5,endColumn=9,title=http.404 at h.example"
          + "::products/B: h.example answered 404 (not found)"
      ])
  }

  @Test func `The summary is a table, and the outputs are counts`() async throws {
    let told = try await told(events())
    #expect(told.summary.contains("| 3 | 1 | 0 | 1 | 1 | 0 | 5.00 MB | 4.0 s |"))
    #expect(
      told.summary.contains("| 1 | http.404 | h.example | products/B: h.example answered 404 &#40;not found&#41;"))
    #expect(told.outputs.hasPrefix("result=failure\nexit=1\ntotal=3\nok=1\n"))
  }

  @Test func `At most nine groups are annotated, and one line says how many more there are`() async throws {
    let failures = (0..<30).flatMap { number in
      (0...number).map { _ in event(.itemError(missing("h\(number).example")), item("B", stage: "fetch")) }
    }
    let told = try await told(failures + [end(ItemCounts(failed: 30))])
    #expect(told.lines.count == 10)
    #expect(told.lines[0].contains("title=http.404 at h29.example (30 times)"))
    #expect(told.lines[9].hasSuffix("::21 more: `imgflow status` lists them"))
  }

  @Test func `No name begins a command or becomes markup`() async throws {
    let told = try await told(events(nasty))
    #expect(told.lines.count == 1)
    #expect(told.lines.allSatisfy { $0.hasPrefix("::error file=") })
    #expect(!told.summary.contains("<script>") && !told.summary.contains("`c"))
    #expect(told.outputs.split(separator: "\n").count == 9)
  }

  @Test func `Secrets are masked first, line by line, and inside of Actions alone`() async throws {
    let secrets = ["one%", "two\nthree"]
    let inside = try await told(events(), secrets: secrets)
    #expect(inside.lines.prefix(3) == ["::add-mask::one%25", "::add-mask::two", "::add-mask::three"])
    let outside = try await told(events(), secrets: secrets, isInActions: false)
    #expect(!outside.lines.contains { $0.contains("add-mask") })
  }

  @Test func `Where it is off it says nothing`() async throws {
    let told = try await told(events(), isOn: false)
    #expect(told.lines.isEmpty && told.summary.isEmpty && told.outputs.isEmpty)
  }
}

@Suite struct HTMLReportTests {
  private func page(_ events: [Event]) -> (text: String, shown: [Int]) {
    var book = ReportBook()
    for event in events { book.handle(event) }
    let thumbnails = book.pictures.elements.map { Thumbnail(picture: $0, bytes: [1, 2, 3], media: "image/webp") }
    let shown = thumbnails.map { Int($0.picture.path.dropLast(4)) ?? 0 }
    return (ReportPage(book: book, title: "catalog", thumbnails: thumbnails).text, shown)
  }

  @Test func `A page has totals, failures, stages and pictures, and loads nothing`() {
    let text = page(events()).text
    #expect(text.contains("<dd class=\"bad\">1</dd><dt>failed</dt>"))
    #expect(text.contains("<td><code>http.404</code></td><td>h.example</td>"))
    #expect(text.contains("<svg viewBox"))
    #expect(text.contains("src=\"data:image/webp;base64,AQID\""))
    #expect(!text.contains("<script") && !text.contains("src=\"http") && !text.contains("href="))
    #expect(text.contains("Content-Security-Policy"))
  }

  @Test func `No name becomes markup`() {
    let text = page(events(nasty)).text
    #expect(!text.contains("<script>") && text.contains("&lt;script&gt;"))
  }

  @Test func `Of many pictures an even sample is shown, and said to be one`() {
    var many: [Event] = [event(.streamStart(.init(tool: "0.1.0", manifest: nil)))]
    for number in 0..<100_000 {
      let output = Payload.Output(
        path: "\(number).png", media: "image/png", bytes: 70, sha256: "00", width: 8, height: 8)
      many.append(event(.itemEnd(.init(status: .ok, outputs: [output])), item("\(number)"), at: number))
    }
    many.append(end(ItemCounts(total: 100_000, ok: 100_000), .success, exit: 0))
    let (text, shown) = page(many)
    #expect((48...96).contains(shown.count))
    #expect(text.contains("A sample: \(shown.count) of 100,000, spread evenly"))
    #expect(zip(shown, shown.dropFirst()).allSatisfy { $1 - $0 == shown[1] - shown[0] })
    #expect(text.utf8.count < 100_000)
  }

  @Test func `Pictures are shown small, whatever their size, and what is no picture is left out`() async throws {
    let place = try TempPlace()
    try SmallFiles.replace(place.file("a.png"), Painter.photo("a"))
    try SmallFiles.replace(place.file("b.png"), Array("no picture".utf8) + [UInt8](repeating: 7, count: 70_000))
    let pictures = ["a.png", "b.png", "gone.png"].map { name in
      ReportBook.Picture(item: name, path: name, media: "image/png", bytes: 70_010, width: 480, height: 320)
    }
    let made = await Thumbnails(folder: place.path).make(pictures)
    #expect(made.map(\.picture.item) == ["a.png"])
    #expect(made.first?.media == "image/webp")
    #expect(made.first.map { $0.bytes.count < 30_000 } == true)
  }

  @Test func `A timeline keeps its sum and its bounds however long a run is`() {
    var line = Timeline()
    for second in 0..<10_000 { line.add(2, at: .seconds(second)) }
    #expect(line.values.reduce(0, +) == 20_000)
    #expect(line.values.count <= 120)
    #expect(abs(line.rates[3] - 2) < 0.2)
  }
}
