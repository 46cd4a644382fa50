internal import FlowBase

// Operations that change what pixels look like.
extension Frames {
  /// Each pixel becomes its luminance times the colour, mixed with what it was; how transparent it is stays.
  mutating func monochrome(_ colour: Colour, intensity: Double) throws {
    try settleSize()
    let weights = Luminance.weights
    let rest = 1 - intensity
    try each { image in
      let image = try image.inColour()
      var matrix: [Double] = []
      for (row, part) in [colour.red, colour.green, colour.blue].enumerated() {
        let strength = intensity * Double(part) / 255
        for column in 0..<3 { matrix.append(strength * weights[column] + (row == column ? rest : 0)) }
        if image.hasAlpha { matrix.append(0) }
      }
      if image.hasAlpha { matrix += [0, 0, 0, 1] }
      return try image.recombined(matrix)
    }
  }

  mutating func blur(sigma: Double) throws {
    try settleSize()
    try each { image in try image.mixing { try $0.blurred(sigma) }.asBytes() }
  }

  mutating func sharpen(sigma: Double) throws {
    try settleSize()
    try each { image in
      let sharp = try Vips.image("sharpen", ["in": .image(image), "sigma": .double(sigma)])
      return try sharp.asBytes()
    }
  }
}

/// Brightness as the eye has it.
enum Luminance {
  /// How much red, green and blue add to it, as in ITU-R BT.709.
  static let weights = [0.2126, 0.7152, 0.0722]
}

extension VipsImage {
  /// Each pixel times a square matrix of as many rows as there are bands.
  func recombined(_ matrix: [Double]) throws -> VipsImage {
    let side = bands
    let table = try VipsImage(columns: side, numbers: matrix)
    return try Vips.image("recomb", ["in": .image(self), "m": .image(table)]).roundedToBytes().marked(as: .srgb)
  }

  func blurred(_ sigma: Double) throws -> VipsImage {
    // Below this the kernel is a single pixel.
    if sigma < 0.2 { return self }
    return try Vips.image(
      "gaussblur", ["in": .image(self), "sigma": .double(sigma), "min-ampl": .double(0.01), "precision": .int(1)])
  }

  /// Eight bits a band, rounded; what is there already stays.
  func asBytes() throws -> VipsImage {
    isBytes ? self : try roundedToBytes().marked(as: isGrey ? .grey : .srgb)
  }

  /// Stronger or weaker colours around the same brightness.
  func saturated(_ strength: Double) throws -> VipsImage {
    if strength == 1 || isGrey { return self }
    var matrix: [Double] = []
    for row in 0..<3 {
      for column in 0..<3 {
        matrix.append((1 - strength) * Luminance.weights[column] + (row == column ? strength : 0))
      }
      if hasAlpha { matrix.append(0) }
    }
    if hasAlpha { matrix += [0, 0, 0, 1] }
    return try recombined(matrix)
  }
}
