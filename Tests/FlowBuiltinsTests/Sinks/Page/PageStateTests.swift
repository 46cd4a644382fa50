import FlowBase
import FlowEvents
import FlowParts
import FlowTesting
import Testing

@testable import FlowBuiltins

/// What a page makes of a run's events.
@Suite struct PageStateTests {
  private func run() -> PageSamples {
    var samples = PageSamples()
    samples.begin()
    samples.picture("A", path: "a.png")
    samples.tell(.itemStart(.init(key: "B")), PageSamples.item("B"))
    samples.tell(
      .itemProgress(.init(bytes: 500, size: 1000, ratio: 0.5)), PageSamples.item("B", stage: "fetch"), at: 900)
    samples.failure("C")
    samples.tell(.itemStart(.init(key: "D")), PageSamples.item("D", host: "cdn.example:8080"))
    samples.tell(
      .itemRetry(.init(attempt: 1, delay: .seconds(1), error: PageSamples.missing("http.503"))),
      PageSamples.item("D", stage: "fetch", host: "cdn.example:8080"))
    samples.tell(
      .runProgress(
        .init(
          items: ItemCounts(total: 1000, ok: 1, failed: 1), bytesIn: 5_000_000, itemsPerSecond: 50,
          bytesPerSecond: 48_000_000, ratio: 0.002, eta: nil, inFlight: 2, stages: ["fetch": 2])), at: 1000)
    return samples
  }

  private func names(_ state: PageState, _ filter: PageItems.Filter) -> [String] {
    state.items.list(filter, offset: 0, limit: 100).places.map { state.items.entries[$0].name }
  }

  @Test func `items stand in the order in which they appeared, each in its state`() {
    let state = run().state()
    #expect(state.items.entries.map(\.state) == [.ok, .running, .failed, .waiting])
    #expect(state.items.entries.map(\.hasPicture) == [true, false, false, false])
    #expect(state.items.entries[1].ratio == 0.5)
    #expect(state.items.states[.running] == 1 && state.items.states[.queued] == 0)
  }

  @Test func `a list is held to state, stage, host, code and text`() {
    let state = run().state()
    #expect(names(state, .init(state: .failed)) == ["products/C"])
    #expect(names(state, .init(stage: "store")) == ["products/A"])
    #expect(names(state, .init(stage: "fetch")) == ["products/A", "products/B", "products/C", "products/D"])
    #expect(names(state, .init(host: "cdn.example:8080")) == ["products/D"])
    #expect(names(state, .init(code: "http.404")) == ["products/C"])
    #expect(names(state, .init(text: "example/b")) == ["products/B"])
    #expect(names(state, .init(text: "ts/c")) == ["products/C"])
    #expect(names(state, .init(source: "others")) == [])
    #expect(names(state, .init(source: "products", text: "nothing like it")) == [])
  }

  @Test func `a list comes in parts, each behind the last`() {
    let state = run().state()
    #expect(state.items.list(.init(), after: -1, limit: 2) == [0, 1])
    #expect(state.items.list(.init(), after: 1, limit: 9) == [2, 3])
    #expect(state.items.list(.init(stage: "fetch"), offset: 1, limit: 2).places == [1, 2])
    #expect(state.items.list(.init(stage: "fetch"), offset: 1, limit: 2).total == 4)
    #expect(state.items.list(.init(), offset: 99, limit: 2).places == [])
  }

  @Test func `the line says how far the run is, as people say it`() {
    let state = run().state()
    #expect(state.line == "2 of 1,000 · 48 MB/s · about 20 s left · 1 failed")
    #expect(PageWords.number(1_234_567) == "1,234,567" && PageWords.number(-999) == "-999")
    #expect(PageWords.time(0.2) == "1 s" && PageWords.time(89) == "89 s" && PageWords.time(600) == "10 min")
    #expect(PageState(name: "", graph: .init(), run: "", manifest: "", folder: nil).line == "waiting for a tap")
  }

  @Test func `stages count what goes through them, and what waits`() throws {
    let book = run().state().book
    let fetch = try #require(book.stages.first { $0.id == "fetch" })
    #expect(fetch.ok == 1 && fetch.failed == 1 && fetch.running == 2 && fetch.retrying == 1)
    let store = try #require(book.stages.first { $0.id == "store" })
    #expect(store.ok == 1 && store.failed == 0)
  }

  @Test func `what a stage says at its end is not counted twice`() throws {
    var samples = run()
    samples.tell(.stageEnd(.init(stage: "fetch", ok: 2, failed: 1, filtered: 0, elapsed: .seconds(1))))
    samples.picture("E", path: "e.png")
    let fetch = try #require(samples.state().book.stages.first { $0.id == "fetch" })
    #expect(fetch.ok == 2 && fetch.failed == 1)
  }

  @Test func `an item's history is read from the shelf, in order, and its own`() throws {
    let state = run().state()
    let history = state.shelf.history(state.items.entries[2].shelf, most: 10)
    let types = try history.map { try JSONReader.read($0).asMap?["type"]?.asString }
    #expect(types == ["item.start", "item.error", "item.end"])
    for event in history { #expect(try JSONReader.read(event).asMap?["item"]?.asString == "products/C") }
  }

  @Test func `another run takes the page over, and its messages are told apart`() {
    var state = run().state()
    var second = PageSamples(run: "R2")
    second.begin()
    second.picture("Z", path: "z.png")
    for event in second.events { state.handle(event) }
    #expect(state.epoch == 2 && state.book.run == "R2")
    #expect(state.items.entries.map(\.name) == ["products/Z"])
    var bytes: [UInt8] = []
    _ = state.shelf.read(from: 0, .all, into: &bytes, room: 1 << 20)
    #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("id: 2-0\nevent: stream.start\ndata: {"))
  }

  @Test func `an end that is told twice counts once`() {
    var samples = run()
    samples.picture("A", path: "a.png")
    let state = samples.state()
    #expect(state.book.counts.ok == 1 && state.items.states[.ok] == 1)
  }

  @Test func `a cancelled run is shown as cancelled, and only a page that can starts it again`() {
    var samples = run()
    samples.tell(
      .runEnd(.init(result: .cancelled, exit: 130, items: ItemCounts(total: 4, ok: 1, cancelled: 3), bytesIn: 1)))
    var state = samples.state()
    #expect(state.book.shown == .cancelled)
    #expect(state.items.states[.cancelled] == 2)
    var writer = JSONWriter()
    state.writeRun(&writer)
    #expect(writer.text.contains("\"moves\":[]"))
    state.canStart = true
    writer = JSONWriter()
    state.writeRun(&writer)
    #expect(writer.text.contains("\"moves\":[\"start\"]"))
  }

  @Test func `parts that are held back are known until they go on`() {
    var samples = run()
    samples.tell(.control(.init(verb: "pause --now", scope: "stage:fetch", by: "page", isAccepted: true, message: "")))
    samples.tell(.control(.init(verb: "pause", scope: "host:x", by: "page", isAccepted: false, message: "no")))
    #expect(samples.state().book.held == ["stage:fetch"])
    samples.tell(.control(.init(verb: "resume", scope: "stage:fetch", by: "ctl", isAccepted: true, message: "")))
    #expect(samples.state().book.held == [])
  }

  @Test func `changes are told since any number that is remembered, each item once`() throws {
    let state = run().state()
    #expect(state.items.changed(since: 0, most: 100) == [0, 1, 2, 3])
    #expect(state.items.changed(since: state.items.nextChange, most: 100) == [])
    #expect(state.items.changed(since: 0, most: 2) == nil)
    #expect(state.items.changed(since: state.items.nextChange + 1, most: 2) == nil)
  }

  @Test func `seconds in which nothing happens are zero, and old ones are forgotten`() {
    var recent = Recent()
    recent.add(items: 3, bytes: 10, at: .seconds(0))
    recent.add(items: 1, at: .seconds(3))
    #expect(recent.items == [3, 0, 0, 1] && recent.bytes == [10, 0, 0, 0])
    recent.advance(to: .seconds(Recent.span + 2))
    #expect(recent.items.count == Recent.span)
    #expect(recent.items.reduce(0, +) == 1)
    recent.advance(to: .seconds(10_000))
    #expect(recent.items.reduce(0, +) == 0)
  }

  @Test func `hosts are read off URLs, and nothing else is taken for one`() {
    #expect(PageItems.host("https://User:pw@H.example:8080/a@b?c#d") == "h.example:8080")
    #expect(PageItems.host("/a/b") == nil && PageItems.host("file:///a") == nil && PageItems.host("") == nil)
    #expect(PageItems.host("http://[::1]:80/x") == "[::1]:80")
  }
}
