/// Colours that go together, from the top of the sky to the nearest ground.
struct Palette: Sendable {
  /// The sky from top to horizon.
  let sky: [Colour]
  /// The sun or moon.
  let light: Colour
  /// The farthest ridge.
  let far: Colour
  /// The nearest ground.
  let near: Colour
  /// What stands out.
  let accent: Colour

  init(sky: [UInt32], light: UInt32, far: UInt32, near: UInt32, accent: UInt32) {
    self.sky = sky.map { Colour($0) }
    self.light = Colour(light)
    self.far = Colour(far)
    self.near = Colour(near)
    self.accent = Colour(accent)
  }

  static let days: [Palette] = [
    Palette(
      sky: [0x2E3A6E, 0x8C5A8C, 0xF08A6C, 0xFFD9A0], light: 0xFFF3D0, far: 0xD98A7A, near: 0x2A1B3D, accent: 0xE8505B),
    Palette(sky: [0x3A86C8, 0x8CC4E8, 0xE6F2F0], light: 0xFFFDF2, far: 0xA9CBD8, near: 0x1F4E52, accent: 0xF2B632),
    Palette(
      sky: [0x20315C, 0x4C6A9C, 0xC9A9B8, 0xF7D6B8], light: 0xFFE9C8, far: 0xA38FA8, near: 0x1B2440, accent: 0xF28F79),
    Palette(sky: [0xF5C26B, 0xF9DDA0, 0xFDF3D8], light: 0xFFFFFF, far: 0xE9B875, near: 0x7A3B1E, accent: 0xC4502D),
    Palette(sky: [0x5B8E9A, 0xA9CFC4, 0xF3EBCB], light: 0xFFF8DC, far: 0x9DBFA6, near: 0x1E3D34, accent: 0xE07A5F),
    Palette(
      sky: [0x6A3E8C, 0xC8588C, 0xFA9C7C, 0xFFE1A8], light: 0xFFF0BE, far: 0xC9658A, near: 0x2B1240, accent: 0xFFB347),
    Palette(sky: [0x8FB8DE, 0xCBDDEB, 0xF9ECE4], light: 0xFFFFFF, far: 0xB7C6D8, near: 0x3C4A67, accent: 0xD96C75),
    Palette(sky: [0xE4798C, 0xF5A9A0, 0xFDDCC0], light: 0xFFF6E2, far: 0xE59C9C, near: 0x5A2848, accent: 0x6FB1A0),
  ]

  static let nights: [Palette] = [
    Palette(sky: [0x070B24, 0x14245A, 0x34508C], light: 0xF4F1DC, far: 0x2B4378, near: 0x050816, accent: 0x8FE3C0),
    Palette(sky: [0x0D0B2B, 0x2C1C58, 0x6B3C7E], light: 0xFDEBD0, far: 0x4B2E68, near: 0x0A0618, accent: 0xF29CB7),
    Palette(sky: [0x04181F, 0x0B3A46, 0x2B7A78], light: 0xEEF6E4, far: 0x1E5A5E, near: 0x020D10, accent: 0xA5F0C5),
  ]
}
