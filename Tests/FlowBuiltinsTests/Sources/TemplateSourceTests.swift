import FlowBase
import FlowBuiltins
import FlowExpressions
import FlowParts
import Testing

@Suite struct TemplateSourceTests {
  private func items(
    _ url: String, _ loop: Fields, key: String? = nil, zip: Bool = false, batch: Int = 2
  ) async throws -> (items: [SourceItem], total: Int?) {
    var config = Config([
      .init("url", .template(try Template(parsing: url, style: .url), .url)), .init("for", .value(.map(loop))),
      .init("zip", .value(.bool(zip))),
    ])
    if let key { config["key"] = .template(try Template(parsing: key), .string) }
    var reader = try await TemplateSource().open(in: SourceContext(id: "gen", config: config, folder: "/"))
    var items: [SourceItem] = []
    while true {
      let next = try await reader.next(upTo: batch)
      if next.isEmpty { return (items, reader.total) }
      items += next
    }
  }

  @Test func `makes an item of each combination`() async throws {
    let (items, total) = try await items(
      "https://h/${for.slot}/${for.n}.png", ["slot": ["hero", "a b"], "n": "01..02"], key: "${for.slot}-${for.n}")
    #expect(
      items.map(\.url) == [
        "https://h/hero/01.png", "https://h/hero/02.png", "https://h/a%20b/01.png", "https://h/a%20b/02.png",
      ])
    #expect(items.map(\.key) == ["hero-01", "hero-02", "a b-01", "a b-02"])
    #expect(items.last?.loop == ["slot": "a b", "n": "02"])
    #expect(items.allSatisfy { $0.fault == nil })
    #expect(total == 4)
  }

  @Test func `a bad address is its item's fault alone`() async throws {
    let items = try await items("https://${for.host}/x", ["host": ["good.example", "bad host", "also.good"]]).items
    #expect(items.map { $0.fault?.code } == [nil, "url.invalid", nil])
    let faulty = try await self.items("https://h/${10 / for.n}", ["n": [1, 0, 2]]).items
    #expect(faulty.map { $0.fault?.code } == [nil, "expression.division", nil])
  }

  @Test func `axes that cannot be are the manifest's fault`() async throws {
    let fault = await #expect(throws: Fault.self) { try await items("https://h/${for.n}", ["n": "1..", "m": [1]]) }
    #expect(fault?.kind == .config)
    await #expect(throws: Fault.self) { try await items("https://h/${for.n}", ["n": "1..3", "m": [1]], zip: true) }
  }

  @Test func `an endless product starts at once`() async throws {
    let config = Config([
      .init("url", .template(try Template(parsing: "https://h/${for.a}/${for.b}", style: .url), .url)),
      .init("for", .value(.map(["a": "1..1000000000", "b": "1..1000000000"]))),
    ])
    var reader = try await TemplateSource().open(in: SourceContext(id: "gen", config: config, folder: "/"))
    #expect(reader.total == 1_000_000_000_000_000_000)
    #expect(try await reader.next(upTo: 3).map(\.url) == ["https://h/1/1", "https://h/1/2", "https://h/1/3"])
  }
}
