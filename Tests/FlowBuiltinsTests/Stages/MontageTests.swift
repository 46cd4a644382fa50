import FlowBase
import FlowBuiltins
import FlowParts
import FlowTesting
import Testing

/// Hands out members one after the other.
private struct Members: GatheringReader {
  var rest: [Gathering.Member]

  mutating func next(upTo count: Int) async throws -> [Gathering.Member] {
    let page = rest.prefix(count)
    rest.removeFirst(page.count)
    return Array(page)
  }
}

@Suite struct MontageTests {
  private func member(_ key: String, _ path: String) -> Gathering.Member {
    Gathering.Member(
      leg: Leg(item: Item(source: "photos", key: key, index: 1, url: nil)), stage: "store",
      outputs: [OutputFact(path: path, bytes: 1, sha256: "", media: "image/png")])
  }

  private func sheet(
    _ members: [Gathering.Member], _ config: [String: Value], on services: ScratchServices
  ) async throws -> OutputFact {
    let gathering = Gathering(
      group: nil, count: members.count, members: { Members(rest: members) }, everything: { Members(rest: members) })
    let context = StageContext(
      stage: "sheet", config: Config(config.map { Config.Entry($0.key, .value($0.value)) }), attempt: 1,
      services: services)
    let result = try await Montage.part.make().gather(gathering, in: context)
    return try #require(result.outputs.first)
  }

  private func services(_ names: [String]) throws -> ScratchServices {
    let services = try ScratchServices()
    for name in names { try SmallFiles.replace(services.place.file("out/\(name).png"), Painter.avatar(name)) }
    return services
  }

  @Test func `pictures lie in rows, each row full before the next`() async throws {
    let names = (1...7).map { "p\($0)" }
    let services = try services(names)
    let fact = try await sheet(
      names.map { member($0, "\($0).png") }, ["path": "sheet.png", "columns": 3, "cell": "40x30", "gap": 5],
      on: services)
    // 3 columns of 40 and 4 gaps of 5; 3 rows of 30 and 4 gaps.
    #expect(fact.width == 140 && fact.height == 110)
    #expect(fact.path == "sheet.png" && fact.media == "image/png")
    #expect(MediaType.sniff(try SmallFiles.read(services.place.file("out/sheet.png"))) == "image/png")
    #expect(services.temporaryNames.isEmpty)
  }

  @Test func `a label takes a line below each picture`() async throws {
    let services = try services(["a", "b"])
    let fact = try await sheet(
      ["a", "b"].map { member($0, "\($0).png") },
      ["path": "sheet.jpg", "columns": 9, "cell": "40", "gap": 0, "label": "key"], on: services)
    #expect(fact.width == 80 && fact.height == 54)
  }

  @Test func `a picture that cannot be read leaves its place empty and is named in the log`() async throws {
    let services = try services(["a"])
    try SmallFiles.replace(services.place.file("out/b.png"), Array(Painter.avatar("b").prefix(900)))
    let fact = try await sheet(
      [member("b", "b.png"), member("a", "a.png")], ["path": "sheet.webp", "columns": 2, "cell": "32", "gap": 1],
      on: services)
    #expect(fact.width == 67 && fact.height == 34)
    #expect(services.log.contains { $0.hasPrefix("warn: photos/b") })
  }

  @Test func `a sheet of nothing is a fault`() async throws {
    let services = try services([])
    let fault = await #expect(throws: Fault.self) {
      try await sheet([], ["path": "sheet.jpg"], on: services)
    }
    #expect(fault?.code == "image.empty")
    #expect(services.temporaryNames.isEmpty)
  }

  @Test func `a sheet that its format cannot hold says what to change`() async throws {
    let services = try services(["a"])
    let many = Array(repeating: member("a", "a.png"), count: 900)
    let fault = await #expect(throws: Fault.self) {
      try await sheet(many, ["path": "sheet.jpg", "columns": 2, "cell": "200"], on: services)
    }
    #expect(fault?.code == "image.too_large" && fault?.message.contains("columns") == true)
  }
}

@Suite struct DedupeTests {
  private func run(
    _ stage: any Stage, _ key: String, _ bytes: [UInt8], _ config: [String: Value], on services: ScratchServices
  ) async throws -> StageResult {
    let context = StageContext(
      stage: "dedupe", config: Config(config.map { Config.Entry($0.key, .value($0.value)) }), attempt: 1,
      services: services)
    let item = Item(source: "photos", key: key, index: 1, url: "https://example.com/\(key)")
    return try await stage.run(Leg(item: item, content: .bytes(bytes)), in: context)
  }

  private func reason(_ result: StageResult) -> String? {
    if case .drop(let reason) = result.verdict { reason } else { nil }
  }

  @Test func `equal bytes come by once, and what is dropped names what it equals`() async throws {
    let services = try ScratchServices()
    let stage = Dedupe.part.make()
    #expect(reason(try await run(stage, "a", [1, 2, 3], [:], on: services)) == nil)
    #expect(reason(try await run(stage, "b", [1, 2, 3], [:], on: services)) == "the same bytes as photos/a")
    #expect(reason(try await run(stage, "c", [1, 2, 4], [:], on: services)) == nil)
    // Another try of the first is not its own twin.
    #expect(reason(try await run(stage, "a", [1, 2, 3], [:], on: services)) == nil)
  }

  @Test func `pictures that look alike come by once, others all`() async throws {
    let services = try ScratchServices()
    let stage = Dedupe.part.make()
    let config: [String: Value] = ["by": "phash"]
    let photo = Painter.photo("alps")
    let context = StageContext(
      stage: "small", config: Config([.init("width", .value(200)), .init("format", .value("jpeg"))]), attempt: 1,
      services: services)
    let small = try await ResizePicture.part.make().run(
      Leg(item: item("https://example.com/s"), content: .bytes(photo)), in: context)
    let first = try await run(stage, "a", photo, config, on: services)
    #expect(reason(first) == nil && first.fields["phash"]?.asString?.count == 16)
    let twin = reason(try await run(stage, "b", small.heldBytes ?? [], config, on: services))
    #expect(twin?.hasPrefix("looks like photos/a") == true)
    for name in ["harbour", "canyon", "reef", "dusk"] {
      #expect(reason(try await run(stage, name, Painter.photo(name), config, on: services)) == nil, "\(name)")
    }
  }
}
