import FlowBase
import FlowBuiltins
import FlowExpressions
import FlowParts
import FlowTesting
import Testing

@Suite struct SmallStageTests {
  private func decide(_ part: StagePart, _ leg: Leg, _ config: Config) throws -> StageResult {
    let stage = try #require(part.make().asImmediateStage)
    return try stage.decide(leg, config: config)
  }

  private var leg: Leg {
    Leg(item: item("https://example.com/a.jpg") { $0.fields = ["key": "k"] }, fields: ["bytes": 5])
  }

  @Test func `A filter lets pass what its condition is true of, and drops the rest`() throws {
    for (text, passes) in [("item.bytes > 1", true), ("item.bytes > 9", false), ("item.width > 1", false)] {
      let config = Config([.init("condition", .condition(try Expression(parsing: text)))])
      let result = try decide(Filter.part, leg, config)
      if case .pass = result.verdict { #expect(passes, "\(text)") } else { #expect(!passes, "\(text)") }
    }
    let result = try decide(Filter.part, leg, Config([.init("condition", .value(false))]))
    guard case .drop = result.verdict else {
      Issue.record("a condition that is false already must drop")
      return
    }
  }

  @Test func `Set gives an item the fields of its map, with their types declared beforehand`() throws {
    let config = Config([.init("fields", .value(["title": "A", "wide": true, "n": 3]))])
    #expect(try decide(SetFields.part, leg, config).fields == ["title": "A", "wide": true, "n": 3])
    let declared = SetFields.part.spec.sets(config)
    #expect(declared == [ItemField("title", .string), ItemField("wide", .bool), ItemField("n", .integer)])
  }

  @Test func `Write publishes a text and leaves the bytes of the item alone`() async throws {
    let bench = try Bench(Write.part)
    let result = try await bench.run(item(nil), ["path": "captions/a.txt", "text": "A cat"])
    #expect(result.content == nil)
    #expect(result.outputs.map(\.path) == ["captions/a.txt"])
    #expect(try text(bench, "captions/a.txt") == "A cat")
  }
}

/// What stands in a published file.
func text(_ bench: Bench, _ path: String) throws -> String {
  String(decoding: try SmallFiles.read(PathText.join(bench.services.settings.outputFolder, path)), as: UTF8.self)
}

@Suite struct StoreTests {
  private let photo = item("https://user:secret@example.com/a?token=abc&size=2") {
    $0.fields = ["key": "k", "name": "a", "media": "image/jpeg", "width": 40, "height": 30]
    $0.row = ["caption": "A \"cat\""]
  }

  @Test(arguments: [
    ("a", "a.jpg"), ("a.jpeg", "a.jpeg"), ("x.y/a", "x.y/a.jpg"), (".hidden", ".hidden.jpg"), ("a.webp", "a.webp"),
  ])
  func `A path without an extension gets the one of the media type`(path: String, stored: String) async throws {
    let bench = try Bench(Store.part)
    let result = try await bench.run(photo, ["path": .string(path)], content: .bytes([1, 2, 3]))
    #expect(result.outputs.map(\.path) == [stored])
    #expect(result.outputs.first?.width == 40)
  }

  @Test func `An item without bytes is told where they come from`() async throws {
    let bench = try Bench(Store.part)
    #expect(await bench.fault(photo, ["path": "a"])?.code == "content.missing")
  }

  @Test func `A mode that is no octal number is a fault of the configuration`() async throws {
    let bench = try Bench(Store.part)
    let fault = await bench.fault(photo, ["path": "a", "mode": "rw"], content: .bytes([1]))
    #expect(fault?.kind == .config)
    #expect(fault?.message == "`mode` is permissions in octal such as `0644`, not `rw`")
  }

  @Test func `A sidecar holds the item, its row and the output, and no secret`() async throws {
    let bench = try Bench(Store.part)
    let result = try await bench.run(photo, ["path": "a", "sidecar": "json"], content: .bytes([1, 2, 3]))
    #expect(result.outputs.map(\.path) == ["a.jpg", "a.jpg.json"])
    let json = try JSONReader.read(Array(try text(bench, "a.jpg.json").utf8))
    #expect(json.asMap?["row"] == ["caption": "A \"cat\""])
    #expect(json.asMap?["output"]?.asMap?["path"] == "a.jpg")
    #expect(json.asMap?["output"]?.asMap?["bytes"] == 3)
    let url = json.asMap?["url"]?.asString ?? ""
    #expect(!url.contains("secret") && !url.contains("abc") && url.contains("size=2"))
  }
}
