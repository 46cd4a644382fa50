internal import FlowBase

// Operations that do more in one place than in another.
extension Frames {
  mutating func tiltShift(_ shift: TiltShift) throws {
    try settleSize()
    try load()
    let mask = try BlurMask(shift, size: size).image().inMemory()
    let radius = min(shift.radius, Double(min(size.width, size.height)))
    try each { image in
      let image = try image.saturated(shift.saturation).inMemory()
      if radius < 0.4 { return image }
      // Two strengths of blur, so that what lies near the band is blurred less and not only more transparently.
      let blurred = try image.mixing { sharp in
        let half = try sharp.blurred(radius / 4)
        let full = try sharp.blurred(radius / 2)
        // Up to the middle of the mask from sharp to half, from there on to full.
        let toHalf = try mask.scaled(by: [2], plus: [0]).clamped()
        let toFull = try mask.scaled(by: [2], plus: [-1]).clamped()
        return try sharp.mixed(with: half, toHalf).mixed(with: full, toFull)
      }
      return try blurred.asBytes()
    }
  }

  mutating func roundCorners(_ radius: Radius) throws {
    try settleSize()
    let shorter = Double(min(size.width, size.height))
    let length =
      switch radius {
      case .pixels(let pixels): pixels
      case .share(let share): share * shorter
      }
    let mask = try CornerMask(radius: min(length, shorter / 2), size: size).image()
    try each { image in
      let image = try image.withAlpha()
      let count = image.bands - 1
      let alpha = try image.bands(count, 1).times(mask).roundedToBytes()
      return try image.bands(0, count).joined(bands: [alpha]).marked(as: image.isGrey ? .grey : .srgb)
    }
  }
}

/// How far outside of the band each pixel lies: 0 in it, and growing smoothly to 1.
struct BlurMask {
  let shift: TiltShift
  let size: PictureSize
  /// From where the blur begins to where it is full, as a share of the picture.
  static let ramp = 0.3

  init(_ shift: TiltShift, size: PictureSize) {
    self.shift = shift
    self.size = size
  }

  /// How the distance from the band's middle follows from a pixel's column and row.
  var line: (x: Double, y: Double, plus: Double, extent: Double) {
    let angle = shift.angle * Double.pi / 180
    let (sine, cosine) = (Trigonometry.sine(angle), Trigonometry.cosine(angle))
    let (width, height) = (Double(size.width), Double(size.height))
    // How long the picture is in the direction in which the blur grows.
    let extent = abs(width * sine) + abs(height * cosine)
    let middle = (shift.centre - 0.5) * extent
    let (x, y) = (-sine, cosine)
    return (x, y, -x * (width / 2 - 0.5) - y * (height / 2 - 0.5) - middle, extent)
  }

  func image() throws -> VipsImage {
    let line = line
    let places = try Vips.image("xyz", ["width": .int(size.width), "height": .int(size.height)])
    let table = try VipsImage(columns: 2, numbers: [line.x, line.y])
    let distance = try Vips.image("recomb", ["in": .image(places), "m": .image(table)])
      .scaled(by: [1], plus: [line.plus])
    let outside = try Vips.image("abs", ["in": .image(distance)])
      .scaled(by: [1 / (BlurMask.ramp * line.extent)], plus: [-shift.band / 2 / BlurMask.ramp]).clamped()
    // 3t² - 2t³
    return try outside.times(outside).times(try outside.scaled(by: [-2], plus: [3]))
  }
}

/// 1 inside of a rectangle with rounded corners, 0 outside, and in between on the edge.
struct CornerMask {
  let radius: Double
  let size: PictureSize

  func image() throws -> VipsImage {
    let places = try Vips.image("xyz", ["width": .int(size.width), "height": .int(size.height)])
    // How far a pixel's middle lies beyond the straight part of the edges.
    let x = try beyond(try places.bands(0, 1), Double(size.width))
    let y = try beyond(try places.bands(1, 1), Double(size.height))
    let squares = try x.times(x).plus(try y.times(y))
    let distance = try Vips.image(
      "math2_const", ["in": .image(squares), "math2": .int(0), "c": .numbers([0.5])])
    return try distance.scaled(by: [-1], plus: [radius + 0.5]).clamped()
  }

  private func beyond(_ places: VipsImage, _ length: Double) throws -> VipsImage {
    let middle = length / 2
    let fromMiddle = try Vips.image("abs", ["in": .image(try places.scaled(by: [1], plus: [0.5 - middle]))])
    return try fromMiddle.scaled(by: [1], plus: [radius - middle]).clampedBelow()
  }
}

extension VipsImage {
  /// Cut off below 0 and above 1.
  func clamped() throws -> VipsImage {
    // min(x, 1) is 1 - max(1 - x, 0).
    try clampedBelow().scaled(by: [-1], plus: [1]).clampedBelow().scaled(by: [-1], plus: [1])
  }

  /// Cut off below 0.
  func clampedBelow() throws -> VipsImage {
    // (x + |x|) / 2 needs no choice between images.
    try plus(try Vips.image("abs", ["in": .image(self)])).scaled(by: [0.5], plus: [0])
  }

  /// On the way to another, 0 to 1.
  func mixed(with other: VipsImage, _ share: VipsImage) throws -> VipsImage {
    try times(try share.scaled(by: [-1], plus: [1])).plus(try other.times(share))
  }
}
