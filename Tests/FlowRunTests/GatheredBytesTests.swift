import FlowBase
import FlowBuiltins
import FlowEvents
import FlowParts
import FlowRun
import FlowTesting
import Testing

/// Gives its bytes in capitals, from memory.
private struct Capitals: Stage {
  static let part = StagePart(
    PartSpec(name: "capitals", role: .stage, summary: "Capitals.", fields: [], example: "")
  ) { Capitals() }

  func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    guard case .file(let file)? = leg.content else { throw Fault("content.missing", .permanent, "no file") }
    let text = String(decoding: try SmallFiles.read(file.path), as: UTF8.self)
    return StageResult(content: .bytes(Array(text.uppercased().utf8)))
  }
}

/// Publishes the bytes of all members, a line each.
private struct Weave: Stage {
  static let part: StagePart = {
    var spec = PartSpec(
      name: "weave", role: .stage, summary: "All bytes.", fields: [FieldSpec("path", .path, "The file.")],
      shorthand: "path", per: [.run, .group], example: "")
    spec.gathersBytes = true
    return StagePart(spec) { Weave() }
  }()

  func gather(_ gathering: Gathering, in context: StageContext) async throws -> StageResult {
    var bytes: [UInt8] = []
    var reader = gathering.members()
    while true {
      let page = try await reader.next(upTo: 2)
      if page.isEmpty { break }
      for member in page {
        guard case .file(let file)? = member.leg.content else { throw Fault("content.missing", .permanent, "no file") }
        bytes += try SmallFiles.read(file.path) + [0x0A]
      }
    }
    let options = PublishOptions(owner: context.stage)
    let path = context.config.text("path") ?? ""
    return StageResult(outputs: [try await context.services.publish(.bytes(bytes), at: path, options: options)])
  }
}

/// Bytes that no stage stores, and that outlast the memory of the process.
@Suite struct GatheredBytesTests {
  private var catalog: Catalog {
    var catalog = Catalog.builtins
    catalog.add(Capitals.part)
    catalog.add(Weave.part)
    return catalog
  }

  @Test func `What is gathered is there, also in the next run, though nothing has stored it`() async throws {
    let scene = try Scene(catalog: catalog) { .ok("text \($0.path)") }
    func manifest(_ count: Int, _ stage: String) -> String {
      """
      sources: [{ urls: \(String.addresses(count)) }]
      stages: [fetch\(stage), { weave: all.txt }]
      """
    }
    for (stage, text) in [("", "text"), (", capitals", "TEXT")] {
      #expect(try await scene.run(manifest(2, stage)).exit == .done)
      #expect(scene.output("all.txt") == "\(text) /1\n\(text) /2\n")
      let more = try await scene.run(manifest(3, stage))
      #expect(more.exit == .done && more.items.cached == 2)
      #expect(scene.output("all.txt") == "\(text) /1\n\(text) /2\n\(text) /3\n")
    }
  }

  /// With a small window most items leave it in front of the gate, after what is gathered was written down.
  @Test(arguments: [2, 100])
  func `What is gathered is there also where its items have waited behind a gate since`(window: Int) async throws {
    let scene = try Scene(catalog: catalog) { .ok("text \($0.path)") }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(6)) }]
      stages:
        - fetch
        - { id: loud, capitals: {} }
        - { store: { path: "${item.key}" }, needs: fetch, after: loud }
        - { weave: all.txt, needs: loud, after: store }
      """,
      options: { $0.window = window })
    #expect(trial.exit == .done && trial.items.ok == 6)
    #expect(scene.output("all.txt") == (1...6).map { "TEXT /\($0)\n" }.joined())
  }

  @Test func `Bytes in memory wait behind a gate as well`() async throws {
    let scene = try Scene(catalog: catalog) { .ok("text \($0.path)") }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(30)) }]
      stages:
        - fetch
        - capitals
        - { store: "${item.key}.txt", after: capitals }
      """, options: { $0.window = 4 })
    #expect(trial.exit == .done && trial.items.ok == 30)
    #expect(scene.output("k7.txt") == "TEXT /7")
  }
}
