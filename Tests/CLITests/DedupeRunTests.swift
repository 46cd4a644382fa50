import FlowBase
import FlowTesting
import Testing

/// `dedupe` in whole runs: what stays depends on the list alone.
@Suite(.serialized) struct DedupeRunTests {
  /// Bytes by the last letter of the path: `/slow-a` and `/quick-a` are the same.
  private func place() throws -> Workplace {
    try Workplace { request in
      let body = LoopbackServer.Response.ok(Array("bytes of \(request.path.suffix(1))".utf8))
      return request.path.hasPrefix("/slow") ? body.delayed(by: .milliseconds(300)) : body
    }
  }

  private func reasons(_ end: ToolEnd) -> [String: String] {
    var reasons: [String: String] = [:]
    for line in end.stream.lines where line.asMap?["type"]?.asString == "item.end" {
      guard let data = line.asMap?["data"]?.asMap, let item = line.asMap?["item"]?.asString else { continue }
      reasons[item] = data["reason"]?.asString
    }
    return reasons
  }

  @Test func `the first of the list stays, also where a later one is there before it`() async throws {
    let work = try place()
    try work.manifest(["/slow-a", "/quick-a", "/quick-b", "/slow-b", "/quick-c"], fetch: "fetch\n  - dedupe")
    for _ in 1...2 {
      let end = try await work.tool.run("run", "m.yaml", "--fresh")
      expectEnd(end, 0)
      #expect(work.files() == ["quick-b.bin", "quick-c.bin", "slow-a.bin"])
      #expect(
        reasons(end) == [
          "urls/quick-a": "dedupe: the same bytes as urls/slow-a",
          "urls/slow-b": "dedupe: the same bytes as urls/quick-b",
        ])
    }
  }

  @Test func `sources come one after the other, so that the first is the manifest's`() async throws {
    let work = try place()
    try work.write(
      "m.yaml",
      """
      imgflow: 1
      sources:
        - id: one
          urls: [{ url: "\(work.server.url)/quick-x", key: x }, { url: "\(work.server.url)/slow-a", key: a }]
        - id: two
          urls: [{ url: "\(work.server.url)/quick-a", key: a }, { url: "\(work.server.url)/quick-b", key: b }]
      stages: [fetch, dedupe, { store: "${item.source}-${item.key}" }]
      """)
    let end = try await work.tool.run("run", "m.yaml")
    expectEnd(end, 0)
    #expect(reasons(end) == ["two/a": "dedupe: the same bytes as one/a"])
  }

  @Test func `what an earlier run has kept is known to the next, also where its item is not in the list any more`()
    async throws
  {
    let work = try place()
    try work.manifest(["/quick-a", "/quick-b"], fetch: "fetch\n  - dedupe")
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    try work.manifest(["/quick-b", "/other-a", "/other-b", "/other-d"], fetch: "fetch\n  - dedupe")
    let end = try await work.tool.run("run", "m.yaml")
    expectEnd(end, 0)
    #expect(end.stream.count("cached") == 1)
    #expect(
      reasons(end) == [
        "urls/other-a": "dedupe: the same bytes as urls/quick-a",
        "urls/other-b": "dedupe: the same bytes as urls/quick-b",
      ])
    #expect(work.files() == ["other-d.bin", "quick-a.bin", "quick-b.bin"])
    // Once more, nothing is to do, and what was dropped stays so.
    let again = try await work.tool.run("run", "m.yaml")
    #expect(again.stream.items("filtered").count == 2 && again.stream.count("cached") == 2)
    #expect(work.server.requests.count == 5)
  }

  @Test func `what others were dropped for is not removed as long as they are listed`() async throws {
    let work = try place()
    let stages = "fetch\n  - dedupe"
    try work.manifest(["/quick-a", "/other-a", "/quick-b"], fetch: stages)
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    // The one that stayed is listed no more, nor is one for which nobody was dropped.
    try work.manifest(["/other-a"], fetch: stages)
    for _ in 1...2 {
      let end = try await work.tool.run("run", "m.yaml", "--prune")
      expectEnd(end, 0)
      #expect(reasons(end) == ["urls/other-a": "dedupe: the same bytes as urls/quick-a"])
      #expect(work.files() == ["quick-a.bin"])
      #expect(end.output.contains("kept 1 file that no item makes any more"), "\(end.output)")
    }
    try work.manifest(["/quick-c"], fetch: stages)
    expectEnd(try await work.tool.run("run", "m.yaml", "--prune"), 0)
    #expect(work.files() == ["quick-c.bin"])
  }

  @Test func `what was dropped is made once the file for which it was is gone for good`() async throws {
    let work = try place()
    let stages = "fetch\n  - dedupe"
    try work.manifest(["/quick-a", "/other-a", "/late-a"], fetch: stages)
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    try FileSystem.remove(work.place.file("out/quick-a.bin"))
    // As long as its item is listed, it comes back and stays the first.
    let back = try await work.tool.run("run", "m.yaml")
    expectEnd(back, 0)
    #expect(work.files() == ["quick-a.bin"])
    #expect(reasons(back).count == 2)

    try FileSystem.remove(work.place.file("out/quick-a.bin"))
    try work.manifest(["/other-a", "/late-a"], fetch: stages)
    for _ in 1...2 {
      let end = try await work.tool.run("run", "m.yaml")
      expectEnd(end, 0)
      #expect(work.files() == ["other-a.bin"])
      #expect(reasons(end) == ["urls/late-a": "dedupe: the same bytes as urls/other-a"])
    }
    let asked = work.server.requests.count
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    #expect(work.server.requests.count == asked)
  }

  @Test func `what was dropped is made once the one for which it was has other bytes`() async throws {
    let version = Guarded(1)
    let work = try Workplace { request in
      let body = request.path == "/first" ? "version \(version.withLock { $0 })" : "version 1"
      if request.header("If-None-Match") == "\"\(body)\"" { return .status(304) }
      return .ok(Array(body.utf8)).header("ETag", "\"\(body)\"")
    }
    try work.manifest(["/first", "/second"], "state: { refresh: changed }", fetch: "fetch\n  - dedupe")
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    #expect(work.files() == ["first.bin"])
    version.withLock { $0 = 2 }
    // The second is looked up before the first has come.
    for _ in 1...2 { expectEnd(try await work.tool.run("run", "m.yaml"), 0) }
    #expect(work.files() == ["first.bin", "second.bin"])
    #expect(try work.read("out/first.bin") == "version 2" && work.read("out/second.bin") == "version 1")
    let quiet = try await work.tool.run("run", "m.yaml")
    #expect(quiet.stream.count("cached") == 2)
  }

  @Test func `what was dropped for one that another stage drops is not asked for again`() async throws {
    let work = try place()
    try work.manifest(
      ["/quick-a", "/other-a", "/third-a"], fetch: "fetch\n  - dedupe\n  - filter: item.bytes > 1000")
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    for _ in 1...3 {
      let again = try await work.tool.run("run", "m.yaml")
      expectEnd(again, 0)
      #expect(again.stream.items("filtered").count == 3)
    }
    #expect(work.server.requests.count == 3)
  }

  @Test func `what an item was dropped for stays also where that item fails now`() async throws {
    let fails = Guarded(false)
    let work = try Workplace { request in
      request.path == "/second" && fails.withLock { $0 } ? .status(404) : .ok("same").header("ETag", "\"1\"")
    }
    let stages = "fetch\n  - dedupe"
    try work.manifest(["/first", "/second"], "state: { refresh: changed }", fetch: stages)
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    fails.withLock { $0 = true }
    try work.manifest(["/second"], "state: { refresh: changed }", fetch: stages)
    for _ in 1...2 {
      expectEnd(try await work.tool.run("run", "m.yaml", "--prune"), 1)
      #expect(work.files() == ["first.bin"])
    }
  }

  @Test func `of equal legs of one item the first stays, and the item is done`() async throws {
    let work = try place()
    try work.write(
      "m.yaml",
      """
      imgflow: 1
      output: { dir: ./out }
      sources:
        - urls: [{ url: "\(work.server.url)/quick-a", key: a }, { url: "\(work.server.url)/quick-b", key: b }]
      stages:
        - fetch
        - set: { part: "${matrix.w}" }
          matrix: { w: [1, 2] }
        - dedupe
        - store: "${item.key}-${item.part}.bin"
      """)
    for turn in 1...2 {
      let end = try await work.tool.run("run", "m.yaml")
      expectEnd(end, 0)
      #expect(work.files() == ["a-1.bin", "b-1.bin"])
      #expect(end.stream.count("cached") == (turn == 1 ? 0 : 2))
    }
  }

  @Test func `the largest picture stays where that is asked for, and plan and graph show that all are awaited`()
    async throws
  {
    let photo = Painter.photo("one")
    let place = try PictureTests.place(["b.png": photo, "c.png": Painter.photo("two")])
    try place.write("s.yaml", PictureTests.manifest("  - resize: { width: 100, format: png }\n  - store: a-small\n"))
    expectEnd(
      try await place.tool.run("run", "s.yaml", "--json", "--take", "1", "--out", "in"), 0)
    try place.write(
      "m.yaml",
      PictureTests.manifest(
        "  - dedupe: { by: phash, keep: largest }\n  - store: \"${item.key}\"\n"))
    let end = try await place.tool.run("run", "m.yaml", "--json")
    expectEnd(end, 0)
    #expect(place.files() == ["b.png", "c.png"])
    #expect(reasons(end).values.contains { $0.hasPrefix("dedupe: looks like directory/b (") })
    let graph = try await place.tool.run("graph", "m.yaml", "--format", "mermaid")
    #expect(graph.output.contains("stage_dedupe_look ==> stage_dedupe"), "\(graph.output)")
  }

  @Test func `a mistake in its configuration is told once`() async throws {
    let work = try place()
    try work.manifest(["/quick-a"], fetch: "fetch\n  - dedupe: { by: md5, keep: newest, far: 3 }")
    let end = try await work.tool.run("validate", "m.yaml")
    #expect(end.code == 2)
    #expect((end.output + end.errors).contains("3 errors"), "\(end.output)\(end.errors)")
  }
}
