import Testing

@testable import FlowImage

/// The stages that do more in one place than in another.
struct MaskTests {
  /// Stripes of one pixel each, so that any blur shows.
  static func stripes(_ width: Int, _ height: Int, upright: Bool = false) throws -> [UInt8] {
    try Pixels.png(
      try Pixels.painted(width, height) { x, y in (upright ? x : y) % 2 == 0 ? [255, 0, 0] : [0, 0, 255] })
  }

  static func shift(_ change: (inout TiltShift) -> Void = { _ in }) -> TiltShift {
    var shift = TiltShift()
    shift.saturation = 1
    change(&shift)
    return shift
  }

  @Test func `the band stays as it is, to the pixel`() throws {
    let before = try Pixels.decode(try MaskTests.stripes(40, 100))
    let made = try Pixels.made(try MaskTests.stripes(40, 100), [.tiltShift(MaskTests.shift())])
    // 0.3 of 100 rows around the middle: rows 35 to 64.
    for row in 35..<65 {
      let start = row * 40 * 3
      #expect(before.bytes[start..<start + 120].elementsEqual(made.block.bytes[start..<start + 120]))
    }
  }

  @Test func `the blur grows with the distance from the band`() throws {
    let made = try Pixels.made(
      try MaskTests.stripes(40, 200, upright: true), [.tiltShift(MaskTests.shift { $0.radius = 6 })])
    // How much neighbouring columns still differ, from the band's lower edge to the bottom.
    let contrasts = stride(from: 130, to: 200, by: 5).map { abs(Int(made[20, $0][0]) - Int(made[21, $0][0])) }
    #expect(zip(contrasts, contrasts.dropFirst()).allSatisfy { $0 >= $1 })
    #expect(contrasts.first == 255 && contrasts.last.map { $0 < 40 } == true)
    let above = stride(from: 69, through: 0, by: -5).map { abs(Int(made[20, $0][0]) - Int(made[21, $0][0])) }
    #expect(zip(above, above.dropFirst()).allSatisfy { $0 >= $1 })
  }

  @Test func `the angle turns the band`() throws {
    let made = try Pixels.made(
      try MaskTests.stripes(200, 40, upright: true), [.tiltShift(MaskTests.shift { $0.angle = 90 })])
    #expect(made[100, 5] == [255, 0, 0] && made[101, 35] == [0, 0, 255])
    #expect(Pixels.difference(made[2, 20], made[3, 20]) < 60)
    #expect(Pixels.difference(made[196, 20], made[197, 20]) < 60)
  }

  @Test func `the centre moves the band`() throws {
    let made = try Pixels.made(
      try MaskTests.stripes(20, 100), [.tiltShift(MaskTests.shift { $0.centre = 0.9 })])
    #expect(made[10, 90] == [255, 0, 0] && made[10, 91] == [0, 0, 255])
    #expect(Pixels.difference(made[10, 4], made[10, 5]) < 60)
  }

  @Test func `colours become stronger around the same brightness`() throws {
    let file = try Pixels.png(try Pixels.painted(20, 20) { _, _ in [150, 100, 100] })
    let made = try Pixels.made(
      file,
      [
        .tiltShift(
          MaskTests.shift {
            $0.saturation = 2
            $0.radius = 0
          })
      ])
    // L = 0.2126 * 150 + 0.7874 * 100 = 110.63; twice as far from it: 189.37, 89.37.
    #expect(Set(made.pixels) == [[189, 89, 89]])
  }

  @Test func `corners become transparent and nothing else does`() throws {
    let file = try Pixels.png(try Pixels.painted(60, 40) { _, _ in [10, 20, 30] })
    let made = try Pixels.made(file, [.roundCorners(.pixels(10))])
    #expect(made.block.bands == 4)
    for (x, y) in [(0, 0), (59, 0), (0, 39), (59, 39), (1, 1)] { #expect(made[x, y][3] == 0) }
    for (x, y) in [(10, 0), (0, 10), (30, 0), (59, 20), (30, 39), (5, 5), (30, 20)] {
      #expect(made[x, y] == [10, 20, 30, 255])
    }
    // The middle of (2, 2) is 7.5 * sqrt 2 = 10.61 from the corner's middle, so it is covered by 10.5 - 10.61 < 0;
    // that of (3, 2) is sqrt(6.5² + 7.5²) = 9.92, covered by 0.58, which is 147.
    #expect(made[2, 2][3] == 0)
    #expect(abs(Int(made[3, 2][3]) - 147) <= 1)
  }

  @Test func `a share is of the shorter side, and half of it makes a circle`() throws {
    let file = try Pixels.png(try Pixels.painted(41, 41) { _, _ in [10, 20, 30] })
    let made = try Pixels.made(file, [.roundCorners(.share(0.5))])
    let covered = made.pixels.reduce(0.0) { $0 + Double($1[3]) / 255 }
    #expect(abs(covered - Double.pi * 20.5 * 20.5) < 3)
  }

  @Test func `formats without transparency get the background in the corners`() throws {
    let file = try Pixels.png(try Pixels.painted(64, 64) { _, _ in [0, 0, 0] })
    let made = try Pixels.made(file, [.roundCorners(.pixels(24))]) {
      $0.format = .jpeg
      $0.quality = 100
      $0.chroma = .full
      $0.background = Colour(red: 255, green: 0, blue: 0)
    }
    #expect(made.block.bands == 3)
    #expect(Pixels.difference(made[0, 0], [255, 0, 0]) < 12 && Pixels.difference(made[32, 32], [0, 0, 0]) < 6)
    let white = try Pixels.made(file, [.roundCorners(.pixels(24))]) { $0.format = .jpeg }
    #expect(Pixels.difference(white[0, 0], [255, 255, 255]) < 12)
  }

  @Test func `what was transparent before the corners were rounded stays so`() throws {
    let file = try Pixels.png(try Pixels.painted(40, 40) { _, _ in [10, 20, 30, 100] })
    let made = try Pixels.made(file, [.roundCorners(.pixels(10))])
    #expect(made[20, 20][3] == 100 && made[0, 0][3] == 0)
  }

  @Test func `blur spreads and sharpen steepens`() throws {
    let edge = try Pixels.png(try Pixels.painted(40, 40) { x, _ in x < 20 ? [60, 60, 60] : [190, 190, 190] })
    let blurred = try Pixels.made(edge, [.blur(sigma: 3)])
    #expect(blurred[19, 20][0] > 100 && blurred[5, 20] == [60, 60, 60])
    let sharp = try Pixels.made(edge, [.blur(sigma: 2), .sharpen(sigma: 2)])
    let soft = try Pixels.made(edge, [.blur(sigma: 2)])
    let step = { (made: Pixels.Result) in Int(made[21, 20][0]) - Int(made[18, 20][0]) }
    #expect(step(sharp) > step(soft))
  }
}
