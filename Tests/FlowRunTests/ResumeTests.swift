import FlowBase
import FlowEvents
import FlowRun
import FlowTesting
import Testing

@testable import FlowStore

/// What a second run finds done, and what it does again.
@Suite struct ResumeTests {
  private func manifest(_ count: Int, name: String = "${item.key}", before: String = "") -> String {
    """
    sources: [{ urls: \(String.addresses(count)) }]
    stages: [fetch, \(before) { store: "\(name)" }]
    """
  }

  @Test func `A second run asks for nothing and finds everything done`() async throws {
    let scene = try Scene()
    #expect(try await scene.run(manifest(5)).exit == .done)
    let second = try await scene.run(manifest(5))
    #expect(second.exit == .done)
    #expect(second.items.ok == 5)
    #expect(second.items.cached == 5)
    #expect(second.outcome.end.bytesIn == 0)
    #expect(second.ends.values.allSatisfy { $0.isCached && $0.outputs.count == 1 })
    #expect(scene.server.requests.count == 5)
  }

  @Test func `A run says which one it goes on from`() async throws {
    let scene = try Scene()
    let first = try await scene.run(manifest(1))
    let second = try await scene.run(manifest(1))
    let run = try #require(first.events.first?.run)
    guard case .streamStart(let start)? = second.events.first?.payload else {
      Issue.record("no stream.start")
      return
    }
    #expect(start.resumedFrom == run)
  }

  @Test func `Another name for the outputs needs no second download`() async throws {
    let scene = try Scene()
    try await scene.run(manifest(3))
    let second = try await scene.run(manifest(3, name: "new-${item.key}"))
    #expect(second.exit == .done)
    #expect(second.items.ok == 3)
    #expect(second.items.cached == 0)
    #expect(scene.server.requests.count == 3)
    #expect(scene.output("new-k2") == "bytes of /2")
    #expect(second.end("k2")?.stages.first { $0.stage == "fetch" }?.isCached == true)
  }

  private func gated(_ name: String) -> String {
    """
    sources: [{ urls: \(String.addresses(12)) }]
    stages: [fetch, { store: "\(name)", after: fetch }]
    """
  }

  /// With a small window items leave it in front of the gate, and with a large one none does.
  @Test(arguments: [2, 100])
  func `What came from an earlier run is told so behind a gate too`(window: Int) async throws {
    let scene = try Scene()
    try await scene.run(manifest(12))
    let second = try await scene.run(gated("new-${item.key}"), options: { $0.window = window })
    #expect(second.exit == .done && second.items.ok == 12)
    #expect(scene.server.requests.count == 12)
    for (name, end) in second.ends {
      #expect(end.stages.map { "\($0.stage) \($0.isCached)" } == ["fetch true", "store false"], "\(name)")
      #expect(end.attempts == 0, "\(name)")
    }
  }

  @Test(arguments: [2, 100])
  func `What was fetched before a gate needs no second download under another name`(window: Int) async throws {
    let scene = try Scene()
    try await scene.run(gated("${item.key}"), options: { $0.window = window })
    let second = try await scene.run(gated("new-${item.key}"), options: { $0.window = window })
    #expect(second.exit == .done && second.items.ok == 12)
    #expect(scene.server.requests.count == 12)
  }

  @Test(arguments: [2, 100])
  func `What is kept of failed items stays through a run in which they fail behind a gate`(window: Int) async throws {
    let scene = try Scene()
    try SmallFiles.makeFolder(scene.place.file("out"))
    for number in 1...12 { try SmallFiles.create(scene.place.file("out/k\(number).txt"), []) }
    let refusal = "\noutput: { on_exists: fail }"
    #expect(try await scene.run(manifest(12) + refusal).items.failed == 12)
    #expect(try await scene.run(gated("${item.key}") + refusal, options: { $0.window = window }).items.failed == 12)
    let third = try await scene.run(gated("new-${item.key}"), options: { $0.window = window })
    #expect(third.exit == .done && third.items.ok == 12)
    #expect(scene.server.requests.count == 12)
  }

  @Test func `Files with which items waited behind a gate are gone when they are through`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(gated("${item.key}"), options: { $0.window = 2 })
    #expect(trial.exit == .done && trial.items.ok == 12)
    #expect(scene.temporaryNames == [])
  }

  @Test func `A fetch that is configured otherwise is made again`() async throws {
    let scene = try Scene()
    let text = manifest(2)
    try await scene.run(text)
    try await scene.run(text.replacing("[fetch,", with: "[{ fetch: { headers: { x-a: b } } },"))
    #expect(scene.server.requests.count == 4)
    #expect(scene.server.requests.last?.header("x-a") == "b")
  }

  @Test func `A remark in the manifest makes nothing run again`() async throws {
    let scene = try Scene()
    try await scene.run(manifest(2))
    let second = try await scene.run("# a remark\nname: other\n" + manifest(2))
    #expect(second.items.cached == 2)
    #expect(scene.server.requests.count == 2)
  }

  @Test func `Outputs that were deleted or altered are mended, and only those`() async throws {
    let scene = try Scene()
    try await scene.run(manifest(4))
    let names = try SmallFiles.names(in: scene.place.file("out")).sorted()
    try FileSystem.remove(scene.place.file("out/\(names[0])"))
    try SmallFiles.replace(scene.place.file("out/\(names[1])"), Array("altered!".utf8))
    let second = try await scene.run(manifest(4))
    #expect(second.exit == .done)
    #expect(second.items.ok == 4)
    #expect(second.items.cached == 2)
    #expect(scene.output("k1") == "bytes of /1")
    #expect(scene.output("k2") == "bytes of /2")
    #expect(scene.server.requests.count == 6)
    #expect(try await scene.run(manifest(4)).items.cached == 4)
  }

  /// Changes a file as a disk does it that forgets: all that the journal knows of the file's stamp is right.
  private func rot(_ name: String, _ scene: Scene) throws {
    let path = scene.place.file("out/\(name)")
    try SmallFiles.replace(path, Array("bytes of /x".utf8))
    let stamp = FileStamp(try FileSystem.facts(path))
    try Database(path: scene.place.file(".imgflow/scene/journal.sqlite"), isReadOnly: false).run(
      """
      UPDATE outputs SET modified = \(stamp.modified), changed = \(stamp.changed), inode = \(stamp.inode)
      WHERE path = '\(name)'
      """)
  }

  @Test func `A change that keeps size and times is found by digest, and by nothing else`() async throws {
    let scene = try Scene()
    let text = manifest(3, name: "${item.key}.bin")
    try await scene.run(text)
    try rot("k2.bin", scene)
    #expect(try await scene.run(text).items.cached == 3)
    #expect(scene.output("k2.bin") == "bytes of /x")

    let checked = try await scene.run(text, options: { $0.checksDigests = true })
    #expect(checked.items.cached == 2 && checked.items.ok == 3)
    #expect(scene.output("k2.bin") == "bytes of /2")
    #expect(scene.server.requests.count == 4)
    #expect(try await scene.run(text, options: { $0.checksDigests = true }).items.cached == 3)
    #expect(scene.server.requests.count == 4)
  }

  @Test func `What failed is tried again, with what did not`() async throws {
    let isWell = Guarded(false)
    let scene = try Scene { request in
      request.path == "/2" && !isWell.withLock { $0 } ? .status(404) : .ok("x")
    }
    #expect(try await scene.run(manifest(3)).exit == .failed)
    isWell.withLock { $0 = true }
    let second = try await scene.run(manifest(3))
    #expect(second.exit == .done)
    #expect(second.items.cached == 2)
    #expect(scene.asked == ["/1", "/2", "/2", "/3"])
  }

  @Test func `Only what failed last time takes part where that is asked for`() async throws {
    let scene = try Scene { request in
      request.path == "/2" ? .status(404) : request.path == "/3" ? .status(410) : .ok("x")
    }
    try await scene.run(manifest(4))
    let second = try await scene.run(manifest(4), options: { $0.failedOnly = FailureFilter(codes: ["http.410"]) })
    #expect(second.ends.keys.sorted() == ["urls/k3"])
    #expect(scene.server.requests.count == 5)
    let third = try await scene.run(manifest(4), options: { $0.failedOnly = FailureFilter() })
    #expect(third.ends.keys.sorted() == ["urls/k2", "urls/k3"])
  }

  @Test func `Everything is done again where that is asked for`() async throws {
    let scene = try Scene()
    try await scene.run(manifest(2))
    let second = try await scene.run(manifest(2), options: { $0.fresh = true })
    #expect(second.items.cached == 0)
    #expect(scene.server.requests.count == 4)
  }

  @Test func `Where everything is done again, no file is believed to be what it was`() async throws {
    let scene = try Scene()
    let text = manifest(2, name: "${item.key}.bin")
    try await scene.run(text)
    try rot("k1.bin", scene)
    #expect(scene.output("k1.bin") == "bytes of /x")
    try await scene.run(text, options: { $0.fresh = true })
    #expect(scene.output("k1.bin") == "bytes of /1")
  }

  @Test func `Filtered items stay filtered without being asked for`() async throws {
    let scene = try Scene()
    let text = """
      sources: [{ urls: \(String.addresses(3)) }]
      stages: [fetch, { filter: "item.key != 'k1'" }, { store: "${item.key}" }]
      """
    try await scene.run(text)
    let second = try await scene.run(text)
    #expect(second.items.filtered == 1)
    #expect(second.items.cached == 2)
    #expect(scene.server.requests.count == 3)
  }

  @Test func `What was cancelled is done by the next run`() async throws {
    let isSilent = Guarded(true)
    let scene = try Scene { request in
      request.path == "/3" && isSilent.withLock { $0 } ? .silence : .ok("bytes of \(request.path)")
    }
    let first = try await scene.run(
      manifest(3),
      follow: { runner, event in
        // The two others are done when the third alone is left.
        guard case .itemEnd = event.payload else { return }
        if scene.outputs.count == 2 { _ = await runner.request(ControlRequest(.cancel, by: "test")) }
      })
    #expect(first.exit == .interrupted)
    #expect(first.end("k3")?.status == .cancelled)
    isSilent.withLock { $0 = false }
    let second = try await scene.run(manifest(3))
    #expect(second.exit == .done)
    #expect(second.items.cached == 2)
    #expect(scene.output("k3") == "bytes of /3")
  }

  @Test func `Outputs that no item makes any more are removed on request`() async throws {
    let scene = try Scene()
    try await scene.run(manifest(3))
    try await scene.run(manifest(1), options: { $0.prunes = true })
    #expect(scene.outputs == ["k1"])
  }

  @Test func `The files of a source that gives nothing any more stay, until it is taken out`() async throws {
    let scene = try Scene()
    func text(_ sources: String, report: String = "one.csv") -> String {
      """
      sources: [\(sources)]
      hosts: { "127.0.0.1": { allow: true } }
      stages:
        - fetch
        - { id: file, store: "${item.source}-${item.key}.bin" }
        - { report: \(report), needs: file }
        - { id: tables, report: "${group}.csv", needs: file, per: { group: item.source } }
      """
    }
    let kept = "{ id: kept, urls: \(String.addresses(1)) }"
    let both = "\(kept), { id: list, file: list.txt }"
    let path = scene.place.file("list.txt")
    let addresses = (1...2).map { "\(scene.server.url)/\($0)\n" }
    try SmallFiles.replace(path, Array(addresses.joined().utf8))
    #expect(try await scene.run(text(both)).exit == .done)
    let all = scene.outputs
    #expect(all.count == 6 && all.contains("list.csv"))

    // A table of all items is another's matter.
    try SmallFiles.replace(path, [])
    for _ in 0..<2 {
      let emptied = try await scene.run(text(both, report: "two.csv"), options: { $0.prunes = true })
      #expect(emptied.exit == .done && scene.outputs == all.map { $0 == "one.csv" ? "two.csv" : $0 }.sorted())
      #expect(emptied.log.contains { $0.contains("kept 2 files of the source `list`") }, "\(emptied.log)")
    }
    #expect(try await Forecaster(try scene.plan(text(both, report: "two.csv"))).forecast().orphans.isEmpty)

    // What a run over a part of the items sees is not what the source gives.
    try SmallFiles.replace(path, Array(addresses[0].utf8))
    try await scene.run(text(both))
    try await scene.run(text(both), options: { $0.failedOnly = FailureFilter() })
    #expect(try await Forecaster(try scene.plan(text(both))).forecast().orphans.count == 2)
    try await scene.run(text(both), options: { $0.prunes = true })
    #expect(scene.outputs.count == 5 && scene.outputs.filter { $0.hasPrefix("list-") }.count == 1)

    try await scene.run(text(kept), options: { $0.prunes = true })
    #expect(scene.outputs == ["kept-k1.bin", "kept.csv", "one.csv"])
  }

  @Test func `Rows whose addresses fail alike fail each for itself`() async throws {
    let scene = try Scene()
    try SmallFiles.replace(
      scene.place.file("rows.jsonl"),
      Array("{\"n\":\"x\",\"k\":1}\n{\"n\":\"x\",\"k\":2}\n{\"n\":\"x\",\"k\":3}\n".utf8))
    let trial = try await scene.run(
      "sources: [{ file: { path: rows.jsonl, url: \"https://h.invalid/${row.n - 1}\" } }]\nstages: [fetch, store]\n")
    #expect(trial.items.failed == 3 && trial.count(.itemEnd) == 3)
  }
}
