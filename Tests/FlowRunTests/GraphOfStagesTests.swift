import FlowBase
import FlowEvents
import FlowRun
import FlowTesting
import Testing

/// How items go through stages: conditions, filters, matrices, joins, gates.
@Suite struct GraphOfStagesTests {
  @Test func `A stage whose condition is false lets the item pass as it is`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(2)) }]
      stages:
        - fetch
        - id: note
          set: { mark: "seen" }
          if: item.key == 'k1'
        - write: { path: "${item.key}", text: "${item.mark ?? 'unseen'}" }
      """)
    #expect(trial.exit == .done)
    #expect(scene.output("k1") == "seen")
    #expect(scene.output("k2") == "unseen")
  }

  @Test func `A filter ends items without a failure`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(3)) }]
      stages:
        - filter: item.key != 'k2'
        - fetch
        - store: "${item.key}"
      """)
    #expect(trial.exit == .done)
    #expect(trial.items.filtered == 1)
    #expect(trial.end("k2")?.status == .filtered)
    #expect(trial.end("k2")?.reason != nil)
    #expect(scene.asked == ["/1", "/3"])
  }

  @Test func `A matrix makes legs, and an item ends with the last of them`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(2)) }]
      stages:
        - fetch
        - store: "${item.key}-${matrix.a}-${matrix.b}"
          matrix: { a: [1, 2], b: [x, y], exclude: [{ a: 2, b: y }] }
      """)
    #expect(trial.exit == .done)
    #expect(scene.outputs == ["k1-1-x", "k1-1-y", "k1-2-x", "k2-1-x", "k2-1-y", "k2-2-x"])
    #expect(scene.server.requests.count == 2)
    #expect(trial.end("k1")?.outputs.count == 3)
    #expect(trial.count(.output) == 6)
  }

  @Test func `A stage per item sees all legs of the stages that it needs`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(1)) }]
      stages:
        - fetch
        - id: sizes
          set: { size: "${matrix.n}" }
          matrix: { n: [1, 2, 3] }
        - id: join
          write: { path: "${item.key}.txt", text: "${from.sizes | len} legs, the last ${from.sizes[2].size}" }
          per: item
      """)
    #expect(trial.exit == .done)
    #expect(scene.output("k1.txt") == "3 legs, the last 3")
  }

  @Test func `A stage that needs several takes them by name`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(1)) }]
      stages:
        - fetch
        - id: left
          set: { word: "left" }
        - id: right
          needs: fetch
          set: { word: "right" }
        - id: both
          needs: [left, right]
          write: { path: both.txt, text: "${from.left.word} and ${from.right.word}" }
      """)
    #expect(trial.exit == .done)
    #expect(scene.output("both.txt") == "left and right")
  }

  @Test func `Behind a gate nothing starts before all is done in front of it`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(20)) }]
      stages:
        - fetch
        - id: keep
          store: "${item.key}"
          after: fetch
      """)
    #expect(trial.exit == .done)
    #expect(scene.outputs.count == 20)
    let fetched = try #require(trial.first { $0.payload.stageEnd == "fetch" })
    let kept = try #require(trial.first { $0.type == .output })
    #expect(fetched < kept)
  }

  @Test(arguments: [1, 2, 7])
  func `Items that wait behind a gate leave the window and come back with all that they had`(
    window: Int
  ) async throws {
    let scene = try Scene { $0.path == "/9" ? .status(404) : .ok("bytes of \($0.path)") }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(50)) }]
      stages:
        - fetch
        - id: mark
          set: { twice: "${item.bytes * 2}" }
        - id: keep
          store: "${item.key}-${item.twice}"
          after: fetch
      """, options: { $0.window = window })
    #expect(trial.exit == .failed)
    #expect(trial.items.ok == 49)
    #expect(trial.items.failed == 1)
    #expect(scene.server.requests.count == 50)
    #expect(scene.outputs.count == 49)
    #expect(scene.output("k7-22") == "bytes of /7")
    #expect(scene.output("k50-24") == "bytes of /50")
    let fetched = try #require(trial.first { $0.payload.stageEnd == "fetch" })
    let kept = try #require(trial.first { $0.type == .output })
    #expect(fetched < kept)
  }

  @Test func `Gates behind gates open one after the other`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(12)) }]
      stages:
        - fetch
        - id: one
          set: { a: 1 }
          after: fetch
        - id: two
          store: "${item.key}-${item.a}"
          after: one
      """, options: { $0.window = 3 })
    #expect(trial.exit == .done)
    #expect(scene.outputs.count == 12)
    #expect(trial.count(.itemEnd) == 12)
  }

  @Test func `Filtered and failed items hold no gate shut`() async throws {
    let scene = try Scene { $0.path == "/1" ? .status(404) : .ok("x") }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(4)) }]
      stages:
        - filter: item.key != 'k2'
        - fetch
        - id: keep
          store: "${item.key}"
          after: fetch
      """)
    #expect(scene.outputs == ["k3", "k4"])
    #expect(trial.items.filtered == 1)
    #expect(trial.items.failed == 1)
  }

  @Test func `A stage's concurrency bounds how many work at once`() async throws {
    let busy = Guarded((now: 0, most: 0))
    let scene = try Scene { _ in
      busy.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      defer { busy.withLock { $0.now -= 1 } }
      return .ok("x").delayed(by: .milliseconds(1))
    }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(12)) }]
      stages:
        - fetch: {}
          concurrency: 2
      """)
    #expect(trial.exit == .done)
    #expect(busy.withLock { $0.most } <= 2)
  }

  @Test func `A stage's interval keeps its starts apart`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(4)) }]
      stages:
        - fetch: {}
          interval: 40ms
      """)
    #expect(trial.exit == .done)
    // By the run's own clock: requests take their time to the server.
    let starts = trial.events.filter { $0.type == .itemStart }.map(\.elapsed)
    #expect(starts.count == 4)
    for (earlier, later) in zip(starts, starts.dropFirst()) { #expect(later >= earlier + .milliseconds(40)) }
  }

  @Test func `Stages that share a pool share its tokens`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      limits: { pools: { press: 1 } }
      sources: [{ urls: \(String.addresses(6)) }]
      stages:
        - fetch: {}
          pool: press
        - store: "${item.key}"
          pool: press
      """)
    #expect(trial.exit == .done)
    #expect(scene.outputs.count == 6)
  }
}

extension Payload {
  /// The stage that has ended, if this says so.
  var stageEnd: String? { if case .stageEnd(let end) = self { end.stage } else { nil } }
  /// The stage that has started, if this says so.
  var stageStart: String? { if case .stageStart(let start) = self { start.stage } else { nil } }
}
