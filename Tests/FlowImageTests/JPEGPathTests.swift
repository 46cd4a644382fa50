import FlowBase
import Testing

@testable import FlowImage

/// The short way for JPEGs means what the common way means.
struct JPEGPathTests {
  static func photo(_ width: Int, _ height: Int) throws -> VipsImage {
    try Pixels.painted(width, height) { x, y in
      let wave = Trigonometry.sine(Double(x) / 9) * Trigonometry.cosine(Double(y) / 13)
      return [UInt8(128 + wave * 100), UInt8(x * 255 / width), UInt8(y * 255 / height)]
    }
  }

  static func branch(_ change: (inout Resize) -> Void) -> PictureBranch {
    var resize = Resize(width: 64, height: 48)
    change(&resize)
    return PictureBranch([.resize(resize)])
  }

  static func short(_ file: [UInt8], _ branches: [PictureBranch]) throws -> PictureReply? {
    let job = PictureJob(.bytes(file), wish: .pictures(branches))
    return JPEGPath.pictures(of: job, try PictureSource(job.input, loaders: [])).whole.map(PictureReply.pictures)
  }

  /// What the common way makes: the same chain, with a step that changes nothing.
  static func common(_ file: [UInt8], _ branch: PictureBranch) throws -> Pixels.Result {
    try Pixels.made(file, branch.operations + [.blur(sigma: 0)]) { $0.format = .jpeg }
  }

  static func noise(_ left: PixelBlock, _ right: PixelBlock) -> Double {
    let squares = zip(left.bytes, right.bytes).reduce(0) { $0 + (Int($1.0) - Int($1.1)) * (Int($1.0) - Int($1.1)) }
    return Double(squares) / Double(max(1, left.bytes.count))
  }

  static let boxes: [PictureBranch] = [
    branch { $0.fit = .inside },
    branch {
      $0.fit = .cover
      $0.gravity = .southeast
    }, branch { $0.fit = .contain }, branch { $0.fit = .fill },
    branch {
      $0.fit = .contain
      $0.gravity = .north
      $0.background = Colour(red: 200, green: 10, blue: 20)
    },
  ]

  @Test(arguments: [1, 3, 6, 8])
  func `both ways make the same picture`(_ orientation: Int) throws {
    let picture = try JPEGPathTests.photo(400, 300).with(["orientation": orientation])
    let file = try Pixels.file("jpeg", picture, [("strip", .flag(false)), ("Q", .int(95))])
    for branch in JPEGPathTests.boxes {
      guard case .pictures(let made)? = try JPEGPathTests.short(file, [branch]) else {
        Issue.record("the short way was not taken")
        continue
      }
      let common = try JPEGPathTests.common(file, branch)
      let short = try Pixels.decode(made[0].bytes)
      #expect([short.width, short.height, short.bands] == [common.block.width, common.block.height, 3])
      #expect(made[0].facts == common.picture.facts)
      // 30 dB and better: less than what the encoder itself costs at this quality.
      #expect(JPEGPathTests.noise(short, common.block) < 20)
    }
  }

  @Test func `grey stays grey`() throws {
    let grey = try JPEGPathTests.photo(300, 200).colourspace(.grey)
    let branch = JPEGPathTests.branch { _ in }
    let file = try Pixels.file("jpeg", grey)
    guard case .pictures(let made)? = try JPEGPathTests.short(file, [branch]) else {
      Issue.record("the short way was not taken")
      return
    }
    #expect(try Pixels.decode(made[0].bytes).bands == 1)
    #expect(made[0].facts.colourspace == "b-w")
    #expect(JPEGPathTests.noise(try Pixels.decode(made[0].bytes), try JPEGPathTests.common(file, branch).block) < 20)
  }

  @Test func `what it is not made for goes the common way`() throws {
    let picture = try JPEGPathTests.photo(400, 300)
    let file = try Pixels.file("jpeg", picture)
    let usual = JPEGPathTests.branch { _ in }
    #expect(try JPEGPathTests.short(file, [usual]) != nil)
    var webp = usual
    webp.encoding.format = .webp
    var kept = usual
    kept.encoding.strips = false
    var more = usual
    more.operations.append(.blur(sigma: 1))
    let large = JPEGPathTests.branch {
      $0.width = 300
      $0.height = 300
    }
    let chosen = JPEGPathTests.branch {
      $0.fit = .cover
      $0.gravity = .attention
    }
    for branch in [webp, kept, more, large, chosen] {
      #expect(try JPEGPathTests.short(file, [branch]) == nil)
      #expect(try JPEGPathTests.short(file, [usual, branch]) == nil)
    }
    #expect(try JPEGPathTests.short(Array(file.prefix(file.count / 2)), [usual]) == nil)
    let cmyk = try Pixels.painted(200, 200) { _, _ in [1, 2, 3, 4] }.marked(as: .cmyk)
    #expect(try JPEGPathTests.short(try Pixels.file("jpeg", cmyk), [usual]) == nil)
    let wide = try Vips.image(
      "icc_transform",
      ["in": .image(picture), "output-profile": .text("p3"), "input-profile": .text("srgb")])
    #expect(try JPEGPathTests.short(try Pixels.file("jpeg", wide, [("strip", .flag(false))]), [usual]) == nil)
  }

  @Test func `weights sum to one, whatever the sizes`() {
    for old in [1, 2, 3, 7, 100, 101, 512] {
      for new in 1...old where new < 8 || new % 13 == 0 {
        let shares = AreaReducer.shares(of: old, in: new)
        #expect(shares.allSatisfy { $0.weights.reduce(0, +) == 4096 && $0.start + $0.weights.count <= old })
      }
    }
  }

  @Test func `a mean is that of the pixels below`() {
    let block = PixelBlock(width: 4, height: 2, bands: 1, bytes: [10, 20, 30, 40, 50, 60, 70, 81])
    // (10 + 20 + 50 + 60) / 4 = 35; (30 + 40 + 70 + 81) / 4 = 55.25.
    #expect(AreaReducer.reduce(block, to: PictureSize(2, 1)).bytes == [35, 55])
    #expect(AreaReducer.reduce(block, to: PictureSize(1, 1)).bytes == [45])
    let even = PixelBlock(width: 9, height: 7, bands: 3, bytes: Array(repeating: 200, count: 189))
    #expect(Set(AreaReducer.reduce(even, to: PictureSize(4, 3)).bytes) == [200])
  }

  @Test(
    arguments: [
      (PictureSize(64, 48), PictureSize(31, 17)), (PictureSize(50, 7), PictureSize(50, 3)),
      (PictureSize(33, 90), PictureSize(4, 9)), (PictureSize(8, 8), PictureSize(4, 4)),
    ], [1, 2, 3, 4])
  func `each new pixel is the mean of its area, however many bands there are`(
    _ sizes: (PictureSize, PictureSize), bands: Int
  ) {
    let (old, new) = sizes
    let bytes = (0..<old.width * old.height * bands).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
    let block = PixelBlock(width: old.width, height: old.height, bands: bands, bytes: bytes)
    let reduced = AreaReducer.reduce(block, to: new)
    #expect(reduced.bytes.count == new.width * new.height * bands)
    func covered(_ place: Int, _ of: Int, _ from: Int, _ to: Int) -> Double {
      let width = Double(from) / Double(to)
      let start = max(Double(place), Double(of) * width)
      return max(0, min(Double(place + 1), Double(of + 1) * width) - start) / width
    }
    for (place, value) in reduced.bytes.enumerated() {
      let (band, column, row) = (place % bands, place / bands % new.width, place / bands / new.width)
      var mean = 0.0
      for above in 0..<old.height {
        let share = covered(above, row, old.height, new.height)
        if share == 0 { continue }
        for left in 0..<old.width {
          mean +=
            share * covered(left, column, old.width, new.width)
            * Double(bytes[(above * old.width + left) * bands + band])
        }
      }
      #expect(abs(Double(value) - mean) < 0.6, "\(row), \(column), \(band)")
    }
  }

  @Test func `orientation is found in both orders of bytes`() {
    let little: [UInt8] =
      Array("Exif\0\0".utf8) + [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]
    let big: [UInt8] =
      Array("Exif\0\0".utf8) + [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0]
    #expect(JPEGHeader.orientation(little) == 6)
    #expect(JPEGHeader.orientation(big) == 8)
    for count in 0..<little.count - 4 { #expect(JPEGHeader.orientation(Array(little.prefix(count))) == nil) }
  }
}
