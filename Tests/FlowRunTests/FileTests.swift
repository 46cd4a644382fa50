import FlowBase
import FlowEvents
import FlowRun
import FlowTesting
import Testing

/// What happens to files that are there already, and to paths that two items want.
@Suite struct FileTests {
  @Test func `A sidecar is the same after each run, and says nothing of where the bytes lay on their way`() async throws
  {
    let scene = try Scene()
    let manifest = "sources: [\"$URL/a\"]\nstages: [fetch, { store: { path: a, sidecar: json } }]"
    try await scene.run(manifest)
    let first = try #require(scene.output("a.txt.json"))
    let item = try JSONReader.read(Array(first.utf8)).asMap?["item"]?.asMap
    #expect(item?["path"] == nil && item?["sha256"] != nil)
    try await scene.run(manifest, options: { $0.fresh = true })
    #expect(scene.output("a.txt.json") == first)
  }

  @Test func `Of two items that want one path the second fails`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(2)) }]
      stages:
        - fetch: {}
          concurrency: 1
        - store: "same"
      """)
    #expect(trial.exit == .failed)
    #expect(trial.items.ok == 1)
    #expect(trial.outcome.end.errors == [CodeCount(code: "path.collision", count: 1)])
    #expect(scene.outputs == ["same"])
  }

  @Test(arguments: [
    ("keep", "bytes of /1", ItemStatus.ok), ("skip", "there before", .ok), ("overwrite", "bytes of /1", .ok),
    ("fail", "there before", .failed),
  ])
  func `A file that this run has not made is treated as the manifest says`(
    word: String, bytes: String, status: ItemStatus
  ) async throws {
    let scene = try Scene()
    try SmallFiles.makeFolder(scene.place.file("out"))
    try SmallFiles.create(scene.place.file("out/k1.txt"), Array("there before".utf8))
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(1)) }]
      output: { on_exists: \(word) }
      stages: [fetch, { store: "${item.key}.txt" }]
      """)
    #expect(trial.end("k1")?.status == status)
    #expect(scene.output("k1.txt") == bytes)
  }
}

/// Hosts that are slow, strict or shy.
@Suite struct HostTests {
  @Test func `A slow host delays no other`() async throws {
    let release = Latch()
    let slow = try LoopbackServer { _ in
      release.wait()
      return .ok("slow")
    }
    let scene = try Scene()
    var fast = 0
    let trial = try await scene.run(
      """
      sources:
        - { id: slow, urls: [\((1...20).map { "\"\(slow.url)/\($0)\"" }.joined(separator: ", "))] }
        - { id: fast, urls: \(String.addresses(20)) }
      stages: [fetch]
      """,
      follow: { _, event in
        guard event.type == .itemEnd, event.subject?.source == "fast" else { return }
        fast += 1
        // The slow host answers nothing before all of the fast one is done.
        if fast == 20 { release.open() }
      })
    #expect(trial.exit == .done)
    #expect(trial.items.ok == 40)
    let lastFast = try #require(trial.last { $0.type == .itemEnd && $0.subject?.source == "fast" })
    let firstSlow = try #require(trial.first { $0.type == .itemEnd && $0.subject?.source == "slow" })
    #expect(lastFast < firstSlow)
  }

  @Test func `A host's connections bound its requests in flight`() async throws {
    let busy = Guarded((now: 0, most: 0))
    let scene = try Scene { _ in
      busy.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      defer { busy.withLock { $0.now -= 1 } }
      return .ok("x")
    }
    let trial = try await scene.run(
      """
      hosts: { "127.0.0.1": { connections: 2 } }
      sources: [{ urls: \(String.addresses(20)) }]
      stages: [fetch]
      """)
    #expect(trial.exit == .done)
    #expect(busy.withLock { $0.most } <= 2)
  }

  @Test func `A host's interval keeps its requests apart`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      hosts: { "127.0.0.1": { interval: 40ms } }
      sources: [{ urls: \(String.addresses(4)) }]
      stages: [fetch]
      """)
    #expect(trial.exit == .done)
    let starts = trial.events.filter { $0.type == .itemStart }.map(\.elapsed)
    #expect(starts.count == 4)
    for (earlier, later) in zip(starts, starts.dropFirst()) { #expect(later >= earlier + .milliseconds(40)) }
  }

  @Test func `A host that refuses for a second is asked again after it`() async throws {
    let scene = try Scene { $0.attempt == 1 && $0.path == "/1" ? .tooMany(retryAfter: "1") : .ok("x") }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(3)) }]
      stages:
        - fetch: {}
          concurrency: 1
          retry: { attempts: 3, backoff: 1ms }
      """)
    #expect(trial.exit == .done)
    let again = scene.server.requests(for: "/1").map(\.time)
    #expect(again.count == 2)
    #expect(try #require(again.last) - (try #require(again.first)) >= .milliseconds(990))
  }
}
