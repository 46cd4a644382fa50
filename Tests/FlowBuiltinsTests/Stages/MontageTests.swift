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
