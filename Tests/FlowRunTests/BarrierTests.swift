import FlowBase
import FlowEvents
import FlowRun
import FlowTesting
import Testing

/// Stages that run once for a group or for the run.
@Suite struct BarrierTests {
  private let rows = """
    sources:
      - urls:
          - { url: "$URL/1", key: k1, row: { kind: cats } }
          - { url: "$URL/2", key: k2, row: { kind: dogs } }
          - { url: "$URL/3", key: k3, row: { kind: cats } }
          - { url: "$URL/4", key: k4, row: { kind: null } }
    """

  @Test func `A report stands behind all items and has a row for each output`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      \(rows)
      stages:
        - fetch
        - store: "${item.key}.txt"
        - report: { path: index.csv, columns: [key, path, bytes] }
      """)
    #expect(trial.exit == .done)
    #expect(
      scene.output("index.csv")?.split(whereSeparator: \.isNewline).map(String.init) == [
        "key,path,bytes", "k1,k1.txt,11", "k2,k2.txt,11", "k3,k3.txt,11", "k4,k4.txt,11",
      ])
    #expect(trial.barriers.map(\.status) == [.ok])
    #expect(trial.barriers.first?.barrier.items == 4)
  }

  @Test func `A stage per group runs once for each group, and an item without one is in none`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      \(rows)
      stages:
        - fetch
        - store: "${item.key}.txt"
        - report: { path: "by-${group}.csv", columns: [key] }
          per: { group: row.kind }
      """)
    #expect(trial.exit == .done)
    #expect(trial.barriers.map { "\($0.barrier.group ?? "-") \($0.barrier.items)" }.sorted() == ["cats 2", "dogs 1"])
    #expect(scene.outputs.filter { $0.hasSuffix("csv") } == ["by-cats.csv", "by-dogs.csv"])
    #expect(trial.count(.itemEnd) == 4)
  }

  @Test func `A group that is complete is worked on while another still waits for its items`() async throws {
    let release = Latch()
    let scene = try Scene { request in
      if request.path == "/2" { release.wait() }
      return .ok("bytes of \(request.path)")
    }
    let manifest = """
      \(rows)
      stages:
        - fetch
        - store: "${item.key}.txt"
        - report: { path: "by-${group}.csv", columns: [key] }
          per: { group: row.kind }
        - id: all
          report: { path: all.csv, columns: [key, path] }
          needs: [store, report]
          per: run
      """
    let trial = try await scene.run(
      manifest,
      follow: { _, event in
        // The other group's item is let go when this one's table is there.
        if case .barrierEnd(let end) = event.payload, end.barrier.group == "cats" { release.open() }
      })
    #expect(trial.exit == .done)
    #expect(trial.barriers.map { "\($0.barrier.group ?? "-") \($0.barrier.items)" } == ["cats 2", "dogs 1", "- 4"])
    #expect(scene.output("by-cats.csv")?.split(whereSeparator: \.isNewline) == ["key", "k1", "k3"])
    let order = trial.events.compactMap { event -> String? in
      if case .barrierEnd(let end) = event.payload { return end.barrier.group }
      return event.type == .itemEnd ? event.subject?.item : nil
    }
    #expect(order.firstIndex(of: "cats") ?? 9 < order.firstIndex(of: "urls/k2") ?? 0)
    let again = try await scene.run(manifest)
    #expect(again.exit == .done && again.items.cached == 4)
    #expect(again.barriers.count == 3)
  }

  @Test func `A group that fails early fails once, and the run with it`() async throws {
    let release = Latch()
    let scene = try Scene { request in
      if request.path == "/2" { release.wait() }
      return .ok("bytes of \(request.path)")
    }
    // A folder stands where the table of the cats is to go.
    try SmallFiles.makeFolder(scene.place.file("out/by-cats.csv"))
    let trial = try await scene.run(
      """
      \(rows)
      stages:
        - fetch
        - store: "${item.key}.txt"
        - report: { path: "by-${group}.csv", columns: [key] }
          per: { group: row.kind }
      """,
      follow: { _, event in
        if case .barrierEnd(let end) = event.payload, end.barrier.group == "cats" { release.open() }
      })
    #expect(trial.barriers.map { "\($0.barrier.group ?? "-") \($0.status)" } == ["cats failed", "dogs ok"])
    #expect(trial.exit == .failed || trial.exit == .disk)
    #expect(trial.items.ok == 4)
  }

  @Test func `A stage that gathers is not repeated while its results are the same`() async throws {
    let scene = try Scene { request in .ok("bytes of \(request.path)") }
    let text = """
      \(rows)
      stages:
        - fetch
        - store: "${item.key}.txt"
        - report: { path: index.csv, columns: [key] }
      """
    try await scene.run(text)
    let second = try await scene.run(text)
    #expect(second.exit == .done)
    #expect(second.items.cached == 4)
    #expect(second.count(.output) == 0)
    #expect(second.barriers.map(\.status) == [.ok])
    try FileSystem.remove(scene.place.file("out/index.csv"))
    let third = try await scene.run(text)
    #expect(third.count(.output) == 1)
    #expect(scene.output("index.csv") != nil)
    #expect(scene.server.requests.count == 4)
  }

  @Test func `One more item makes a stage that gathers run again over all`() async throws {
    let scene = try Scene()
    let stages = "stages: [fetch, { store: \"${item.key}.txt\" }, { report: { path: index.csv, columns: [key] } }]"
    try await scene.run("sources: [{ urls: \(String.addresses(2)) }]\n" + stages)
    let second = try await scene.run("sources: [{ urls: \(String.addresses(3)) }]\n" + stages)
    #expect(second.items.cached == 2)
    #expect(
      scene.output("index.csv")?.split(whereSeparator: \.isNewline).map(String.init) == ["key", "k1", "k2", "k3"])
  }

  @Test func `A stage that gathers and fails makes the run fail and no item`() async throws {
    let scene = try Scene()
    try SmallFiles.makeFolder(scene.place.file("out"))
    try SmallFiles.create(scene.place.file("out/index.csv"), [])
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(2)) }]
      output: { on_exists: fail }
      stages: [fetch, { store: "${item.key}" }, { report: { path: index.csv, columns: [key] } }]
      """)
    #expect(trial.exit == .failed)
    #expect(trial.items.ok == 2)
    #expect(trial.items.failed == 0)
    #expect(trial.barriers.map(\.status) == [.failed])
    #expect(trial.barriers.first?.error != nil)
    #expect(trial.outcome.end.errors.count == 1)
  }

  @Test func `Behind a run in which nothing succeeded, only what always runs does`() async throws {
    let scene = try Scene { _ in .status(404) }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(2)) }]
      stages:
        - fetch
        - store: "${item.key}"
        - id: usual
          report: { path: usual.csv, columns: [key] }
        - id: anyway
          needs: store
          report: { path: anyway.csv, columns: [key, status], include: all }
          if: always
      """)
    #expect(trial.exit == .failed)
    #expect(scene.outputs == ["anyway.csv"])
    #expect(trial.barriers.map(\.barrier.stage) == ["anyway"])
    let lines = scene.output("anyway.csv")?.split(whereSeparator: \.isNewline).map(String.init)
    #expect(lines == ["key,status,error", "k1,failed,http.404", "k2,failed,http.404"])
  }

  @Test func `A stage that gathers runs on its condition`() async throws {
    let scene = try Scene { $0.path == "/1" ? .status(404) : .ok("x") }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(4)) }]
      stages:
        - fetch
        - store: "${item.key}"
        - id: few
          report: { path: few.csv, columns: [key] }
          if: run.failed_ratio < 0.1
        - id: many
          needs: store
          report: { path: many.csv, columns: [key] }
          if: run.failed_ratio < 0.5
      """)
    #expect(trial.exit == .failed)
    #expect(scene.outputs.contains("many.csv"))
    #expect(!scene.outputs.contains("few.csv"))
  }

  @Test func `A report over legs of items that waited behind a gate misses none`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(30)) }]
      stages:
        - fetch
        - store: "${item.key}-${matrix.n}"
          matrix: { n: [1, 2] }
          after: fetch
        - report: { path: index.csv, columns: [key, path] }
      """, options: { $0.window = 4 })
    #expect(trial.exit == .done)
    #expect(scene.output("index.csv")?.split(whereSeparator: \.isNewline).count == 61)
    #expect(scene.outputs.count == 61)
  }

  @Test(arguments: ["", "after: fetch"])
  func `What a new condition drops is no longer in tables, and again when it goes`(gate: String) async throws {
    let scene = try Scene()
    func text(_ filter: String) -> String {
      """
      sources: [{ urls: \(String.addresses(3)) }]
      stages:
        - fetch
        \(filter)
        - store: "${item.key}-${matrix.to}.bin"
          matrix: { to: [a, b] }
          \(gate)
        - report: { path: all.csv, columns: [key, path] }
          needs: store
      """
    }
    func lines() -> [String] {
      (scene.output("all.csv") ?? "").split(whereSeparator: \.isNewline).dropFirst().map(String.init)
    }
    try await scene.run(text(""))
    let all = lines()
    #expect(all.count == 6)
    try await scene.run(text("- { filter: item.key != 'k2'\(gate.isEmpty ? "" : ", after: fetch") }"))
    #expect(lines() == all.filter { !$0.contains("k2") })
    try await scene.run(text(""))
    #expect(lines() == all)
  }

  @Test func `A run over a part of the items leaves the others in tables`() async throws {
    let isThere = Guarded(false)
    let scene = try Scene { request in
      request.path == "/2" && !isThere.withLock { $0 } ? .status(404) : .ok("bytes of \(request.path)")
    }
    let text = """
      sources: [{ urls: \(String.addresses(4)) }]
      stages:
        - fetch
        - store: "${item.key}.bin"
        - id: all
          report: { path: all.csv, columns: [key], include: all }
          needs: store
        - report: { path: "by-${group}.csv", columns: [key] }
          per: { group: "item.index % 2" }
          needs: store
      """
    func keys(_ path: String) -> [String] {
      (scene.output(path) ?? "").split(whereSeparator: \.isNewline).dropFirst().map(String.init)
    }
    try await scene.run(text)
    #expect(keys("by-0.csv") == ["k4"] && keys("by-1.csv") == ["k1", "k3"])
    isThere.withLock { $0 = true }
    // Cut off before any of it is done, which must lose nothing either.
    try await scene.run(text, options: { $0.deadline = .zero })
    let failed = try await scene.run(text, options: { $0.failedOnly = FailureFilter() })
    #expect(failed.exit == .done && failed.items.total == 1)
    #expect(failed.events.compactMap { $0.type == .itemEnd ? $0.subject?.index : nil } == [2])
    #expect(keys("all.csv").map { $0.prefix(2) } == ["k1", "k2", "k3", "k4"])
    #expect(keys("by-0.csv") == ["k2", "k4"], "\(failed.barriers)")
    #expect(failed.barriers.compactMap { $0.barrier.group == nil ? nil : $0.barrier.items } == [2])
    #expect(keys("by-1.csv") == ["k1", "k3"])
    // A group is another in which an item has moved.
    let moved = text.replacing("item.index % 2", with: "item.index % 2 + 2")
    try await scene.run(moved, options: { $0.take = 1 })
    #expect(keys("by-3.csv") == ["k1"])
    try await scene.run(moved)
    #expect(keys("by-2.csv") == ["k2", "k4"] && keys("by-3.csv") == ["k1", "k3"])
  }
}
