import FlowBase
import FlowBuiltins
import FlowEvents
import FlowParts
import FlowRun
import FlowTesting
import Testing

/// Lets items through once it is open, and has the run cancelled before.
private struct Halt: Stage {
  let isOpen: Guarded<Bool>
  let cancel: @Sendable () async -> Void

  func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    if isOpen.withLock({ $0 }) { return StageResult() }
    await cancel()
    while true {
      try Task.checkCancellation()
      await Task.yield()
    }
  }
}

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

  // MARK: Whose bytes are here, and more is to be done with them

  /// A server of one file, whose versions have tags.
  private func versions(_ version: Guarded<Int>, _ catalog: Catalog = .builtins) throws -> Scene {
    try Scene(catalog: catalog) { request in
      let number = version.withLock { $0 }
      let etag = "\"\(number)\""
      if request.header("If-None-Match") == etag { return .status(304).header("ETag", etag) }
      return .ok("version \(number)").header("ETag", etag)
    }
  }

  private func one(_ place: String) -> String {
    """
    sources: [{ urls: ["$URL/a"] }]
    stages: [fetch, { store: "\(place)" }]
    state: { refresh: changed, durability: process }
    """
  }

  @Test(arguments: [false, true])
  func `Where later stages changed, the host is asked before its earlier bytes are taken`(changes: Bool) async throws {
    let version = Guarded(1)
    let scene = try versions(version)
    try await scene.run(one("one.bin"))
    if changes { version.withLock { $0 = 2 } }
    let second = try await scene.run(one("two.bin"))
    #expect(second.exit == .done && second.items.ok == 1 && second.items.cached == 0)
    #expect(scene.output("two.bin") == "version \(changes ? 2 : 1)")
    #expect(scene.server.requests.map { $0.header("If-None-Match") } == [nil, "\"1\""])
    #expect(second.outcome.end.bytesIn == (changes ? 9 : 0))
    #expect(second.ends.values.first?.attempts == 1)
    // What was asked about counts as fetched.
    let third = try await scene.run(one("two.bin"))
    #expect(third.items.cached == 1)
    #expect(scene.server.requests.last?.header("If-None-Match") == "\"\(changes ? 2 : 1)\"")
  }

  @Test(arguments: [false, true])
  func `What failed in between is asked for before its kept bytes are taken`(changes: Bool) async throws {
    let version = Guarded(1)
    let scene = try versions(version)
    let text = "output: { on_exists: fail }\n" + one("a.bin")
    try FileSystem.makeDirectories(scene.place.file("out"))
    try SmallFiles.replace(scene.place.file("out/a.bin"), Array("another's".utf8))
    let first = try await scene.run(text)
    #expect(first.ends.values.first?.error?.fault.code == "path.exists")
    try FileSystem.remove(scene.place.file("out/a.bin"))
    if changes { version.withLock { $0 = 2 } }
    let second = try await scene.run(text)
    #expect(second.exit == .done && scene.output("a.bin") == "version \(changes ? 2 : 1)")
    #expect(scene.server.requests.map { $0.header("If-None-Match") } == [nil, "\"1\""])
    try await scene.run(text)
    #expect(try SmallFiles.names(in: scene.place.file(".imgflow/scene/tmp")) == [])
  }

  @Test func `Kept bytes that are no longer what they were are sent again`() async throws {
    let scene = try versions(Guarded(1))
    let text = "output: { on_exists: fail }\n" + one("a.bin")
    try FileSystem.makeDirectories(scene.place.file("out"))
    try SmallFiles.replace(scene.place.file("out/a.bin"), Array("another's".utf8))
    try await scene.run(text)
    try FileSystem.remove(scene.place.file("out/a.bin"))
    let kept = try #require(try SmallFiles.names(in: scene.place.file(".imgflow/scene/tmp")).first)
    try SmallFiles.replace(scene.place.file(".imgflow/scene/tmp/\(kept)"), Array("VERSION 1".utf8))
    let second = try await scene.run(text)
    #expect(second.exit == .done && scene.output("a.bin") == "version 1")
    #expect(scene.server.requests.map { $0.header("If-None-Match") } == [nil, "\"1\"", nil])
  }

  @Test func `What a run that was cut off has fetched is not asked for again by the next`() async throws {
    let version = Guarded(1)
    let (isOpen, runner) = (Guarded(false), Guarded<Runner?>(nil))
    var catalog = Catalog.builtins
    catalog.add(
      StagePart(
        PartSpec(
          name: "halt", role: .stage, summary: "Ends the run that comes by.", fields: [],
          example: "stages:\n  - halt\n")
      ) {
        Halt(isOpen: isOpen) {
          // The first event may be on its way to the test still.
          while true {
            if let runner = runner.withLock({ $0 }) {
              return _ = await runner.request(ControlRequest(.cancel, by: "test"))
            }
            await Task.yield()
          }
        }
      })
    let scene = try versions(version, catalog)
    let text = one("a.bin").replacing("[fetch, ", with: "[fetch, halt, ")
    let first = try await scene.run(text, follow: { found, _ in runner.withLock { $0 = found } })
    #expect(first.ends.values.first?.status == .cancelled)
    isOpen.withLock { $0 = true }
    version.withLock { $0 = 2 }
    let second = try await scene.run(text)
    #expect(second.exit == .done && scene.output("a.bin") == "version 1")
    #expect(scene.server.requests.count == 1)
    try await scene.run(text)
    #expect(scene.output("a.bin") == "version 2")
  }

  @Test func `What was filtered out for its bytes is asked for, what was for its name is not`() async throws {
    let version = Guarded(1)
    let scene = try versions(version)
    let text = """
      sources: [{ urls: ["$URL/a", "$URL/not"] }]
      stages: [{ id: named, filter: "item.name != 'not'" }, fetch, { filter: "item.bytes > 9" }, { store: "${item.key}.bin" }]
      state: { refresh: changed, durability: process }
      """
    #expect(try await scene.run(text).items.filtered == 2)
    #expect(try await scene.run(text).items.filtered == 2)
    #expect(scene.asked == ["/a", "/a"])
    version.withLock { $0 = 10 }
    let third = try await scene.run(text)
    #expect(third.items.filtered == 1 && third.items.ok == 1)
  }

  // MARK: What stages have made

  /// An archive with a file of that text.
  private func archive(_ text: String) -> [UInt8] {
    func field(_ text: String, _ count: Int) -> [UInt8] {
      Array(text.utf8) + Array(repeating: 0, count: count - text.utf8.count)
    }
    var head = field("one.bin", 100) + field("0000644", 8) + field("0000000", 8) + field("0000000", 8)
    let size = String(text.utf8.count, radix: 8)
    head += field(String(repeating: "0", count: 11 - size.count) + size, 12) + field("00000000000", 12)
    head += Array("        0".utf8) + field("", 100) + Array("ustar".utf8) + [0] + Array("00".utf8)
    head += field("", 512 - head.count)
    let sum = String(head.reduce(0) { $0 + Int($1) }, radix: 8)
    head.replaceSubrange(148..<156, with: Array((String(repeating: "0", count: 6 - sum.count) + sum).utf8) + [0, 32])
    let body = Array(text.utf8)
    return head + body + Array(repeating: 0, count: 512 - body.count % 512) + Array(repeating: 0, count: 1024)
  }

  @Test func `What stages make of bytes is asked for with these`() async throws {
    let version = Guarded(1)
    let scene = try Scene { request in
      let number = version.withLock { $0 }
      let etag = "\"\(number)\""
      if request.header("If-None-Match") == etag { return .status(304).header("ETag", etag) }
      return .ok(self.archive("version \(number)")).header("ETag", etag)
    }
    let text = """
      sources: [{ urls: [{ url: "$URL/a.tar", key: a }] }]
      stages: [fetch, unpack, { store: "${item.name}" }]
      state: { refresh: changed, durability: process }
      """
    try await scene.run(text)
    #expect(scene.output("one.bin") == "version 1")
    let second = try await scene.run(text)
    #expect(second.exit == .done && second.items.ok == 2 && second.items.cached == 2 && second.items.total == 2)
    #expect(second.end("a")?.attempts == 1 && second.end("a/one.bin")?.attempts == 0)
    version.withLock { $0 = 2 }
    let third = try await scene.run(text)
    #expect(third.exit == .done && third.items.cached == 0)
    #expect(scene.output("one.bin") == "version 2")
    #expect(scene.server.requests.map { $0.header("If-None-Match") } == [nil, "\"1\"", "\"1\""])
  }

  @Test func `What an archive gave stays as long as one that equals it is listed`() async throws {
    let scene = try Scene { _ in .ok(self.archive("what was meant")) }
    func text(_ paths: String) -> String {
      """
      sources: [{ urls: [\(paths)] }]
      stages: [fetch, dedupe, unpack, { store: "${item.name}" }]
      """
    }
    let (first, second) = ("{ url: \"$URL/a.tar\", key: a }", "{ url: \"$URL/b.tar\", key: b }")
    try await scene.run(text("\(first), \(second)"))
    let pruned = try await scene.run(text(second), options: { $0.prunes = true })
    #expect(pruned.exit == .done && pruned.end("b")?.status == .filtered)
    #expect(scene.output("one.bin") == "what was meant")
    // Gone by another hand, it is made again, of the one that is listed.
    try FileSystem.remove(scene.place.file("out/one.bin"))
    try await scene.run(text(second))
    #expect(scene.output("one.bin") == "what was meant" && scene.server.requests.count == 3)
  }

  @Test func `An archive whose member was wrong is fetched again`() async throws {
    let scene = try Scene { request in .ok(self.archive(request.attempt == 1 ? "busy" : "what was meant")) }
    let text = """
      sources: [{ urls: [{ url: "$URL/a.tar", key: a }] }]
      stages: [fetch, { id: whole, store: whole.tar }, unpack, { verify: { size: 14 } }, { store: "${item.name}" }]
      """
    let first = try await scene.run(text)
    #expect(first.end("a/one.bin")?.error?.fault.blamesBytes == true)
    #expect(try await scene.run(text).exit == .done)
    #expect(scene.output("one.bin") == "what was meant" && scene.server.requests.count == 2)
  }

  @Test func `A page is not fetched again for what came from its addresses`() async throws {
    let scene = try Scene { request in .ok(request.path == "/a" || request.attempt > 1 ? "what was meant" : "busy") }
    try SmallFiles.replace(
      scene.place.file("rules.lua"),
      Array("function item(item) return { { key = 'more', url = item.url .. '/more' } } end".utf8))
    let text = """
      sources: [{ urls: [{ url: "$URL/a", key: a }] }]
      stages:
        - { id: page, fetch: {} }
        - { id: whole, store: page.bin }
        - { script: rules.lua }
        - fetch
        - { verify: { size: 14 } }
        - { store: more.bin }
      """
    #expect(try await scene.run(text).end("a/more")?.error?.fault.blamesBytes == true)
    #expect(try await scene.run(text).exit == .done)
    #expect(scene.output("more.bin") == "what was meant" && scene.asked == ["/a", "/a/more", "/a/more"])
  }

  /// With a gate there is no one node that asks, and everything is fetched again.
  @Test(arguments: ["", ", after: fetch"])
  func `Items that a stage has made with addresses of their own are asked for`(gate: String) async throws {
    let version = Guarded(1)
    let scene = try versions(version)
    try SmallFiles.replace(
      scene.place.file("rules.lua"),
      Array("function item(item) return { { key = 'more', url = item.url .. '/more' } } end".utf8))
    let text = """
      sources: [{ urls: [{ url: "$URL/a", key: a }] }]
      stages: [{ script: rules.lua }, fetch, { store: "more.bin"\(gate) }]
      state: { refresh: changed, durability: process }
      """
    try await scene.run(text)
    let second = try await scene.run(text)
    #expect(second.exit == .done && second.end("a/more")?.isCached == gate.isEmpty)
    version.withLock { $0 = 2 }
    let third = try await scene.run(text)
    #expect(third.end("a/more")?.isCached == false)
    #expect(scene.output("more.bin") == "version 2")
    #expect(scene.asked == ["/a/more", "/a/more", "/a/more"])
  }

  @Test func `What a stage beside the fetch makes has one end each`() async throws {
    let scene = try versions(Guarded(1))
    try SmallFiles.replace(
      scene.place.file("rules.lua"), Array("function item(item) return { { key = 'one' }, { key = 'two' } } end".utf8))
    let text = """
      sources: [{ urls: [{ url: "$URL/a", key: a }] }]
      stages: [fetch, { store: a.bin }, { script: rules.lua, needs: [] }]
      state: { refresh: changed, durability: process }
      """
    try await scene.run(text)
    let again = try await scene.run(text)
    #expect(again.count(.itemEnd) == 3 && again.items.total == 3 && again.items.cached == 3)
  }

  /// A stage that gathers reads of an item before it is known to be as it was.
  @Test(arguments: ["report: index.csv", "report: '${group}.csv', per: { group: row.kind }"])
  func `What has not changed stays done where a table reads of it before it is fetched`(report: String) async throws {
    let version = Guarded(1)
    let scene = try versions(version)
    try SmallFiles.replace(scene.place.file("list.csv"), Array("url,key,kind\n\(scene.server.url)/a,a,k\n".utf8))
    let text = """
      sources: [{ file: list.csv }]
      hosts: { "127.0.0.1": { allow: true } }
      stages:
        - { id: mark, set: { mark: "${item.key}" } }
        - fetch
        - { id: file, store: a.bin }
        - { \(report), needs: [mark] }
      state: { refresh: changed, durability: process }
      """
    #expect(try await scene.run(text).exit == .done)
    for _ in 0..<3 {
      let again = try await scene.run(text)
      #expect(
        again.exit == .done && again.items.cached == 1 && again.ends.values.first?.outputs.map(\.path) == ["a.bin"])
    }
    #expect(scene.server.requests.dropFirst().allSatisfy { $0.header("If-None-Match") == "\"1\"" })
    version.withLock { $0 = 2 }
    #expect(try await scene.run(text).items.cached == 0)
    #expect(scene.output("a.bin") == "version 2")
    #expect(try await scene.run(text).items.cached == 1)
  }
}
