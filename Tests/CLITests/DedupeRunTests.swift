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
