internal import FlowBase

/// A number of 64 bits that says what a picture looks like: few bits differ between pictures that look alike.
public enum PerceptualHash {
  /// In how many bits two hashes differ.
  public static func distance(_ left: UInt64, _ right: UInt64) -> Int { (left ^ right).nonzeroBitCount }

  static func of(_ decoder: Decoder) throws -> UInt64 {
    var resize = Resize(width: side, height: side)
    resize.fit = .fill
    resize.enlarges = true
    var frames = try decoder.frames(animated: false, keepsProfile: false) { ResizePlan(resize, of: $0).shrink(of: $0) }
    try frames.resize(resize)
    try frames.each { try $0.flattened(on: .white).colourspace(.grey) }
    let pixels = try frames.first.pixels()
    try decoder.checkEnd()
    return hash(pixels.bytes.map(Double.init))
  }

  private static let side = 32

  /// Each of the 64 slowest waves in the picture is stronger than most of them, or not.
  static func hash(_ pixels: [Double]) -> UInt64 {
    let waves = (0..<9).map { wave in
      (0..<side).map { Trigonometry.cosine(Double.pi * Double(wave) * (Double($0) + 0.5) / Double(side)) }
    }
    // First along the rows, then down the columns; the wave without any change says only how bright the picture is.
    let rows = (0..<side).map { row in
      waves.map { wave in (0..<side).reduce(0.0) { $0 + pixels[row * side + $1] * wave[$1] } }
    }
    var strengths: [Double] = []
    for down in 1...8 {
      for across in 1...8 {
        strengths.append((0..<side).reduce(0.0) { $0 + rows[$1][across] * waves[down][$1] })
      }
    }
    let sorted = strengths.sorted()
    let middle = (sorted[31] + sorted[32]) / 2
    return strengths.reduce(0) { $0 << 1 | ($1 > middle ? 1 : 0) }
  }
}
