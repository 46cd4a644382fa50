import FlowBase
import FlowEvents
import FlowTesting
import Testing

/// Manifests with stages for pictures, by the real program.
struct PictureTests {
  static func place(_ pictures: [String: [UInt8]]) throws -> Workplace {
    let workplace = try Workplace()
    try SmallFiles.makeFolder(workplace.place.file("in"))
    for (name, bytes) in pictures { try SmallFiles.replace(workplace.place.file("in/\(name)"), bytes) }
    return workplace
  }

  static func manifest(_ stages: String) -> String {
    """
    imgflow: 1
    output: { dir: ./out }
    state: { durability: process }
    sources:
      - directory: { path: in, glob: "*", key: "${row.stem}" }
    stages:
    \(stages)
    """
  }

  @Test func `a chain of stages makes pictures, with the right names and facts`() async throws {
    let workplace = try PictureTests.place(["one.png": Painter.photo("one"), "two.png": Painter.photo("two")])
    try workplace.write(
      "m.yaml",
      PictureTests.manifest(
        """
          - probe
          - filter: item.width == 480 and item.height == 320 and item.media == 'image/png'
          - resize: { width: 120, height: 120, fit: cover }
          - monochrome
          - id: copies
            convert: { format: "${matrix.f}" }
            matrix: { f: [jpeg, webp] }
          - store: "${item.key}-${matrix.f}"
        """))
    let end = try await workplace.tool.run("run", "m.yaml", "--events", "events.ndjson")
    #expect(end.code == 0, "\(end.errors)")
    #expect(workplace.files().sorted() == ["one-jpeg.jpg", "one-webp.webp", "two-jpeg.jpg", "two-webp.webp"])
    let events = try workplace.read("events.ndjson")
    #expect(events.contains("\"media\":\"image/webp\"") && events.contains("\"width\":120,\"height\":120"))
  }

  @Test func `a picture that no stage converts keeps its format, and a broken one costs itself`() async throws {
    let whole = Painter.photo("one")
    let workplace = try PictureTests.place([
      "good.png": whole, "cut.png": Array(whole.prefix(whole.count / 2)), "page.jpg": Array("<!doctype html>".utf8),
    ])
    try workplace.write("m.yaml", PictureTests.manifest("  - blur: 1\n  - store: \"${item.key}\"\n"))
    let end = try await workplace.tool.run("run", "m.yaml", "--events", "events.ndjson")
    #expect(end.code == 1)
    #expect(workplace.files() == ["good.png"])
    let events = try workplace.read("events.ndjson")
    #expect(events.contains("\"code\":\"image.truncated\"") && events.contains("\"code\":\"image.corrupt\""))
  }

  @Test func `the same pictures give the same bytes at any concurrency`() async throws {
    let pictures = Dictionary(uniqueKeysWithValues: (1...6).map { ("p\($0).png", Painter.photo("p\($0)")) })
    let workplace = try PictureTests.place(pictures)
    try workplace.write(
      "m.yaml",
      PictureTests.manifest(
        "  - tilt_shift\n  - round_corners: { radius: 8%, format: webp }\n  - store: \"${item.key}\"\n"))
    var digests: Set<String> = []
    for width in ["1", "8"] {
      let end = try await workplace.tool.run(
        "run", "m.yaml", "--events", "none", "--fresh", "-j", width, "--out", "out\(width)")
      #expect(end.code == 0, "\(end.errors)")
      let files = workplace.files("out\(width)").sorted()
      #expect(files.count == 6)
      digests.insert(
        try files.map { Digest.sha256(of: try SmallFiles.read(workplace.place.file("out\(width)/\($0)"))).hex }.joined()
      )
    }
    #expect(digests.count == 1)
  }
}
