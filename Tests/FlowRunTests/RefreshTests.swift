import FlowBase
import FlowEvents
import FlowRun
import FlowTesting
import Testing

/// What a later run asks for again where it is to look for changes.
@Suite struct RefreshTests {
  private let manifest = """
    sources: [{ urls: ["$URL/a", "$URL/b", "$URL/plain"] }]
    stages: [fetch, { store: "${item.name}" }]
    state: { refresh: changed, durability: process }
    """

  @Test func `What has not changed is asked for and is cached, what has changed is fetched`() async throws {
    let version = Guarded(["/a": 1, "/b": 1])
    let scene = try Scene { request in
      guard let number = version.withLock({ $0[request.path] }) else { return .ok("plain") }
      let etag = "\"\(number)\""
      if request.header("If-None-Match") == etag { return .status(304).header("ETag", etag) }
      return .ok("version \(number) of \(request.path)").header("ETag", etag)
    }
    let first = try await scene.run(manifest)
    #expect(first.items.ok == 3 && first.items.cached == 0)
    let second = try await scene.run(manifest)
    #expect(second.exit == .done && second.items.ok == 3 && second.items.cached == 3)
    #expect(scene.server.requests.count == 6)
    #expect(scene.server.requests(for: "/a").map { $0.header("If-None-Match") } == [nil, "\"1\""])
    #expect(second.ends.values.allSatisfy { $0.isCached && $0.outputs.count == 1 && $0.attempts == 1 })
    version.withLock { $0["/b"] = 2 }
    let third = try await scene.run(manifest)
    #expect(third.items.ok == 3 && third.items.cached == 2)
    #expect(
      third.ends.first { $0.key.hasSuffix("/b") || $0.value.outputs.first?.path.hasPrefix("b") == true }?
        .value.isCached == false)
    #expect(scene.output("b") == "version 2 of /b" && scene.output("a") == "version 1 of /a")
    // What the third run brought is what the fourth asks about.
    let fourth = try await scene.run(manifest)
    #expect(fourth.items.cached == 3)
    #expect(scene.server.requests(for: "/b").last?.header("If-None-Match") == "\"2\"")
  }

  @Test func `A date is asked about where there is no tag`() async throws {
    let date = "Fri, 20 Nov 2026 00:00:00 GMT"
    let scene = try Scene { request in
      request.header("If-Modified-Since") == date ? .status(304) : .ok("x").header("Last-Modified", date)
    }
    let text = manifest.replacing("\"$URL/a\", \"$URL/b\", ", with: "")
    try await scene.run(text)
    let second = try await scene.run(text)
    #expect(second.items.cached == 1 && second.outcome.end.bytesIn == 0)
  }

  @Test func `Behind gates everything is fetched again`() async throws {
    let scene = try Scene { _ in .ok("x").header("ETag", "\"1\"") }
    let text = """
      sources: [{ urls: ["$URL/a", "$URL/b"] }]
      stages: [fetch, { store: "${item.name}", after: fetch }]
      state: { refresh: changed, durability: process }
      """
    try await scene.run(text)
    let second = try await scene.run(text)
    #expect(second.exit == .done && second.items.ok == 2)
    #expect(scene.server.requests.count == 4)
  }

  @Test func `What is gone meanwhile fails, and its file stays`() async throws {
    let scene = try Scene { request in request.attempt == 1 ? .ok("x").header("ETag", "\"1\"") : .status(404) }
    let text = manifest.replacing("\"$URL/a\", \"$URL/b\", ", with: "")
    try await scene.run(text)
    let second = try await scene.run(text)
    #expect(second.exit == .failed && second.items.failed == 1)
    #expect(scene.output("plain") == "x")
  }

  @Test func `Everything is fetched again where that is the rule, without a condition`() async throws {
    let scene = try Scene { request in .ok("try \(request.attempt)").header("ETag", "\"1\"") }
    let text = manifest.replacing("changed", with: "always")
    try await scene.run(text)
    let second = try await scene.run(text)
    #expect(second.exit == .done && second.items.ok == 3 && second.items.cached == 0)
    #expect(scene.server.requests.count == 6)
    #expect(scene.server.requests.allSatisfy { $0.header("If-None-Match") == nil })
    #expect(scene.output("a") == "try 2")
    let forecast = try await Forecaster(try scene.plan(text)).forecast()
    #expect(forecast.done == 0 && forecast.reasons.map(\.reason) == ["fetched again (state.refresh: always)"])
    let changed = try await Forecaster(try scene.plan(manifest)).forecast()
    #expect(
      changed.done == 0 && changed.reasons.map(\.reason) == ["asked whether it has changed (state.refresh: changed)"])
  }

  @Test func `Stages behind are not run again for what has not changed`() async throws {
    let scene = try Scene { _ in .ok("x").header("ETag", "\"1\"") }
    let text = """
      sources: [{ urls: ["$URL/a"] }]
      stages: [fetch, { set: { kind: "${item.media}" } }, { store: "${item.kind | basename}-x" }, { report: index.csv }]
      state: { refresh: changed, durability: process }
      """
    try await scene.run(text)
    let second = try await scene.run(text)
    #expect(second.items.cached == 1 && second.exit == .done)
  }
}
