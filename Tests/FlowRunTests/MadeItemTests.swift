import FlowBase
import FlowBuiltins
import FlowEvents
import FlowExpressions
import FlowParts
import FlowRun
import FlowTesting
import Testing

/// Makes an item of each word of an item's bytes.
private struct Words: Stage {
  static let calls = Guarded(0)

  static var catalog: Catalog {
    var catalog = Catalog.builtins
    catalog.add(
      StagePart(
        PartSpec(
          name: "words", role: .stage, summary: "Makes an item of each word.", fields: [],
          sets: { _ in [ItemField("length", .integer)] }, example: "stages:\n  - words\n")
      ) { Words() })
    return catalog
  }

  func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    Words.calls.withLock { $0 += 1 }
    guard case .file(let file)? = leg.content else { throw Fault.internal("words", "no file") }
    let text = String(decoding: try SmallFiles.read(file.path), as: UTF8.self)
    return StageResult(
      .many(
        text.split(separator: " ").map { word in
          MadeItem(
            key: String(word), content: .bytes(Array(word.utf8)),
            fields: ["name": .string("\(word).txt"), "length": .int(word.count)])
        }))
  }
}

@Suite(.serialized) struct MadeItemTests {
  private let manifest = """
    sources:
      - urls: [{ url: "$URL/one", key: one, row: { lang: en } }, { url: "$URL/two", key: two, row: { lang: de } }]
    stages:
      - fetch
      - words
      - filter: item.length > 2
      - store: "${row.lang}/${item.key | slug}"
    """

  private func scene(_ texts: [String: String] = ["/one": "red green up", "/two": "blau"]) throws -> Scene {
    try Scene(catalog: Words.catalog) { .ok(texts[$0.path] ?? "") }
  }

  @Test func `What a stage makes goes on behind it, each with its own end, and names its parent`() async throws {
    let scene = try scene()
    let trial = try await scene.run(manifest)
    #expect(trial.exit == .done)
    #expect(
      trial.ends.mapValues(\.status) == [
        "urls/one": .ok, "urls/one/red": .ok, "urls/one/green": .ok, "urls/one/up": .filtered, "urls/two": .ok,
        "urls/two/blau": .ok,
      ])
    #expect(scene.output("en/one-red") == "red")
    #expect(scene.output("de/two-blau") == "blau")
    let red = try #require(trial.events.first { $0.subject?.item == "urls/one/red" && $0.type == .itemEnd })
    #expect(red.subject?.parent == "urls/one")
    #expect(trial.items.total == 6)
    #expect(trial.items.ok == 5)
  }

  @Test func `A second run finds parents and what was made of them done`() async throws {
    let scene = try scene()
    try await scene.run(manifest)
    let before = Words.calls.withLock { $0 }
    let again = try await scene.run(manifest)
    #expect(again.exit == .done)
    #expect(again.items.cached == 5)
    #expect(again.items.total == 6)
    #expect(Words.calls.withLock { $0 } == before)
    #expect(scene.asked == ["/one", "/two"])
  }

  @Test func `What was made and is missing is made again, and the rest stays`() async throws {
    let scene = try scene()
    try await scene.run(manifest)
    let names = try SmallFiles.names(in: scene.place.file("out/en"))
    let gone = try #require(names.first { $0.hasPrefix("one-red") })
    try FileSystem.remove(scene.place.file("out/en/\(gone)"))
    let again = try await scene.run(manifest)
    #expect(again.exit == .done)
    #expect(scene.output("en/one-red") == "red")
    #expect(again.end("one/red")?.isCached == false)
    #expect(again.end("one/green")?.isCached == true)
    #expect(again.end("two")?.isCached == true)
  }

  @Test func `Of two made items with one key the second fails, and more items than the window holds go through`()
    async throws
  {
    let many = (0..<100).map { "word\($0)" }.joined(separator: " ")
    let scene = try scene(["/one": many, "/two": "same same"])
    let trial = try await scene.run(manifest, options: { $0.window = 8 })
    #expect(trial.items.failed == 1)
    #expect(trial.items.total == 104)
    #expect(trial.ends.values.first { $0.status == .failed }?.error?.fault.code == "item.duplicate_key")
    #expect(trial.exit == .failed)
  }

  @Test func `A stage that gathers sees what was made and not its parents`() async throws {
    let scene = try scene()
    let trial = try await scene.run(
      """
      sources:
        - urls: [{ url: "$URL/one", key: one }, { url: "$URL/two", key: two }]
      stages:
        - fetch
        - words
        - report: { path: index.csv, columns: [key, length] }
      """)
    #expect(trial.exit == .done)
    let lines = scene.output("index.csv")?.split(whereSeparator: \.isNewline).map(String.init) ?? []
    #expect(lines.sorted() == ["key,length", "one/green,5", "one/red,3", "one/up,2", "two/blau,4"])
  }

  @Test func `Items behind a gate wait for what is made`() async throws {
    let scene = try scene()
    let trial = try await scene.run(
      """
      sources:
        - urls: [{ url: "$URL/one", key: one }, { url: "$URL/two", key: two }]
      stages:
        - fetch
        - words
        - set: { big: "${item.length > 3}" }
        - store: "${item.key | slug}"
          after: set
      """, options: { $0.window = 2 })
    #expect(trial.exit == .done, "\(trial.ends)")
    #expect(scene.outputs == ["one-green", "one-red", "one-up", "two-blau"])
  }
}
