import FlowBase
import FlowBuiltins
import FlowEvents
import FlowParts
import FlowPlan
import FlowRun
import FlowTesting
import Testing

/// Hands out some items and then cannot go on.
private struct BrokenSource: Source {
  let address: String
  let count: Int
  let fault: any Error & Sendable

  struct Reader: SourceReader {
    var left: [SourceItem]
    let fault: any Error & Sendable
    var total: Int? { nil }
    mutating func next(upTo count: Int) async throws -> [SourceItem] {
      if left.isEmpty { throw fault }
      defer { left = Array(left.dropFirst(count)) }
      return Array(left.prefix(count))
    }
  }

  func open(in context: SourceContext) async throws -> any SourceReader {
    Reader(left: (0..<count).map { SourceItem(url: "\(address)/\($0)", key: "k\($0)") }, fault: fault)
  }
}

/// What sources give, and what is made of it.
@Suite struct SourceTests {
  private func broken(_ fault: any Error & Sendable, _ server: LoopbackServer, count: Int = 3) -> Catalog {
    var catalog = Catalog.builtins
    let spec = PartSpec(name: "broken", role: .source, summary: "Breaks.", fields: [], example: "")
    let address = server.url
    catalog.add(SourcePart(spec) { BrokenSource(address: address, count: count, fault: fault) })
    return catalog
  }

  @Test func `A source that breaks off fails the run, and what it gave is done`() async throws {
    let server = try LoopbackServer { _ in .ok("x") }
    let scene = try Scene(catalog: broken(Fault("source.cut", .permanent, "the list breaks off"), server))
    let trial = try await scene.run(
      "sources: [{ broken: {} }]\nstages: [fetch, { store: \"${item.key}\" }]", inputs: { $0.allowsPrivate = true })
    #expect(trial.exit == .failed)
    #expect(trial.items.ok == 3)
    #expect(trial.outcome.end.errors == [CodeCount(code: "source.cut", count: 1)])
    #expect(trial.log.contains { $0.contains("the list breaks off") })
    #expect(!trial.outcome.isComplete)
  }

  @Test func `A source that blames the manifest is a usage error`() async throws {
    let server = try LoopbackServer { _ in .ok("x") }
    let scene = try Scene(catalog: broken(Diagnostic("E0999", "no such column", at: nil), server, count: 0))
    let trial = try await scene.run("sources: [{ broken: {} }]\nstages: [fetch]")
    #expect(trial.exit == .usage)
    #expect(trial.count(.diagnostic) == 1)
  }

  @Test func `Empty sources are a success and told as empty`() async throws {
    let scene = try Scene()
    let trial = try await scene.run("sources: [{ urls: [] }]\nstages: [fetch, { store: \"${item.key}\" }]")
    #expect(trial.exit == .done)
    #expect(trial.items == ItemCounts(total: 0))
    let ends = trial.events.compactMap { if case .sourceEnd(let end) = $0.payload { end } else { nil } }
    #expect(ends.map(\.isEmpty) == [true])
  }

  @Test func `An empty matrix makes no legs, and the items end well`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(2)) }]
      stages:
        - fetch
        - store: "${item.key}-${matrix.n}"
          matrix: { n: [] }
      """)
    #expect(trial.exit == .done)
    #expect(trial.items.ok == 2)
    #expect(scene.outputs.isEmpty)
  }

  @Test func `An equal duplicate is one item, and another one with its key fails`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      sources:
        - urls:
            - { url: "$URL/1", key: a }
            - { url: "$URL/1", key: a }
            - { url: "$URL/2", key: a }
            - { url: "$URL/3", key: b }
      stages: [fetch, { store: "${item.key}" }]
      """)
    #expect(trial.exit == .failed)
    #expect(trial.items.ok == 2)
    #expect(trial.items.failed == 1)
    #expect(trial.outcome.end.errors == [CodeCount(code: "item.duplicate_key", count: 1)])
    #expect(scene.asked == ["/1", "/3"])
    let ends = trial.events.compactMap { if case .sourceEnd(let end) = $0.payload { end } else { nil } }
    #expect(ends.map(\.duplicates) == [1])
  }

  @Test func `Duplicates are found after the first has ended, and in a second run as well`() async throws {
    let scene = try Scene()
    let manifest = """
      sources:
        - urls: [{ url: "$URL/1", key: a }, { url: "$URL/1", key: a }, { url: "$URL/2", key: a }]
      stages: [fetch, { store: "${item.key}" }]
      """
    for run in 0..<2 {
      let trial = try await scene.run(manifest, options: { $0.window = 1 })
      #expect(trial.items.ok == 1, "run \(run)")
      #expect(trial.items.failed == 1)
      #expect(trial.items.cached == run)
    }
    #expect(scene.server.requests.count == 1)
  }

  @Test func `Equal requests of several items are one transfer`() async throws {
    let scene = try Scene { .ok("bytes of \($0.path)") }
    let trial = try await scene.run(
      """
      sources:
        - urls: [{ url: "$URL/1", key: a }, { url: "$URL/1", key: b }, { url: "$URL/1", key: c }]
      stages: [fetch, { store: "${item.key}" }]
      """)
    #expect(trial.exit == .done)
    #expect(scene.server.requests.count == 1)
    #expect(scene.outputs == ["a", "b", "c"])
    #expect(trial.ends.values.count { $0.isShared } == 2)
    #expect(trial.ends.values.map(\.attempts).sorted() == [0, 0, 1])
    #expect(trial.outcome.end.bytesIn == 11)
  }

  @Test func `Take and sample let only some items through`() async throws {
    let scene = try Scene()
    let all = "sources: [{ urls: \(String.addresses(20)) }]\nstages: [fetch]\n"
    let taken = try await scene.run(all + "take: 3\n")
    #expect(taken.ends.keys.sorted() == ["urls/k1", "urls/k2", "urls/k3"])
    let sampled = try await scene.run(all + "sample: 5\n")
    #expect(sampled.ends.count == 5)
    let again = try await scene.run(all + "sample: 5\n")
    #expect(again.ends.keys.sorted() == sampled.ends.keys.sorted())
    let share = try await scene.run(all + "sample: 50%\n")
    #expect((1..<20).contains(share.ends.count))
  }

  @Test func `Only the named sources take part`() async throws {
    let scene = try Scene()
    let manifest = """
      sources:
        - { id: one, urls: [{ url: "$URL/1", key: a }] }
        - { id: two, urls: [{ url: "$URL/2", key: a }] }
      stages: [fetch, { store: "${item.source}-${item.key}" }]
      """
    let trial = try await scene.run(manifest, options: { $0.only = ["two"] })
    #expect(trial.ends.keys.sorted() == ["two/a"])
    #expect(trial.exit == .done)
    #expect(try await scene.run(manifest).items.cached == 1)
  }

  @Test func `Where keeps items out of the count`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      sources:
        - urls: \(String.addresses(6))
          where: item.key != 'k3'
      stages: [fetch]
      """)
    #expect(trial.items.total == 5)
    #expect(trial.items.ok == 5)
    #expect(trial.events(.itemEnd, "k4").first?.subject?.index == 3)
  }
}
