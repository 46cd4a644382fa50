import FlowBase
import FlowBuiltins
import FlowExpressions
import FlowParts
import FlowTesting
import Testing

@Suite struct PictureStageTests {
  private func pass(
    _ part: StagePart, _ config: [String: Value], _ content: Content?, on services: ScratchServices,
    isFused: Bool = false
  ) async throws -> StageResult {
    var context = StageContext(
      stage: part.spec.name, config: Config(config.map { Config.Entry($0.key, .value($0.value)) }), attempt: 1,
      services: services)
    context.isFused = isFused
    return try await part.make().run(Leg(item: item("https://example.com/a.png"), content: content), in: context)
  }

  @Test func `a stage that works alone gives bytes and what is known of them`() async throws {
    let services = try ScratchServices()
    let photo = Painter.photo("alone")
    let made = try await pass(ResizePicture.part, ["width": 60, "format": "jpeg"], .bytes(photo), on: services)
    #expect(MediaType.sniff(made.heldBytes ?? []) == "image/jpeg")
    #expect(
      made.fields == [
        "media": "image/jpeg", "width": 60, "height": 40, "pages": 1, "has_alpha": false, "orientation": 1,
        "colourspace": "srgb",
      ])
  }

  @Test(arguments: ["resize", "probe", "dedupe"])
  func `a picture in memory is worked on without a file`(stage: String) async throws {
    let services = try ScratchServices()
    let photo = Painter.photo("held")
    let held = HeldFile(memory: photo, sha256: Digest.sha256(of: photo), room: nil) { _ throws(Fault) in
      throw Fault("disk.io", .local, "nobody is to need a file")
    }
    let look = try #require(Dedupe.part.spec.look)
    var part = look()
    var config: [String: Value] = ["by": "phash"]
    if stage == "resize" {
      part = ResizePicture.part
      config = ["width": 60]
    } else if stage == "probe" {
      part = Probe.part
      config = [:]
    }
    let made = try await pass(part, config, .file(held), on: services)
    let known = try await pass(part, config, .bytes(photo), on: services)
    #expect(made.fields == known.fields && !made.fields.isEmpty)
    if stage == "resize" { #expect(made.heldBytes == known.heldBytes) }
    #expect(held.memory == photo)
  }

  @Test func `stages that run as one leave the work to the last, and make what they would make without loss`()
    async throws
  {
    let services = try ScratchServices()
    let photo = Content.bytes(Painter.photo("fused"))
    let first = try await pass(ResizePicture.part, ["width": 60], photo, on: services, isFused: true)
    guard case .deferred(let work) = first.content else {
      Issue.record("work was done that was to be left")
      return
    }
    #expect(work.kind == "picture" && first.fields.isEmpty)
    let fused = try await pass(MonochromePicture.part, ["intensity": 0.5], first.content, on: services)
    let alone = try await pass(ResizePicture.part, ["width": 60], photo, on: services)
    let second = try await pass(MonochromePicture.part, ["intensity": 0.5], alone.content, on: services)
    // PNG loses nothing on the way, so both ways lead to the same bytes.
    #expect(fused.heldBytes != nil && fused.heldBytes == second.heldBytes)
    #expect(fused.fields == second.fields)
    #expect(try await work.realise().bytesHeld == alone.heldBytes)
  }

  @Test func `work is known by what it starts from and by what is done`() async throws {
    let services = try ScratchServices()
    func identity(_ name: String, _ width: Int) async throws -> String? {
      let made = try await pass(
        ResizePicture.part, ["width": .int(width)], .bytes(Painter.photo(name)), on: services, isFused: true)
      return if case .deferred(let work) = made.content { work.identity } else { nil }
    }
    let first = try await identity("a", 60)
    #expect(try await identity("a", 60) == first)
    #expect(try await identity("a", 61) != first)
    #expect(try await identity("b", 60) != first)
  }

  @Test func `a radius that is larger than the picture is cut down and said, and so is a quality of nothing`()
    async throws
  {
    let services = try ScratchServices()
    let photo = Content.bytes(Painter.photo("round"))
    let large = try await pass(RoundCornersPicture.part, ["radius": "5000"], photo, on: services)
    #expect(services.log.count == 1 && services.log.first?.contains("480 x 320 px, and are made with 160 px") == true)
    let fits = try await pass(RoundCornersPicture.part, ["radius": "160"], photo, on: services)
    #expect(large.heldBytes == fits.heldBytes && services.log.count == 1)
    let shift = try await pass(TiltShiftPicture.part, ["radius": 200], photo, on: services)
    #expect(shift.heldBytes != nil && services.log.count == 1)
    let least = try await pass(ConvertPicture.part, ["format": "jpeg", "quality": 0], photo, on: services)
    let one = try await pass(ConvertPicture.part, ["format": "jpeg", "quality": 1], photo, on: services)
    #expect(least.heldBytes == one.heldBytes)
  }

  @Test func `large results go to a file`() async throws {
    let services = try ScratchServices()
    let made = try await pass(
      ResizePicture.part, ["width": 2400, "enlarge": true, "format": "tiff", "kernel": "nearest"],
      .bytes(Painter.photo("large")), on: services)
    if case .file(let file) = made.content {
      #expect(file.bytes > 0)
    } else {
      #expect((made.heldBytes?.count ?? 0) <= 4 << 20)
    }
  }

  @Test func `probe reads the header and leaves the bytes alone`() async throws {
    let services = try ScratchServices()
    let made = try await pass(Probe.part, [:], .bytes(Painter.photo("probe")), on: services)
    #expect(made.content == nil)
    #expect(made.fields["width"] == 480 && made.fields["height"] == 320 && made.fields["media"] == "image/png")
    let half = Array(Painter.photo("probe").prefix(4000))
    #expect(try await pass(Probe.part, [:], .bytes(half), on: services).fields["width"] == 480)
    let fault = await #expect(throws: Fault.self) {
      try await pass(Probe.part, ["full": true], .bytes(half), on: services)
    }
    #expect(fault?.code == "image.truncated")
  }

  @Test func `a file of this machine needs no fetch, for storing neither`() async throws {
    let services = try ScratchServices()
    let path = services.place.file("local.png")
    try SmallFiles.replace(path, Painter.photo("local"))
    let leg = Leg(item: item(nil) { $0.fields = ["path": .string(path), "stem": "local"] })
    func run(_ part: StagePart, _ config: [String: Value]) async throws -> StageResult {
      let context = StageContext(
        stage: "stage", config: Config(config.map { Config.Entry($0.key, .value($0.value)) }), attempt: 1,
        services: services)
      return try await part.make().run(leg, in: context)
    }
    #expect(try await run(BlurPicture.part, ["sigma": 2.0]).fields["width"] == 480)
    #expect(try await run(Store.part, ["path": "kept"]).outputs.map(\.path) == ["kept.png"])
  }

  @Test(arguments: [
    (CropPicture.part, ["aspect": "sixteen"] as [String: Value]), (CropPicture.part, [:]),
    (CropPicture.part, ["aspect": "1:1", "width": 5]), (ResizePicture.part, [:]),
    (MonochromePicture.part, ["color": "reddish"]), (RoundCornersPicture.part, ["radius": "-3"]),
    (RotatePicture.part, ["degrees": "left"]), (BlurPicture.part, ["sigma": 1.0, "background": "#12"]),
    (Montage.part, ["path": "sheet.bmp"]), (Montage.part, ["path": "sheet.jpg", "cell": "3"]),
  ])
  func `what types cannot say is found before the run`(_ part: StagePart, _ config: [String: Value]) throws {
    let config = Config(config.map { Config.Entry($0.key, .value($0.value)) })
    #expect(part.spec.check(config, "").count == 1)
  }

  @Test func `right configurations pass the check, and so does avif where it can be written`() {
    let right: [(StagePart, [String: Value])] = [
      (CropPicture.part, ["aspect": "16:9"]), (CropPicture.part, ["x": 3]), (ResizePicture.part, ["height": 9]),
      (ConvertPicture.part, ["format": "avif"]), (RoundCornersPicture.part, ["radius": "10%"]),
      (RotatePicture.part, ["degrees": "auto"]), (Montage.part, ["path": "sheet.webp", "cell": "240x160"]),
    ]
    for (part, config) in right {
      let config = Config(config.map { Config.Entry($0.key, .value($0.value)) })
      #expect(part.spec.check(config, "") == [], "\(part.spec.name)")
    }
  }
}

extension Content {
  fileprivate var bytesHeld: [UInt8]? {
    switch self {
    case .bytes(let bytes): bytes
    case .file(let file): try? SmallFiles.read(file.path)
    case .deferred: nil
    }
  }
}
