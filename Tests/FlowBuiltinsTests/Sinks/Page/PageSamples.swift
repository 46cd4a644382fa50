import FlowBase
import FlowEvents
import FlowParts

@testable import FlowBuiltins

/// Events of a made-up run, numbered as a run numbers them.
struct PageSamples {
  private(set) var events: [Event] = []
  var run = "R1"

  init(run: String = "R1") { self.run = run }

  mutating func tell(_ payload: Payload, _ subject: ItemSubject? = nil, at milliseconds: Int = 1) {
    events.append(
      Event(
        seq: events.count, time: WallTime(microseconds: 1_795_195_800_000_000), elapsed: .milliseconds(milliseconds),
        run: run, subject: subject, payload: payload))
  }

  mutating func begin() {
    tell(.streamStart(.init(tool: "0.1.0", manifest: "catalog.yaml")))
    tell(.runState(.init(from: .idle, to: .active, by: "start")))
  }

  static func item(_ key: String, stage: String? = nil, host: String = "h.example") -> ItemSubject {
    ItemSubject(
      item: "products/\(key)", index: 1, total: 3, url: "https://\(host)/\(key).png", source: "products", stage: stage)
  }

  static func missing(_ code: String = "http.404") -> EventError {
    EventError(Fault(code, .permanent, "h.example answered 404", httpStatus: 404, host: "h.example"), attempt: 1)
  }

  /// An item that became a picture.
  mutating func picture(_ key: String, path: String, digest: String = "00") {
    tell(.itemStart(.init(key: key)), Self.item(key))
    let output = Payload.Output(
      path: path, media: "image/png", bytes: 70, sha256: digest, width: 8, height: 8)
    tell(
      .itemEnd(
        .init(
          status: .ok, ratio: 1, outputs: [output],
          stages: [
            .init(stage: "fetch", elapsed: .milliseconds(300)), .init(stage: "store", elapsed: .milliseconds(2)),
          ])
      ), Self.item(key))
  }

  /// An item that failed.
  mutating func failure(_ key: String, _ code: String = "http.404") {
    tell(.itemStart(.init(key: key)), Self.item(key))
    tell(.itemError(Self.missing(code)), Self.item(key, stage: "fetch"))
    tell(
      .itemEnd(
        .init(status: .failed, error: Self.missing(code), stages: [.init(stage: "fetch", elapsed: .milliseconds(3))])),
      Self.item(key))
  }

  static var graph: GraphSketch {
    var graph = GraphSketch()
    graph.sources = [.init(id: "products", op: "file")]
    graph.stages = [
      .init(id: "fetch", op: "fetch", per: "leg", needs: [], after: []),
      .init(id: "store", op: "store", per: "leg", needs: [0], after: []),
    ]
    return graph
  }

  /// A page's state after all of them.
  func state(folder: String? = nil) -> PageState {
    var state = PageState(name: "", graph: Self.graph, run: run, manifest: "catalog.yaml", folder: folder)
    for event in events { state.handle(event) }
    return state
  }
}
