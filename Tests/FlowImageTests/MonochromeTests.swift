import Testing

@testable import FlowImage

/// Held to pixels that were computed by hand.
///
/// `out = (1 - i) * in + i * (L * colour)`, `L` of Rec. 709 on sRGB-encoded values.
struct MonochromeTests {
  static let grey = Colour(red: 0xA6, green: 0xA6, blue: 0xA6)

  struct Row: Sendable {
    var colour: Colour
    var intensity: Double
    var before: [UInt8]
    var after: [UInt8]
  }

  static let table = [
    // L of white is 1, so white becomes the colour.
    Row(colour: grey, intensity: 1, before: [255, 255, 255], after: [166, 166, 166]),
    Row(colour: grey, intensity: 1, before: [0, 0, 0], after: [0, 0, 0]),
    // 0.2126 * 255 = 54.213, times 166 / 255 is 35.29.
    Row(colour: grey, intensity: 1, before: [255, 0, 0], after: [35, 35, 35]),
    // 0.7152 * 166 = 118.72.
    Row(colour: grey, intensity: 1, before: [0, 255, 0], after: [119, 119, 119]),
    // 0.0722 * 166 = 11.99.
    Row(colour: grey, intensity: 1, before: [0, 0, 255], after: [12, 12, 12]),
    // L = 21.26 + 107.28 + 3.61 = 132.15, times 166 / 255 is 86.03.
    Row(colour: grey, intensity: 1, before: [100, 150, 50], after: [86, 86, 86]),
    // Nothing happens.
    Row(colour: grey, intensity: 0, before: [100, 150, 50], after: [100, 150, 50]),
    Row(colour: Colour(red: 255, green: 0, blue: 0), intensity: 0, before: [1, 2, 3], after: [1, 2, 3]),
    // Half of 100, 150, 50 and half of 86.03 each.
    Row(colour: grey, intensity: 0.5, before: [100, 150, 50], after: [93, 118, 68]),
    // 0.5 * 255 + 0.5 * 35.29 = 145.15; 0.5 * 35.29 = 17.65.
    Row(colour: grey, intensity: 0.5, before: [255, 0, 0], after: [145, 18, 18]),
    // Only the colour's own parts remain: 132.15 * (255, 128, 0) / 255.
    Row(colour: Colour(red: 255, green: 128, blue: 0), intensity: 1, before: [100, 150, 50], after: [132, 66, 0]),
    // A quarter: 0.75 * (10, 20, 30) + 0.25 * L * (1, 0, 0.2); L = 2.126 + 14.304 + 2.166 = 18.596.
    Row(colour: Colour(red: 255, green: 0, blue: 51), intensity: 0.25, before: [10, 20, 30], after: [12, 15, 23]),
  ]

  @Test(arguments: table)
  func `each pixel is what was computed by hand`(_ row: Row) throws {
    let file = try Pixels.png(try Pixels.image(1, [row.before, row.before]))
    let made = try Pixels.made(file, [.monochrome(colour: row.colour, intensity: row.intensity)])
    #expect(made.pixels == [row.after, row.after])
  }

  @Test func `transparency is not touched`() throws {
    let before: [Pixels.Pixel] = [[255, 255, 255, 255], [255, 0, 0, 128], [0, 255, 0, 1], [10, 20, 30, 0]]
    let file = try Pixels.png(try Pixels.image(2, before))
    let made = try Pixels.made(file, [.monochrome(colour: MonochromeTests.grey, intensity: 1)])
    #expect(made.pixels.map { $0[3] } == [255, 128, 1, 0])
    #expect(made[1, 0] == [35, 35, 35, 128])
    #expect(made[0, 1] == [119, 119, 119, 1])
  }

  @Test func `a grey picture takes on the colour too`() throws {
    let file = try Pixels.png(try Pixels.image(1, [[255], [100]]))
    let made = try Pixels.made(file, [.monochrome(colour: Colour(red: 255, green: 128, blue: 0), intensity: 1)])
    #expect(made.pixels == [[255, 128, 0], [100, 50, 0]])
  }
}
