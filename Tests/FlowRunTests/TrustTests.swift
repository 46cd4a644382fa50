import FlowBase
import FlowBuiltins
import FlowEvents
import FlowParts
import FlowRun
import FlowTesting
import Testing

/// Writes an item's bytes in capitals, and one item's not before a file has others than it had.
private struct Capitals: Stage {
  let path: String
  let before: String

  func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    guard case .file(let file)? = leg.content else { throw Fault.internal("capitals", "no file") }
    while leg.item.key == "k2", let bytes = try? SmallFiles.read(path), bytes == Array(before.utf8) {
      try Task.checkCancellation()
      await Task.yield()
    }
    let text = String(decoding: try SmallFiles.read(file.path), as: UTF8.self)
    return StageResult(content: .bytes(Array(text.uppercased().utf8)))
  }
}

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

  @Test func `Bytes that failed are not taken for a second try, with the same stages`() async throws {
    let photo = Painter.avatar("one")
    let mended = Guarded(false)
    let scene = try Scene { request in mended.withLock { $0 } ? .ok(photo) : .ok("<h1>We are busy</h1>") }
    func text(_ width: Int, _ place: String = "${item.key}.png") -> String {
      """
      sources: [{ urls: \(String.addresses(1)) }]
      stages: [fetch, { resize: { width: \(width) } }, { store: "\(place)" }]
      """
    }
    let first = try await scene.run(text(8))
    #expect(first.ends.values.first?.error?.fault.code == "image.corrupt")
    // With other stages the same bytes may do, and stay as they are.
    try await scene.run(text(9))
    #expect(scene.server.requests.count == 1)
    mended.withLock { $0 = true }
    let third = try await scene.run(text(9), options: { $0.failedOnly = FailureFilter() })
    #expect(third.exit == .done && scene.outputs == ["k1.png"])
    #expect(scene.server.requests.count == 2)
  }

  @Test func `Bytes whose place was in the way are taken for a second try`() async throws {
    let scene = try Scene()
    let text = manifest(1, "\"${item.key}.bin\"", more: "output: { on_exists: fail }")
    try FileSystem.makeDirectories(scene.place.file("out"))
    try SmallFiles.replace(scene.place.file("out/k1.bin"), [])
    #expect(try await scene.run(text).items.failed == 1)
    try FileSystem.remove(scene.place.file("out/k1.bin"))
    #expect(try await scene.run(text).items.ok == 1)
    #expect(scene.server.requests.count == 1)
  }

  @Test func `Where numbers stand in names, a new first line gives every item its new one`() async throws {
    let scene = try Scene()
    func text(_ keys: [String]) -> String {
      let addresses = keys.map { "{ url: \"$URL/\($0)\", key: \($0) }" }
      return """
        sources: [{ urls: [\(addresses.joined(separator: ", "))] }]
        stages: [fetch, { store: "${item.index}.bin" }]
        """
    }
    try await scene.run(text(["b", "c", "d"]))
    #expect(try await scene.run(text(["b", "c", "d"])).items.cached == 3)
    #expect(try await scene.run(text(["b", "c", "d", "e"])).items.cached == 3)
    let longer = text(["a", "b", "c", "d", "e"])
    let forecast = try await Forecaster(try scene.plan(longer)).forecast()
    #expect(forecast.reasons.map(\.reason) == ["its number changed", "new"])
    var trial = try await scene.run(longer)
    // What lost its only copy to another item meanwhile is fetched by the next run.
    if trial.exit != .done { trial = try await scene.run(longer) }
    #expect(trial.exit == .done)
    #expect((1...5).map { scene.output("\($0).bin") } == "abcde".map { "bytes of /\($0)" })
    #expect(try await scene.run(longer).items.cached == 5)
    let shorter = text(["b", "c", "d", "e"])
    trial = try await scene.run(shorter, options: { $0.prunes = true })
    if trial.exit != .done { trial = try await scene.run(shorter, options: { $0.prunes = true }) }
    #expect(scene.outputs == ["1.bin", "2.bin", "3.bin", "4.bin"])
    #expect((1...4).map { scene.output("\($0).bin") } == "bcde".map { "bytes of /\($0)" })
  }

  @Test(arguments: [
    "{ report: { path: index.csv, columns: [key, row.title] } }",
    "{ store: { path: \"side-${item.key}.bin\", sidecar: json } }",
    "{ script: rules.lua }, { store: \"${item.title}.bin\" }",
    "{ store: \"${row.title}.bin\" }",
  ])
  func `A column counts for whoever reads it, and is no reason to fetch again`(stage: String) async throws {
    let scene = try Scene()
    try SmallFiles.replace(
      scene.place.file("rules.lua"), Array("function item(item) return { title = item.row.title } end".utf8))
    func text(_ title: String, _ other: String = "x") -> String {
      """
      sources: [{ urls: [{ url: "$URL/1", key: k1, row: { title: \(title), other: \(other) } }] }]
      stages: [fetch, { id: first, store: "${item.key}.bin" }, \(stage)]
      """
    }
    try await scene.run(text("one"))
    #expect(try await scene.run(text("one")).items.cached == 1)
    let second = try await scene.run(text("two"), options: { $0.prunes = true })
    #expect(second.exit == .done && second.items.cached == 0)
    #expect(scene.server.requests.count == 1)
    let all = scene.outputs.map { "\($0) \(scene.output($0) ?? "")" }.joined(separator: "\n")
    #expect(all.contains("two") && !all.contains("one"), "\(all)")
    // What nobody reads does not count; a sidecar has all of it.
    let third = try await scene.run(text("two", "y"))
    let readsAll = stage.contains("sidecar") || stage.contains("script")
    #expect(third.items.cached == (readsAll ? 0 : 1))
    #expect(scene.server.requests.count == 1)
  }

  @Test func `Bytes that are read under a name which becomes another's meanwhile are not believed`() async throws {
    let place = try TempPlace()
    var catalog = Catalog.builtins
    catalog.add(
      StagePart(
        PartSpec(
          name: "capitals", role: .stage, summary: "Writes bytes in capitals.", fields: [],
          example: "stages:\n  - capitals\n")
      ) { Capitals(path: place.file("k2.bin"), before: "bytes of /2") })
    let scene = try Scene(catalog: catalog)
    func text(_ stages: String, _ names: [String]) -> String {
      """
      output: { dir: "\(place.path)" }
      sources:
        - urls:
            - { url: "$URL/1", key: k1, row: { to: \(names[0]) } }
            - { url: "$URL/2", key: k2, row: { to: \(names[1]) } }
      stages: [fetch, \(stages){ store: "${row.to}.bin" }]
      """
    }
    func bytes(_ name: String) -> String {
      String(decoding: (try? SmallFiles.read(place.file(name))) ?? [], as: UTF8.self)
    }
    try await scene.run(text("", ["k1", "k2"]))
    #expect(bytes("k2.bin") == "bytes of /2")
    let swapped = text("capitals, ", ["k2", "k1"])
    let second = try await scene.run(swapped)
    #expect(second.end("k1")?.status == .ok && bytes("k2.bin") == "BYTES OF /1")
    #expect(second.end("k2")?.error?.fault.code == "content.changed")
    let third = try await scene.run(swapped)
    #expect(third.exit == .done && bytes("k1.bin") == "BYTES OF /2" && bytes("k2.bin") == "BYTES OF /1")
  }

  @Test func `Bytes that failed stay so while their host gives none`() async throws {
    let photo = Painter.avatar("one")
    let scene = try Scene { request in
      switch request.attempt {
      case 1: .ok("<h1>We are busy</h1>")
      case 2: .status(404)
      default: .ok(photo)
      }
    }
    let text = """
      sources: [{ urls: \(String.addresses(1)) }]
      stages: [fetch, { resize: { width: 8 } }, { store: "${item.key}.png" }]
      """
    #expect(try await scene.run(text).ends.values.first?.error?.fault.code == "image.corrupt")
    #expect(try await scene.run(text).ends.values.first?.error?.fault.code == "http.404")
    #expect(try await scene.run(text).exit == .done)
    #expect(scene.server.requests.count == 3)
  }

  @Test func `Bytes that failed are gone once others have come, though a filter drops these`() async throws {
    let photo = Painter.avatar("one")
    let scene = try Scene { request in request.attempt == 1 ? .ok("<h1>We are busy</h1>") : .ok(photo) }
    func text(_ least: Int) -> String {
      """
      sources: [{ urls: \(String.addresses(1)) }]
      stages: [fetch, { resize: { width: 8 } }, { filter: item.width > \(least) }, { store: "${item.key}.png" }]
      """
    }
    #expect(try await scene.run(text(100)).ends.values.first?.error?.fault.code == "image.corrupt")
    #expect(try await scene.run(text(100)).items.filtered == 1)
    #expect(try await scene.run(text(1)).exit == .done)
    #expect(scene.outputs == ["k1.png"])
  }
}
