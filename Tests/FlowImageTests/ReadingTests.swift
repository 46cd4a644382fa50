import FlowBase
import Testing

@testable import FlowImage

/// What files hold beside plain sRGB, and how it comes out.
struct ReadingTests {
  /// Six blocks in two rows of three, which can be told apart after a JPEG.
  static let blocks: [String: Pixels.Pixel] = [
    "A": [220, 30, 30], "B": [30, 200, 30], "C": [30, 30, 220], "D": [230, 230, 30], "E": [30, 220, 220],
    "F": [240, 240, 240],
  ]

  static func blockPicture() throws -> VipsImage {
    let rows = ["ABC", "DEF"].map { $0.map { ReadingTests.blocks[String($0)] ?? [] } }
    return try Pixels.painted(96, 64) { x, y in rows[y / 32][x / 32] }
  }

  static func blocks(of made: Pixels.Result) -> [String] {
    (0..<made.block.height / 32).map { row in
      (0..<made.block.width / 32).map { column in
        let pixel = made[column * 32 + 16, row * 32 + 16]
        return ReadingTests.blocks.min {
          Pixels.difference($0.value, pixel) < Pixels.difference($1.value, pixel)
        }?.key ?? "?"
      }.joined()
    }
  }

  @Test(arguments: [
    (1, ["ABC", "DEF"]), (2, ["CBA", "FED"]), (3, ["FED", "CBA"]), (4, ["DEF", "ABC"]), (5, ["AD", "BE", "CF"]),
    (6, ["DA", "EB", "FC"]), (7, ["FC", "EB", "DA"]), (8, ["CF", "BE", "AD"]),
  ])
  func `each of the eight orientations comes out upright`(_ orientation: Int, _ wanted: [String]) throws {
    let picture = try ReadingTests.blockPicture().with(["orientation": orientation])
    for format in ["jpeg", "webp", "tiff"] {
      let file = try Pixels.file(format, picture, [("strip", .flag(false))])
      guard case .facts(let facts) = PictureEngine.perform(PictureJob(.bytes(file), wish: .facts(full: false))) else {
        Issue.record("no facts of \(format)")
        continue
      }
      #expect(facts.orientation == orientation)
      #expect([facts.width, facts.height] == [96, 64])
      #expect(ReadingTests.blocks(of: try Pixels.made(file, [])) == wanted)
      // Made smaller as well, by the way that JPEG in and JPEG out takes.
      let box = Resize(width: wanted[0].count * 32, height: nil)
      let made = try Pixels.made(file, [.resize(box)]) { $0.format = .jpeg }
      #expect(ReadingTests.blocks(of: made) == wanted)
      #expect(made.picture.facts.orientation == 1)
      var asStored = ReadOptions()
      asStored.turns = false
      #expect(ReadingTests.blocks(of: try Pixels.made(file, [], reading: asStored)) == ["ABC", "DEF"])
    }
  }

  /// What this machine can write, for the formats that not every libvips has.
  private static func file(_ format: String, _ picture: VipsImage) -> [UInt8]? {
    let compression: [(String, VipsValue)] = format == "heic" ? [("compression", .int(1))] : []
    return try? Pixels.file(format == "jxl" ? "jxl" : "heif", picture, compression + [("Q", .int(95))])
  }

  @Test(arguments: ["heic", "avif", "jxl"])
  func `newer formats are read where the machine can`(_ format: String) throws {
    let picture = try ReadingTests.blockPicture()
    let compression: [(String, VipsValue)] = format == "avif" ? [("compression", .int(4))] : []
    let made = format == "avif" ? try? Pixels.file("heif", picture, compression) : ReadingTests.file(format, picture)
    guard let file = made else {
      // Nothing to read is no failure; it is said, so that nobody takes it for a success.
      StandardStream.errors.write("reading \(format) is not tried: libvips on this machine cannot write it\n")
      return
    }
    #expect(PictureFormat(of: file)?.rawValue == format)
    guard case .facts(let facts) = PictureEngine.perform(PictureJob(.bytes(file), wish: .facts(full: true))) else {
      Issue.record("no facts of \(format)")
      return
    }
    #expect([facts.width, facts.height] == [96, 64])
    #expect(facts.format.rawValue == format)
    #expect(ReadingTests.blocks(of: try Pixels.made(file, [])) == ["ABC", "DEF"])
    for share in 1...9 {
      let cut = Array(file.prefix(file.count * share / 10))
      guard case .fault(let fault) = PictureEngine.perform(PictureJob(.bytes(cut), wish: .facts(full: true))) else {
        Issue.record("\(format), cut at \(share) tenths, was taken for whole")
        continue
      }
      #expect(["image.truncated", "image.corrupt", "image.unsupported"].contains(fault.code), "\(fault)")
    }
  }

  @Test func `a resize goes by the upright size`() throws {
    let picture = try Pixels.painted(800, 400) { _, _ in [9, 9, 9] }.with(["orientation": 6])
    let file = try Pixels.file("jpeg", picture, [("strip", .flag(false))])
    #expect(try Pixels.made(file, [.resize(Resize(width: 100, height: 100))]).size == [50, 100])
    #expect(try Pixels.made(file, [.resize(Resize(width: 100, height: 100))]) { $0.format = .jpeg }.size == [50, 100])
  }

  @Test func `sixteen bits become eight`() throws {
    let picture = try Pixels.painted(4, 1) { x, _ in [UInt8(x * 60), 255, 0] }
    let deep = try Vips.image(
      "cast", ["in": .image(try picture.scaled(by: [257], plus: [0])), "format": .int(2)]
    ).marked(as: .rgb16)
    let made = try Pixels.made(try Pixels.png(deep), [])
    #expect(made.pixels == [[0, 255, 0], [60, 255, 0], [120, 255, 0], [180, 255, 0]])
    let alpha = try Vips.image(
      "cast",
      [
        "in": .image(try Pixels.image(1, [[10, 20, 30, 128]]).scaled(by: [257], plus: [0])), "format": .int(2),
      ]
    ).marked(as: .rgb16)
    #expect(try Pixels.made(try Pixels.png(alpha), []).pixels == [[10, 20, 30, 128]])
  }

  @Test func `a palette becomes its colours`() throws {
    let picture = try Pixels.painted(8, 8) { x, y in (x + y) % 2 == 0 ? [250, 10, 20] : [5, 200, 90] }
    let file = try Pixels.file("png", picture, [("palette", .flag(true)), ("dither", .double(0))])
    #expect(file.contains(sequence: Array("PLTE".utf8)))
    let made = try Pixels.made(file, [])
    #expect(Pixels.difference(made[0, 0], [250, 10, 20]) <= 1 && Pixels.difference(made[1, 0], [5, 200, 90]) <= 1)
  }

  @Test func `grey stays grey, with its transparency`() throws {
    let file = try Pixels.png(try Pixels.image(2, [[10, 255], [200, 40]]))
    let made = try Pixels.made(file, [])
    #expect(made.pixels == [[10, 255], [200, 40]])
    #expect(made.picture.facts.colourspace == "b-w" && made.picture.facts.hasAlpha)
    let flat = try Pixels.made(file, []) {
      $0.format = .jpeg
      $0.quality = 100
    }
    // 200 at 40/255 on white: 246.
    #expect(flat.block.bands == 1 && abs(Int(flat[1, 0][0]) - 246) <= 2)
  }

  @Test func `print colours become those of a screen`() throws {
    let inks: [Pixels.Pixel] = [[0, 0, 0, 0], [255, 0, 0, 0], [0, 255, 255, 0], [0, 0, 0, 255]]
    let picture = try Pixels.painted(64, 16) { x, _ in inks[x / 16] }.marked(as: .cmyk)
    for format in ["jpeg", "tiff"] {
      let made = try Pixels.made(try Pixels.file(format, picture), [])
      #expect(made.block.bands == 3)
      #expect(made[8, 8].allSatisfy { $0 > 245 }, "paper is white")
      #expect(made[24, 8][0] < 80 && made[24, 8][2] > 180, "cyan")
      #expect(made[40, 8][0] > 180 && made[40, 8][1] < 90, "red of magenta and yellow")
      #expect(made[56, 8].allSatisfy { $0 < 70 }, "black")
    }
  }

  @Test func `a profile is applied, and only kept where that is asked for`() throws {
    let colours: [Pixels.Pixel] = [[255, 0, 0], [0, 200, 40], [30, 60, 220], [128, 128, 128]]
    let plain = try Pixels.image(4, colours)
    let wide = try Vips.image(
      "icc_transform",
      ["in": .image(plain), "output-profile": .text("p3"), "input-profile": .text("srgb"), "intent": .int(1)])
    let file = try Pixels.file("png", wide, [("strip", .flag(false))])
    #expect(Pixels.difference(Array(try Pixels.decode(file).bytes[0..<3]), [255, 0, 0]) > 15, "the numbers are others")
    let made = try Pixels.made(file, [])
    for (pixel, colour) in zip(made.pixels, colours) { #expect(Pixels.difference(pixel, colour) <= 2) }
    #expect(!made.picture.bytes.contains(sequence: Array("iCCP".utf8)))
    let kept = try Pixels.made(file, []) {
      $0.format = .png
      $0.keepsProfile = true
    }
    #expect(kept.picture.bytes.contains(sequence: Array("iCCP".utf8)))
    let again = try Pixels.made(file, []) { $0.keepsProfile = true }
    #expect(kept.pixels == again.pixels)
    #expect(Pixels.difference(kept.pixels[0], [255, 0, 0]) > 15)
  }

  @Test func `metadata goes unless it is to stay`() throws {
    let picture = try ReadingTests.blockPicture().with(["orientation": 6])
    let file = try Pixels.file("jpeg", picture, [("strip", .flag(false))])
    #expect(file.contains(sequence: Array("Exif".utf8)))
    for operations in [[], [PictureOperation.resize(Resize(width: 20, height: nil))]] {
      let bare = try Pixels.made(file, operations) { $0.format = nil }
      #expect(!bare.picture.bytes.contains(sequence: Array("Exif".utf8)))
      let full = try Pixels.made(file, operations) {
        $0.format = nil
        $0.strips = false
      }
      #expect(full.picture.bytes.contains(sequence: Array("Exif".utf8)))
      guard
        case .facts(let facts) = PictureEngine.perform(
          PictureJob(.bytes(full.picture.bytes), wish: .facts(full: true)))
      else {
        Issue.record("no facts")
        return
      }
      #expect(facts.orientation == 1, "what was turned is not turned again")
    }
  }

  /// Three frames, one colour each.
  static func animation(_ format: String) throws -> [UInt8] {
    let colours: [Pixels.Pixel] = [[255, 0, 0], [0, 255, 0], [0, 0, 255]]
    let roll = try Pixels.painted(40, 90) { _, y in colours[y / 30] }.with(["page-height": 30, "n-pages": 3])
    return try Pixels.file(format, roll, format == "webp" ? [("lossless", .flag(true))] : [])
  }

  @Test(arguments: [("gif", PictureFormat.webp), ("gif", .gif), ("webp", .gif), ("webp", .webp)])
  func `animations keep their frames through resize and convert`(_ from: String, _ to: PictureFormat) throws {
    let made = try Pixels.made(try ReadingTests.animation(from), [.resize(Resize(width: 20, height: nil))]) {
      $0.format = to
      $0.lossless = true
    }
    #expect(made.picture.facts.pages == 3)
    #expect([made.picture.facts.width, made.picture.facts.height] == [20, 15])
    #expect(made.size == [20, 45])
    #expect(Array(made[10, 7][..<3]) == [255, 0, 0] && Array(made[10, 37][..<3]) == [0, 0, 255])
  }

  @Test func `the first frame is taken where the format holds one, or where that is asked for`() throws {
    for format in ["gif", "webp"] {
      let file = try ReadingTests.animation(format)
      let still = try Pixels.made(file, []) { $0.format = .png }
      #expect(still.size == [40, 30] && Array(still[0, 0][..<3]) == [255, 0, 0])
      var first = ReadOptions()
      first.firstOnly = true
      let one = try Pixels.made(file, [], reading: first) { $0.format = nil }
      #expect(one.picture.facts.pages == 1 && one.size == [40, 30])
      #expect(try Pixels.made(file, []) { $0.format = nil }.picture.facts.pages == 3)
    }
  }

  @Test func `a progressive JPEG is read like another`() throws {
    let picture = try ReadingTests.blockPicture()
    let plain = try Pixels.file("jpeg", picture, [("Q", .int(95))])
    let progressive = try Pixels.file("jpeg", picture, [("Q", .int(95)), ("interlace", .flag(true))])
    #expect(plain != progressive)
    let small = PictureOperation.resize(Resize(width: 24, height: nil))
    let (left, right) = (try Pixels.made(plain, [small]), try Pixels.made(progressive, [small]))
    #expect(left.pixels == right.pixels)
    let made = try Pixels.made(plain, []) {
      $0.format = .jpeg
      $0.progressive = true
    }
    // The marker of a progressive frame.
    #expect(made.picture.bytes.contains(sequence: [0xFF, 0xC2]))
  }

  @Test func `a picture that no stage converts keeps its format`() throws {
    let picture = try ReadingTests.blockPicture()
    for (format, media) in [
      ("jpeg", "image/jpeg"), ("png", "image/png"), ("webp", "image/webp"), ("gif", "image/gif"),
      ("tiff", "image/tiff"),
    ] {
      let made = try Pixels.made(try Pixels.file(format, picture), [.blur(sigma: 1)]) { $0.format = nil }
      #expect(made.picture.facts.format.media == media)
      #expect(PictureFormat(of: made.picture.bytes) == made.picture.facts.format)
    }
  }

  @Test func `sizes that stand beside one another are the same alone, in pairs and all together`() throws {
    let file = try Pixels.file("jpeg", try JPEGPathTests.photo(600, 400), [("Q", .int(95))])
    let sizes = [40, 120, 290, 550].map { Resize(width: $0, height: nil) }
    let formats: [PictureFormat] = [.jpeg, .webp, .jpeg, .png]
    let branches = zip(sizes, formats).map { size, format in
      var encoding = EncodeOptions()
      encoding.format = format
      return PictureBranch([.resize(size)], encoding: encoding, beside: sizes)
    }
    func made(_ branches: [PictureBranch]) -> [MadePicture] {
      guard case .pictures(let made) = PictureEngine.perform(PictureJob(.bytes(file), wish: .pictures(branches))) else {
        return []
      }
      return made
    }
    let together = made(branches)
    #expect(together.map(\.facts.width) == [40, 120, 290, 550])
    #expect(together.map(\.facts.format) == formats)
    #expect(branches.flatMap { made([$0]) } == together)
    #expect(made([branches[1], branches[3]]) + made([branches[2], branches[0]]) == [1, 3, 2, 0].map { together[$0] })
  }

  @Test func `branches of one decoding are what they are alone`() throws {
    let file = try Pixels.png(try ReadingTests.blockPicture())
    var webp = EncodeOptions()
    webp.format = .webp
    let branches = [
      PictureBranch([.resize(Resize(width: 48, height: nil))]), PictureBranch([.blur(sigma: 2)], encoding: webp),
      PictureBranch([.resize(Resize(width: 10, height: 10)), .monochrome(colour: .white, intensity: 1)]),
    ]
    guard case .pictures(let together) = PictureEngine.perform(PictureJob(.bytes(file), wish: .pictures(branches)))
    else {
      Issue.record("no pictures")
      return
    }
    for (branch, picture) in zip(branches, together) {
      #expect(PictureEngine.perform(PictureJob(.bytes(file), wish: .pictures([branch]))) == .pictures([picture]))
    }
  }
}

extension Array where Element == UInt8 {
  /// Whether the bytes stand somewhere in a row.
  func contains(sequence: [UInt8]) -> Bool {
    guard count >= sequence.count else { return false }
    return (0...count - sequence.count).contains { self[$0..<$0 + sequence.count].elementsEqual(sequence) }
  }
}
