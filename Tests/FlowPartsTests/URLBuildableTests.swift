import FlowParts
import Testing

@Suite struct URLBuildableTests {
  struct Named: URLBuildable {
    let base = "https://example.com/cards"
    let names = ["ace.png", "king.png"]
  }

  struct Own: URLBuildable {
    func buildURLs() -> [String] { ["https://example.com/joker.png"] }
  }

  @Test func `names behind a base are addresses unless the builder says otherwise`() throws {
    #expect(try Named().buildURLs() == ["https://example.com/cards/ace.png", "https://example.com/cards/king.png"])
    #expect(Own().buildURLs() == ["https://example.com/joker.png"])
  }

  @Test func `a source hands the addresses out as they are asked for`() async throws {
    var reader = try await URLSource(Named()).open(in: SourceContext(id: "cards", config: Config(), folder: "."))
    #expect(reader.total == 2)
    #expect(try await reader.next(upTo: 1).map(\.url) == ["https://example.com/cards/ace.png"])
    #expect(try await reader.next(upTo: 5).map(\.url) == ["https://example.com/cards/king.png"])
    #expect(try await reader.next(upTo: 5).isEmpty)
  }
}
