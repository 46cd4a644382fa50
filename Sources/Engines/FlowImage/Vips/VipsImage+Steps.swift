internal import FlowBase

// Single steps, each a recipe on top of the image.
extension VipsImage {
  func crop(x: Int, y: Int, width: Int, height: Int) throws -> VipsImage {
    if x == 0, y == 0, width == self.width, height == self.height { return self }
    return try Vips.image(
      "extract_area",
      ["input": .image(self), "left": .int(x), "top": .int(y), "width": .int(width), "height": .int(height)])
  }

  /// Some of the bands.
  func bands(_ first: Int, _ count: Int) throws -> VipsImage {
    try Vips.image("extract_band", ["in": .image(self), "band": .int(first), "n": .int(count)])
  }

  func joined(bands others: [VipsImage]) throws -> VipsImage {
    try Vips.image("bandjoin", ["in": .images([self] + others)])
  }

  /// Times a number, and another one added, for each band or for all; to whole bytes where that is asked for.
  func scaled(by factors: [Double], plus: [Double], toBytes: Bool = false) throws -> VipsImage {
    try Vips.image(
      "linear",
      ["in": .image(self), "a": .numbers(factors), "b": .numbers(plus), "uchar": .flag(toBytes)])
  }

  /// Fractions rounded to the nearest of 0 to 255.
  func roundedToBytes() throws -> VipsImage { try scaled(by: [1], plus: [0.5], toBytes: true) }

  func times(_ other: VipsImage) throws -> VipsImage {
    try Vips.image("multiply", ["left": .image(self), "right": .image(other)])
  }

  func plus(_ other: VipsImage) throws -> VipsImage {
    try Vips.image("add", ["left": .image(self), "right": .image(other)])
  }

  func marked(as interpretation: Interpretation) throws -> VipsImage {
    try Vips.image("copy", ["in": .image(self), "interpretation": .int(interpretation.number)])
  }

  func colourspace(_ space: Interpretation) throws -> VipsImage {
    try Vips.image("colourspace", ["in": .image(self), "space": .int(space.number)])
  }

  /// In red, green and blue, where it is grey.
  func inColour() throws -> VipsImage { isGrey ? try colourspace(.srgb) : self }

  /// With an alpha band, where it has none.
  func withAlpha() throws -> VipsImage {
    if hasAlpha { return self }
    return try Vips.image("bandjoin_const", ["in": .image(self), "c": .numbers([255])])
  }

  /// Without the alpha band, on a colour.
  func flattened(on colour: Colour) throws -> VipsImage {
    guard hasAlpha else { return self }
    let needsColour = isGrey && !(colour.red == colour.green && colour.green == colour.blue)
    let image = needsColour ? try inColour() : self
    // By hand and not by `flatten`, which cuts fractions off instead of rounding them.
    let count = image.bands - 1
    let share = try image.bands(count, 1).scaled(by: [1 / 255.0], plus: [0])
    let rest = try share.scaled(by: [-1], plus: [1])
    let ground = try rest.scaled(by: colour.numbers(bands: count), plus: [0])
    return try image.bands(0, count).times(share).plus(ground).roundedToBytes()
      .marked(as: count == 1 ? .grey : .srgb)
  }

  /// Runs steps that mix neighbouring pixels, so that what cannot be seen leaves no fringe.
  func mixing(_ steps: (VipsImage) throws -> VipsImage) throws -> VipsImage {
    guard hasAlpha else { return try steps(self) }
    let ready = try Vips.image("premultiply", ["in": .image(self)])
    return try Vips.image("unpremultiply", ["in": .image(try steps(ready))]).roundedToBytes()
      .marked(as: interpretation)
  }
}

extension Colour {
  /// The colour as a pixel of so many bands.
  func numbers(bands: Int) -> [Double] {
    let grey = 0.2126 * Double(red) + 0.7152 * Double(green) + 0.0722 * Double(blue)
    switch bands {
    case 1: return [grey]
    case 2: return [grey, Double(alpha)]
    case 3: return [Double(red), Double(green), Double(blue)]
    default: return [Double(red), Double(green), Double(blue), Double(alpha)]
    }
  }
}
