internal import FlowBase
internal import FlowEvents
internal import FlowParts

/// What the page's addresses answer, as JSON.
extension PageState {
  /// The run as a whole.
  func writeRun(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.value(of: "run", .string(book.run))
    writer.value(of: "epoch", .int(epoch))
    writer.value(of: "name", .string(name))
    writer.value(of: "manifest", .string(book.manifest))
    writer.value(of: "state", .string(book.state.rawValue))
    writer.value(of: "shown", .string(book.shown.rawValue))
    writer.value(of: "result", book.end.map { .string($0.result.rawValue) } ?? .null)
    writer.value(of: "exit", book.end.map { .int($0.exit) } ?? .null)
    writer.value(of: "moves", .list(moves.map(Value.string)))
    writer.value(of: "line", .string(line))
    writer.value(of: "ratio", book.ratio.map(Value.double) ?? .null)
    writer.value(of: "ms", .double(book.elapsed.milliseconds))
    writer.key("items")
    writeCounts(&writer)
    writer.value(of: "bytes_in", .int(book.bytesIn))
    writer.value(of: "bytes_per_s", .double(book.bytesPerSecond.rounded()))
    writer.value(of: "items_per_s", .double((book.itemsPerSecond * 10).rounded() / 10))
    writer.value(of: "eta_s", book.secondsLeft.map { .double($0.rounded()) } ?? .null)
    writer.value(of: "in_flight", .int(book.inFlight))
    writer.value(of: "outputs", .int(book.outputs))
    writer.value(of: "output_bytes", .int(book.outputBytes))
    writer.value(of: "listed", .int(items.entries.count))
    writer.value(of: "held", .list(book.held.map(Value.string)))
    writer.value(of: "hosts", .list(items.hosts.all.prefix(50).map(Value.string)))
    writer.key("sources")
    writer.list(book.sources) { writeSource($0, &$1) }
    writer.key("stages")
    writer.list(book.stages) { writeStage($0, &$1) }
    writer.key("failures")
    writer.list(book.groups.sorted.prefix(30)) { writeGroup($0, &$1) }
    writer.key("throughput")
    writer.value([
      "second": .int(book.recent.second), "items": .list(book.recent.items.map(Value.int)),
      "bytes": .list(book.recent.bytes.map(Value.int)),
    ])
    writer.key("notes")
    writer.list(book.notes.suffix(30)) { note, writer in
      writer.beginObject()
      writer.key("time")
      writer.time(note.time)
      writer.value(of: "level", .string(note.level))
      writer.value(of: "text", .string(note.text))
      writer.endObject()
    }
    if let fault = shelf.fault { writer.value(of: "warning", .string(fault.message)) }
    writer.endObject()
  }

  /// What the run can be asked for now.
  private var moves: [String] {
    book.state.moves.filter { $0 != .start || canStart }.map(\.rawValue)
  }

  private func writeCounts(_ writer: inout JSONWriter) {
    let counts = book.counts
    writer.value([
      "total": book.total.map(Value.int) ?? .null, "ok": .int(counts.ok), "cached": .int(counts.cached),
      "filtered": .int(counts.filtered), "failed": .int(counts.failed), "cancelled": .int(counts.cancelled),
      "running": .int(items.states[.running] ?? 0), "waiting": .int(items.states[.waiting] ?? 0),
      "queued": book.total.map { .int(max(0, $0 - counts.ended - (items.states[.running] ?? 0) - waitingItems)) }
        ?? .null,
    ])
  }

  private var waitingItems: Int { items.states[.waiting] ?? 0 }

  private func writeSource(_ source: PageBook.Source, _ writer: inout JSONWriter) {
    writer.value([
      "id": .string(source.id), "op": .string(source.op), "total": source.total.map(Value.int) ?? .null,
      "seen": .int(source.seen), "ended": .int(source.ended), "failed": .int(source.failed),
      "done": .bool(source.hasEnded),
    ])
  }

  private func writeStage(_ stage: PageBook.Stage, _ writer: inout JSONWriter) {
    writer.value([
      "id": .string(stage.id), "op": .string(stage.op), "running": .int(stage.running),
      "retrying": .int(stage.retrying), "ok": .int(stage.ok), "failed": .int(stage.failed),
      "filtered": .int(stage.filtered), "ms": .double(stage.busy.milliseconds.rounded()), "done": .bool(stage.hasEnded),
    ])
  }

  private func writeGroup(_ group: FailureGroups.Group, _ writer: inout JSONWriter) {
    writer.value([
      "code": .string(group.code), "host": group.host.map(Value.string) ?? .null, "n": .int(group.count),
      "stage": .string(group.stage), "example": .string(group.example), "message": .string(group.message),
    ])
  }

  /// How far the run is, for people: `312 of 1,000 · 48 MB/s · about 20 s left`.
  var line: String { PageWords.line(book) }

  /// One item, as small as it goes.
  func writeTile(_ place: Int, _ writer: inout JSONWriter) {
    let entry = items.entries[place]
    writer.beginObject()
    writer.value(of: "n", .int(place))
    writer.value(of: "item", .string(entry.name))
    writer.value(of: "state", .string(entry.state.rawValue))
    if let url = entry.url { writer.value(of: "url", .string(url)) }
    writer.value(of: "ratio", entry.ratio < 0 ? .null : .double(Double((entry.ratio * 1000).rounded()) / 1000))
    if entry.bytes > 0 { writer.value(of: "bytes", .int(entry.bytes)) }
    if entry.isCached { writer.value(of: "cached", true) }
    if entry.hasPicture { writer.value(of: "picture", true) }
    if entry.attempts > 1 { writer.value(of: "attempts", .int(Int(entry.attempts))) }
    if let code = items.codes[entry.code] { writer.value(of: "code", .string(code)) }
    if !entry.state.isFinal, let stage = items.stages[entry.stage] { writer.value(of: "stage", .string(stage)) }
    writer.endObject()
  }

  /// A part of the list of items.
  func writeList(_ places: [Int], total: Int?, _ writer: inout JSONWriter) {
    writer.beginObject()
    if let total { writer.value(of: "total", .int(total)) }
    writer.value(of: "after", places.last.map(Value.int) ?? .null)
    if items.unlisted > 0 { writer.value(of: "unlisted", .int(items.unlisted)) }
    writer.key("items")
    writer.list(places) { writeTile($0, &$1) }
    writer.endObject()
  }

  /// Everything about an item.
  func writeItem(_ place: Int, advice: (String) -> String?, _ writer: inout JSONWriter) {
    let entry = items.entries[place]
    let visited = items.stages.all.enumerated().filter { entry.stages & PageItems.bit(Int32($0.offset)) != 0 }
    writer.beginObject()
    writer.value(of: "n", .int(place))
    writer.value(of: "item", .string(entry.name))
    writer.value(of: "index", .int(entry.index))
    writer.value(of: "source", items.sources[entry.source].map(Value.string) ?? .null)
    writer.value(of: "host", items.hosts[entry.host].map(Value.string) ?? .null)
    writer.value(of: "url", entry.url.map(Value.string) ?? .null)
    writer.value(of: "state", .string(entry.state.rawValue))
    writer.value(of: "cached", .bool(entry.isCached))
    writer.value(of: "picture", .bool(entry.hasPicture))
    writer.value(of: "attempts", .int(Int(entry.attempts)))
    writer.value(of: "bytes", .int(entry.bytes))
    writer.value(of: "stages", .list(visited.map { .string($0.element) }))
    let code = items.codes[entry.code]
    writer.value(of: "code", code.map(Value.string) ?? .null)
    writer.value(of: "advice", code.flatMap(advice).map(Value.string) ?? .null)
    writer.key("history")
    writer.beginArray()
    for event in shelf.history(entry.shelf, most: 200) { writer.raw(event) }
    writer.endArray()
    writer.endObject()
  }

  /// The graph, with what moves through it.
  func writeGraph(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("sources")
    writer.list(book.sources) { writeSource($0, &$1) }
    writer.key("stages")
    writer.list(book.stages) { stage, writer in
      let drawn = graph.stages.first { $0.id == stage.id }
      let names = { (places: [Int]) in
        Value.list(places.filter(graph.stages.indices.contains).map { .string(graph.stages[$0].id) })
      }
      writer.value([
        "id": .string(stage.id), "op": .string(stage.op), "per": .string(drawn?.per ?? "item"),
        "needs": names(drawn?.needs ?? []), "after": names(drawn?.after ?? []),
        "concurrency": drawn?.concurrency.map(Value.int) ?? .null, "running": .int(stage.running),
        "retrying": .int(stage.retrying), "ok": .int(stage.ok), "failed": .int(stage.failed),
        "filtered": .int(stage.filtered), "ms": .double(stage.busy.milliseconds.rounded()),
      ])
    }
    writer.key("sinks")
    writer.list(graph.sinks) { $1.value(["id": .string($0.id), "op": .string($0.op)]) }
    writer.endObject()
  }
}

extension JSONWriter {
  mutating func value(of name: String, _ value: Value) {
    key(of: name)
    self.value(value)
  }

  mutating func list<Elements: Sequence>(_ elements: Elements, _ write: (Elements.Element, inout JSONWriter) -> Void) {
    beginArray()
    for element in elements { write(element, &self) }
    endArray()
  }
}
