import FlowBase
import FlowEvents

/// One event of each type, with everything filled in.
enum Samples {
  static let fault = EventError(
    Fault("http.404", .permanent, "no such file", httpStatus: 404, host: "h.example"), attempt: 2)
  static let output = Payload.Output(
    path: "a/256.webp", leg: ["w": 256, "fmt": "webp"], group: "cats", media: "image/webp", bytes: 18_231,
    sha256: "9f", width: 256, height: 192)
  static let subject = ItemSubject(
    item: "products/A1", index: 16, total: 1000, url: "https://h.example/a.jpg", source: "products", parent: "zip/7",
    stage: "fetch", attempt: 2)
  static let barrier = Payload.BarrierStart(stage: "sheet", per: "group", group: "cats", items: 7)

  static let payloads: [Payload] = [
    .streamStart(.init(tool: "0.1.0", manifest: "catalog.yaml", manifestSHA256: "9f86", resumedFrom: "R0")),
    .runStart(.init(sources: ["products"], stages: ["fetch", "store"], sinks: ["log"], output: "/out")),
    .runState(.init(from: .active, to: .paused, by: "ctl")),
    .runProgress(
      .init(
        items: ItemCounts(total: 10, ok: 3, cached: 1, filtered: 1, failed: 1, cancelled: 0), bytesIn: 5000,
        itemsPerSecond: 2.5, bytesPerSecond: 1000.1234, ratio: 0.5, eta: .milliseconds(2000), inFlight: 4)),
    .runEnd(end),
    .sourceEnd(.init(source: "products", items: 10, duplicates: 1)),
    .stageStart(.init(stage: "thumbs", op: "resize")),
    .stageEnd(.init(stage: "thumbs", ok: 8, failed: 1, filtered: 1, elapsed: .milliseconds(1500))),
    .barrierStart(barrier),
    .barrierEnd(.init(barrier, status: .failed, outputs: [output], error: fault)),
    .itemStart(.init(key: "A1", why: "new")),
    .itemProgress(.init(bytes: 524_288, size: 1_048_576, ratio: 0.5)),
    .itemRetry(.init(attempt: 2, delay: .milliseconds(500), error: fault)),
    .itemError(fault),
    .itemEnd(
      .init(
        status: .failed, isCached: false, isShared: true, attempts: 2, ratio: 0.5, outputs: [output], error: fault,
        reason: "gone", stages: [.init(stage: "fetch", elapsed: .milliseconds(12), isCached: true)])),
    .pluginStart(.init(plugin: "acme.crop", version: "1.2", pid: 77)),
    .pluginCrash(.init(plugin: "acme.crop", code: 1, signal: 11, stderr: "oh \"no\"\n")),
    .pluginNoise(.init(plugin: "acme.crop", line: "hello", count: 3)),
    .output(output),
    .sinkError(.init(sink: "hook", error: fault, missedFrom: 9)),
    .sinkDropped(.init(sink: "hook", type: .itemProgress, count: 12)),
    .control(.init(verb: "pause", by: "ctl", isAccepted: true, message: "paused")),
    .log(.init(.warn, "slow")),
    .diagnostic(
      .init(
        Diagnostic(
          "E0103", "unknown key `widht` in `resize`",
          at: Place(file: "catalog.yaml", mark: Mark(line: 31, column: 15, length: 5)), hint: "did you mean `width`?"))),
  ]

  static var end: Payload.RunEnd {
    var end = Payload.RunEnd(
      result: .failure, exit: 1, items: ItemCounts(total: 1000, ok: 981, cached: 700, filtered: 12, failed: 7),
      bytesIn: 98_213_004, errors: [.init(code: "http.404", count: 5), .init(code: "tls.expired", count: 2)])
    end.events = EventCounts([.streamStart: 1, .itemEnd: 1000, .itemProgress: 3100])
    end.dropped = EventCounts([.itemProgress: 12])
    return end
  }

  static func event(_ payload: Payload, seq: Int = 41) -> Event {
    Event(
      seq: seq, time: WallTime(microseconds: 1_795_195_800_000_000), elapsed: Interval(nanoseconds: 1_204_331_000),
      run: "01JD8Z6Q5W", subject: payload.type.isAboutItem || payload.type == .output ? subject : nil,
      payload: payload)
  }
}
