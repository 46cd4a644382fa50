import FlowBase
import FlowEvents
import FlowRun
import FlowTesting
import Testing

/// That bytes are what a run says of them, whatever happened to files, names and servers between two runs.
@Suite struct TrustTests {
  private func manifest(_ count: Int, _ name: String, fetch: String = "fetch", more: String = "") -> String {
    """
    sources: [{ urls: \(String.addresses(count)) }]
    stages: [\(fetch), { store: \(name) }]
    \(more)
    """
  }

  /// The outputs whose bytes are not what an item's end says of them.
  private func liars(_ trial: Trial, _ scene: Scene) throws -> [String] {
    var liars: [String] = []
    for end in trial.ends.values where end.status == .ok {
      for output in end.outputs {
        let bytes = try SmallFiles.read(scene.place.file("out/\(output.path)"))
        if Digest.sha256(of: bytes).hex != output.sha256 { liars.append(output.path) }
      }
    }
    return liars
  }

  @Test func `A run over a part of the items removes nothing`() async throws {
    let isThere = Guarded(false)
    let scene = try Scene { request in
      request.path == "/2" && !isThere.withLock { $0 } ? .status(404) : .ok("bytes of \(request.path)")
    }
    let text = manifest(4, "\"${item.key}.bin\"")
    try await scene.run(text)
    #expect(scene.outputs == ["k1.bin", "k3.bin", "k4.bin"])
    isThere.withLock { $0 = true }
    let failed = try await scene.run(
      text,
      options: {
        $0.failedOnly = FailureFilter()
        $0.prunes = true
      })
    #expect(failed.ends.keys.sorted() == ["urls/k2"] && failed.exit == .done)
    #expect(scene.outputs == ["k1.bin", "k2.bin", "k3.bin", "k4.bin"])
    let said = failed.events.contains { event in
      if case .log(let line) = event.payload { line.message.hasPrefix("nothing was removed") } else { false }
    }
    #expect(said)
    try await scene.run(
      text,
      options: {
        $0.take = 1
        $0.prunes = true
      })
    #expect(scene.outputs == ["k1.bin", "k2.bin", "k3.bin", "k4.bin"])
    #expect(try await Forecaster(try scene.plan(text)).forecast().orphans.count == 0)
    // A run over everything still removes what nobody makes.
    try await scene.run(manifest(3, "\"${item.key}.bin\""), options: { $0.prunes = true })
    #expect(scene.outputs == ["k1.bin", "k2.bin", "k3.bin"])
  }

  @Test func `What a report was that cannot be made now is not removed`() async throws {
    let scene = try Scene()
    func text(_ report: String) -> String {
      manifest(2, "\"${item.key}.bin\"").replacing(".bin\" }]", with: ".bin\" }, { report: \(report) }]")
    }
    try await scene.run(text("index.csv"))
    let second = try await scene.run(text("k1.bin/index.csv"), options: { $0.prunes = true })
    #expect(second.exit == .failed)
    #expect(scene.outputs == ["index.csv", "k1.bin", "k2.bin"])
    try await scene.run(text("all.csv"))
    try FileSystem.remove(scene.place.file("out/index.csv"))
    let third = try await scene.run(text("all.csv"), options: { $0.prunes = true })
    #expect(third.count(.output) == 0)
    #expect(scene.outputs == ["all.csv", "k1.bin", "k2.bin"])
    try await scene.run(text("index.csv"), options: { $0.prunes = true })
    #expect(scene.outputs == ["index.csv", "k1.bin", "k2.bin"])
  }

  @Test func `What had another name before is nobody's, also after runs that find all done`() async throws {
    let scene = try Scene()
    try await scene.run(manifest(2, "\"${item.key}.bin\""))
    let renamed = manifest(2, "\"new-${item.key}.bin\"")
    try await scene.run(renamed)
    #expect(try await scene.run(renamed).items.cached == 2)
    #expect(try await scene.run(renamed).items.cached == 2)
    try FileSystem.remove(scene.place.file("out/k1.bin"))
    #expect(try await scene.run(renamed, options: { $0.prunes = true }).items.cached == 2)
    #expect(scene.outputs == ["new-k1.bin", "new-k2.bin"])
  }

  @Test(arguments: ["", ", concurrency: 1", ", after: fetch"])
  func `Names that change hands never give one item the bytes of another`(how: String) async throws {
    let scene = try Scene()
    func text(_ place: String) -> String { manifest(9, "\"\(place).bin\"\(how)") }
    try await scene.run(text("${item.index}"), options: { $0.window = 2 })
    for place in ["${item.index + 1}", "${20 - item.index}", "${item.index}"] {
      let swapped = try await scene.run(text(place), options: { $0.window = 2 })
      #expect(try liars(swapped, scene) == [], "\(place)")
      #expect(Set(swapped.outcome.end.errors.map(\.code)).isSubset(of: ["content.changed"]), "\(place)")
      // What could not be had any more is fetched by the next run.
      let next = try await scene.run(text(place), options: { $0.window = 2 })
      #expect(next.exit == .done && next.items.ok == 9, "\(place) \(next.outcome.end.errors)")
      #expect(try liars(next, scene) == [], "\(place)")
      for number in 1...9 {
        let name = next.end("k\(number)")?.outputs.first?.path ?? ""
        #expect(scene.output(name) == "bytes of /\(number)", "\(place): \(name)")
      }
    }
  }

  @Test func `Where a file that is there stays, later stages have what was fetched`() async throws {
    let scene = try Scene { _ in .ok("BBBBBBBBBB") }
    try FileSystem.makeDirectories(scene.place.file("out"))
    try SmallFiles.replace(scene.place.file("out/a.bin"), Array("AAAAAAAAAA".utf8))
    let trial = try await scene.run(
      """
      output: { on_exists: skip }
      sources: [{ urls: ["$URL/1"] }]
      stages: [fetch, { id: one, store: a.bin }, { id: two, store: b.bin }]
      """)
    #expect(trial.exit == .done)
    #expect(scene.output("a.bin") == "AAAAAAAAAA" && scene.output("b.bin") == "BBBBBBBBBB")
    #expect(try liars(trial, scene) == [])
    #expect(try SmallFiles.names(in: scene.place.file(".imgflow/scene/tmp")) == [])
  }

  @Test func `A file of this machine that was written since is taken anew`() async throws {
    let scene = try Scene()
    try FileSystem.makeDirectories(scene.place.file("in"))
    try SmallFiles.replace(scene.place.file("in/a.txt"), Array("one".utf8))
    try SmallFiles.replace(scene.place.file("in/b.txt"), Array("b".utf8))
    let text = """
      sources: [{ directory: in }]
      stages: [{ store: "${item.name}" }]
      """
    try await scene.run(text)
    #expect(try await scene.run(text).items.cached == 2)
    try SmallFiles.replace(scene.place.file("in/a.txt"), Array("two".utf8))
    let second = try await scene.run(text)
    #expect(second.items.cached == 1 && second.items.ok == 2)
    #expect(scene.output("a.txt") == "two")
  }

  @Test func `A validator is shown only to the address that gave it`() async throws {
    let version = Guarded(1)
    let date = "Tue, 17 Nov 2026 00:00:00 GMT"
    let scene = try Scene { request in
      if request.path == "/latest" { return .redirect(to: "/v\(version.withLock { $0 })") }
      // Each has the tag and the date of the other, as copies of a template have.
      if request.header("If-None-Match") != nil || request.header("If-Modified-Since") != nil { return .status(304) }
      return .ok("bytes of \(request.path)").header("ETag", "\"same\"").header("Last-Modified", date)
    }
    let text = """
      sources: [{ urls: ["$URL/latest"] }]
      stages: [fetch, { store: "a.bin" }]
      state: { refresh: changed, durability: process }
      """
    try await scene.run(text)
    #expect(try await scene.run(text).items.cached == 1)
    version.withLock { $0 = 2 }
    let moved = try await scene.run(text)
    #expect(moved.items.ok == 1 && moved.items.cached == 0)
    #expect(scene.output("a.bin") == "bytes of /v2")
  }

  @Test func `A program that changes what it was given to read does not pass for one that read it`() async throws {
    let scene = try Scene()
    let text = manifest(1, "\"${item.key}.bin\"").replacing(
      "[fetch,", with: "[fetch, { exec: [sed, -i, s/bytes/BYTES/, \"${item.path}\"] },")
    let trial = try await scene.run(text)
    #expect(trial.exit == .failed && trial.outcome.end.errors.map(\.code) == ["exec.input"])
    #expect(scene.outputs == [])
    let read = text.replacing("sed, -i, s/bytes/BYTES/", with: "grep, -q, bytes")
    let second = try await scene.run(read)
    #expect(second.exit == .done, "\(second.outcome.end.errors) \(second.ends)")
    #expect(scene.output("k1.bin") == "bytes of /1")
  }

  @Test func `What is published already is no hindrance to its own item, where files must not be there`() async throws {
    let scene = try Scene()
    // The leg fails behind its file; the next run finds that file.
    let text = """
      output: { on_exists: fail }
      sources: [{ urls: ["$URL/1"] }]
      stages: [fetch, { store: a.bin }, { exec: [test, -e, "\(scene.place.file("flag"))"] }]
      """
    #expect(try await scene.run(text).exit == .failed)
    #expect(scene.output("a.bin") == "bytes of /1")
    try SmallFiles.replace(scene.place.file("flag"), [])
    let second = try await scene.run(text)
    #expect(second.exit == .done, "\(second.outcome.end.errors)")
    // Another's file is one as before.
    try SmallFiles.replace(scene.place.file("out/b.bin"), Array("bytes of /1".utf8))
    let other = try await scene.run(text.replacing("a.bin", with: "b.bin"))
    #expect(other.outcome.end.errors.map(\.code) == ["path.exists"])
  }

  @Test func `A sheet is made again when only its pictures are others`() async throws {
    let scene = try Scene { _ in .ok(Painter.photo("a"), type: "image/png") }
    func text(_ sigma: String) -> String {
      """
      sources: [{ urls: ["$URL/1", "$URL/2"] }]
      stages: [fetch, { blur: { sigma: \(sigma) } }, { montage: { path: sheet.png } }]
      """
    }
    func sheet() throws -> [UInt8] { try SmallFiles.read(scene.place.file("out/sheet.png")) }
    #expect(try await scene.run(text("1")).exit == .done)
    let first = try sheet()
    #expect(try await scene.run(text("1")).count(.output) == 0)
    #expect(try await scene.run(text("9")).exit == .done)
    #expect(try sheet() != first)
  }
}
