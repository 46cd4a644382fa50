import FlowBase
import FlowBuiltins
import FlowExpressions
import FlowParts
import Testing

struct URLsSourceTests {
  @Test func `texts and maps become items, in order`() async throws {
    let hash = String(repeating: "ab", count: 32)
    let found = try await items(
      URLsSource.part,
      [
        .init(
          "list",
          .value([
            "https://a/1",
            .map([
              "url": "https://a/2", "key": "two", "sha256": .string(hash), "size": 4096, "mirrors": ["https://b/2"],
              "headers": .map(["X-A": "1"]), "row": .map(["title": "Second"]),
            ]),
          ]))
      ])
    #expect(found.map(\.url) == ["https://a/1", "https://a/2"])
    #expect(found[1].key == "two")
    #expect(found[1].expected.size == 4096)
    #expect(found[1].expected.sha256?.hex == hash)
    #expect(found[1].mirrors == ["https://b/2"])
    #expect(found[1].headers == [Header("X-A", "1")])
    #expect(found[1].row == ["title": "Second"])
  }

  @Test func `an entry's templates see its own row`() async throws {
    let entry: ConfigValue = .map([
      try template("url", "https://a/${row.name}.png", .url), try template("key", "k${row.n}", .string),
      .init("row", .value(.map(["name": "x y", "n": 5]))),
    ])
    let found = try await items(URLsSource.part, [.init("list", .list([entry, .value("https://a/2")]))])
    #expect(found.map(\.url) == ["https://a/x%20y.png", "https://a/2"])
    #expect(found.map(\.key) == ["k5", nil])
  }

  @Test func `how many there are is known`() async throws {
    let context = SourceContext(
      id: "s", config: Config([.init("list", .value(["https://a", "https://b"]))]), folder: "/")
    let reader = try await URLsSource.part.make().open(in: context)
    #expect(reader.total == 2)
  }

  @Test func `a broken digest is told with its entry`() async throws {
    let fault = await #expect(throws: Fault.self) {
      _ = try await items(
        URLsSource.part, [.init("list", .value([.map(["url": "https://a", "sha256": "abc"])]))])
    }
    #expect(fault?.message.hasPrefix("entry 1 of `urls`: `abc` is no sha256; 64 hex digits") == true)
  }
}
