import FlowBase
import Testing

@testable import FlowImage

/// Size, place and content of what resize, crop and rotate make.
struct ShapeTests {
  /// 120 x 60: red, green and blue thirds; the upper half bright, the lower half dark.
  static func flag() throws -> [UInt8] {
    try Pixels.png(
      try Pixels.painted(120, 60) { x, y in
        var pixel: [UInt8] = [0, 0, 0]
        pixel[x / 40] = y < 30 ? 255 : 100
        return pixel
      })
  }

  func resized(_ change: (inout Resize) -> Void, width: Int? = 60, height: Int? = 60) throws -> Pixels.Result {
    var resize = Resize(width: width, height: height)
    change(&resize)
    return try Pixels.made(try ShapeTests.flag(), [.resize(resize)])
  }

  @Test func `inside keeps all of the picture and its shape`() throws {
    let made = try resized { $0.fit = .inside }
    #expect(made.size == [60, 30])
    #expect(made[5, 5] == [255, 0, 0] && made[30, 5] == [0, 255, 0] && made[55, 5] == [0, 0, 255])
    #expect(made[5, 25] == [100, 0, 0])
  }

  @Test func `fill takes the box whatever the shape`() throws {
    let made = try resized {
      $0.fit = .fill
      $0.enlarges = true
    }
    #expect(made.size == [60, 60])
    #expect(made[5, 5] == [255, 0, 0] && made[55, 55] == [0, 0, 100])
  }

  @Test(arguments: [
    (Gravity.west, [255, 0, 0], [0, 255, 0]), (.centre, [255, 0, 0], [0, 0, 255]), (.east, [0, 255, 0], [0, 0, 255]),
    (.northwest, [255, 0, 0], [0, 255, 0]), (.southeast, [0, 255, 0], [0, 0, 255]),
  ])
  func `cover fills the box and keeps the side that gravity names`(
    _ gravity: Gravity, _ left: [UInt8], _ right: [UInt8]
  ) throws {
    let made = try resized {
      $0.fit = .cover
      $0.gravity = gravity
    }
    #expect(made.size == [60, 60])
    #expect(made[1, 5] == left && made[58, 5] == right)
  }

  @Test(arguments: [
    (Gravity.north, 0), (.centre, 15), (.south, 30), (.northwest, 0), (.southeast, 30), (.west, 15), (.attention, 15),
  ])
  func `contain puts the picture where gravity names and the rest in the background`(
    _ gravity: Gravity, _ top: Int
  ) throws {
    let made = try resized {
      $0.fit = .contain
      $0.gravity = gravity
      $0.background = Colour(red: 9, green: 8, blue: 7)
    }
    #expect(made.size == [60, 60])
    #expect(made[3, top + 2] == [255, 0, 0])
    let outside = top == 0 ? 59 : 0
    #expect(made[3, outside] == [9, 8, 7])
  }

  @Test func `contain on a background that is not opaque gives the picture transparency`() throws {
    let made = try resized {
      $0.fit = .contain
      $0.background = .transparent
    }
    #expect(made.block.bands == 4)
    #expect(made[0, 0][3] == 0 && made[5, 20] == [255, 0, 0, 255])
  }

  @Test func `small pictures grow only where that is asked for`() throws {
    #expect(try resized({ _ in }, width: 500, height: 500).size == [120, 60])
    #expect(try resized({ $0.enlarges = true }, width: 240, height: nil).size == [240, 120])
    #expect(try resized({ $0.fit = .cover }, width: 500, height: 30).size == [120, 30])
  }

  @Test(arguments: [Gravity.attention, .entropy])
  func `attention and entropy keep the part where something is`(_ gravity: Gravity) throws {
    let picture = try Pixels.painted(300, 100) { x, y in
      (200..<260).contains(x) && (20..<80).contains(y)
        ? (x / 6 + y / 6) % 2 == 0 ? [250, 40, 40] : [250, 230, 30]
        : [40, 42, 44]
    }
    var resize = Resize(width: 100, height: 100)
    resize.fit = .cover
    resize.gravity = gravity
    let made = try Pixels.made(try Pixels.png(picture), [.resize(resize)])
    #expect(made.size == [100, 100])
    #expect(made.pixels.filter { $0[0] > 200 }.count > 2500)
  }

  @Test(arguments: Resize.Kernel.allCases)
  func `every kernel keeps an even picture as it is`(_ kernel: Resize.Kernel) throws {
    let picture = try Pixels.painted(64, 48) { _, _ in [10, 120, 230] }
    var resize = Resize(width: 31, height: nil)
    resize.kernel = kernel
    let made = try Pixels.made(try Pixels.png(picture), [.resize(resize)])
    #expect(made.size == [31, 23])
    #expect(Set(made.pixels) == [[10, 120, 230]])
  }

  @Test func `sizes come out exactly, also those that do not divide evenly`() throws {
    let picture = try Pixels.png(try Pixels.painted(101, 67) { x, y in [UInt8(x), UInt8(y), 0] })
    let jpeg = try Pixels.file("jpeg", try Pixels.painted(1013, 677) { x, y in [UInt8(x & 255), UInt8(y & 255), 0] })
    for width in [1, 2, 3, 13, 33, 50, 67, 99, 100, 101] {
      for height in [1, 7, 31, 66, 67] {
        var resize = Resize(width: width, height: height)
        resize.fit = .fill
        #expect(try Pixels.made(picture, [.resize(resize)]).size == [width, height])
        #expect(try Pixels.made(jpeg, [.resize(resize)]).size == [width, height])
      }
    }
  }

  @Test func `what cannot be seen leaves no fringe`() throws {
    // Red, opaque, beside a green that is wholly transparent.
    let picture = try Pixels.painted(64, 64) { x, _ in x < 32 ? [255, 0, 0, 255] : [0, 255, 0, 0] }
    let made = try Pixels.made(try Pixels.png(picture), [.resize(Resize(width: 16, height: nil))])
    #expect(made.pixels.allSatisfy { $0[3] < 8 || $0[1] < 8 })
  }

  @Test func `crop keeps the part that it is told`() throws {
    let flag = try ShapeTests.flag()
    let placed = try Pixels.made(
      flag, [.crop(Crop(.size(width: 20, height: 10), origin: Crop.Origin(x: 35, y: 25)))])
    #expect(placed.size == [20, 10])
    #expect(placed[4, 4] == [255, 0, 0] && placed[5, 4] == [0, 255, 0] && placed[5, 5] == [0, 100, 0])
    let east = try Pixels.made(flag, [.crop(Crop(.size(width: 30, height: nil), gravity: .east))])
    #expect(east.size == [30, 60] && east[0, 0] == [0, 0, 255])
    let square = try Pixels.made(flag, [.crop(Crop(.aspect(width: 1, height: 1)))])
    #expect(square.size == [60, 60] && square[0, 0] == [255, 0, 0] && square[59, 0] == [0, 0, 255])
    let wide = try Pixels.made(flag, [.crop(Crop(.aspect(width: 16, height: 4), gravity: .south))])
    #expect(wide.size == [120, 30] && wide[0, 0] == [100, 0, 0])
  }

  @Test func `a part that juts out ends at the edge, and one outside is a fault`() throws {
    let flag = try ShapeTests.flag()
    let edge = try Pixels.made(flag, [.crop(Crop(.size(width: 50, height: 50), origin: Crop.Origin(x: 100, y: 40)))])
    #expect(edge.size == [20, 20])
    let fault = #expect(throws: Fault.self) {
      try Pixels.made(flag, [.crop(Crop(.size(width: 5, height: 5), origin: Crop.Origin(x: 120, y: 0)))])
    }
    #expect(fault?.code == "image.crop")
  }

  @Test func `turning by quarters moves every pixel to its place`() throws {
    let picture = try Pixels.png(try Pixels.image(2, [[1], [2], [3], [4], [5], [6]]))
    let wanted: [(Double, [UInt8], [Int])] = [
      (90, [5, 3, 1, 6, 4, 2], [3, 2]), (180, [6, 5, 4, 3, 2, 1], [2, 3]), (270, [2, 4, 6, 1, 3, 5], [3, 2]),
      (-90, [2, 4, 6, 1, 3, 5], [3, 2]), (360, [1, 2, 3, 4, 5, 6], [2, 3]),
    ]
    for (degrees, pixels, size) in wanted {
      let made = try Pixels.made(picture, [.rotate(degrees: degrees, background: .white)])
      #expect(made.pixels.flatMap { $0 } == pixels && made.size == size)
    }
  }

  @Test func `turning by other angles fills the corners`() throws {
    let picture = try Pixels.png(try Pixels.painted(40, 40) { _, _ in [0, 0, 255] })
    let made = try Pixels.made(picture, [.rotate(degrees: 45, background: Colour(red: 255, green: 0, blue: 0))])
    #expect(made[0, 0] == [255, 0, 0] && made[28, 28] == [0, 0, 255])
    let clear = try Pixels.made(picture, [.rotate(degrees: 45, background: .transparent)])
    #expect(clear[0, 0][3] == 0 && clear[28, 28] == [0, 0, 255, 255])
  }
}
