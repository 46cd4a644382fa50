/// Portraits of people who do not exist, from a few plain shapes.
enum Avatars {
  private static let grounds: [(UInt32, UInt32)] = [
    (0xF7D6C4, 0xE89B8C), (0xC9E4DE, 0x6FAFA3), (0xD7D4F0, 0x8A83C9), (0xFBE3A8, 0xEDAE49), (0xCDE3F5, 0x6C9BC7),
    (0xF6CFDD, 0xCB6D8E), (0xDDE8C3, 0x8BA65A),
  ]
  private static let skins: [UInt32] = [0xF6D7BE, 0xEDBE9A, 0xD79E75, 0xB97A51, 0x8D5A3B, 0x65402B]
  private static let hairs: [UInt32] = [0x2B2118, 0x4A2F20, 0x7B4A2A, 0xB5763A, 0xD9B36C, 0x8C8C92, 0x9C3B2E]
  private static let clothes: [UInt32] = [0x33507A, 0xA8423F, 0x3F7D5B, 0xE0A33E, 0x5B3F78, 0x2E3440, 0xD7687D]

  /// A portrait of this size.
  static func draw(_ chance: inout Chance, size: Int) -> Canvas {
    let unit = Float(size)
    let ground = chance.pick(grounds)
    var canvas = Canvas(width: size, height: size)
    canvas.paintSky([Colour(ground.0), Colour(ground.1)])
    let skin = Colour(chance.pick(skins))
    let hair = Colour(chance.pick(hairs))
    let shirt = Colour(chance.pick(clothes))
    let ink = Colour(0x33231C)
    let face = (x: unit * 0.5, y: unit * 0.45, across: unit * chance.number(0.165...0.185), down: unit * 0.215)
    let style = chance.below(4)

    if style == 1 || style == 2 {
      // Long hair hangs behind the shoulders.
      canvas.paintEllipse(x: face.x, y: unit * 0.5, unit * 0.255, unit * (style == 1 ? 0.3 : 0.23), hair.lit(0.85))
    }
    canvas.paintEllipse(x: face.x, y: unit * 1.02, unit * 0.36, unit * 0.3, shirt)
    canvas.paintEllipse(x: face.x, y: unit * 0.7, unit * 0.085, unit * 0.13, skin.lit(0.88))
    canvas.paintEllipse(x: face.x - face.across, y: face.y + unit * 0.03, unit * 0.033, unit * 0.048, skin.lit(0.92))
    canvas.paintEllipse(x: face.x + face.across, y: face.y + unit * 0.03, unit * 0.033, unit * 0.048, skin.lit(0.92))
    canvas.paintEllipse(x: face.x, y: face.y, face.across, face.down, skin)

    // The fringe: an ellipse of hair, cut off by the forehead.
    let part = chance.number(-0.07...0.07) * unit
    if style != 3 {
      canvas.paint(x: 0..<size, y: 0..<Int(face.y)) { x, y in
        let dx = (x - face.x) / (face.across * 1.2)
        let dy = (y - face.y + unit * 0.03) / (face.down * 1.16)
        let crown = min(1, max(0, (1 - (dx * dx + dy * dy).squareRoot()) * unit * 0.2 + 0.5))
        let bow = (x - face.x - part) / face.across
        let fringe = face.y - unit * 0.075 - unit * 0.075 * max(0, 1 - bow * bow)
        return (
          hair.mixed(with: Colour(0xFFFFFF), 0.06 * max(0, -dy)), crown * min(1, max(0, fringe + unit * 0.03 - y + 0.5))
        )
      }
    } else {
      // A cap.
      canvas.paint(x: 0..<size, y: 0..<Int(face.y)) { x, y in
        let dx = (x - face.x) / (face.across * 1.14)
        let dy = (y - face.y + unit * 0.06) / (face.down * 0.98)
        let crown = min(1, max(0, (1 - (dx * dx + dy * dy).squareRoot()) * unit * 0.2 + 0.5))
        return (shirt.lit(1.12), crown * min(1, max(0, face.y - unit * 0.075 - y)))
      }
      canvas.paintEllipse(x: face.x + unit * 0.05, y: face.y - unit * 0.075, unit * 0.2, unit * 0.022, shirt.lit(0.8))
    }

    let eye = (x: face.across * 0.45, y: face.y + unit * 0.015)
    for side: Float in [-1, 1] {
      canvas.paintEllipse(x: face.x + side * eye.x, y: eye.y, unit * 0.016, unit * 0.021, ink)
      canvas.paintDisc(
        x: face.x + side * eye.x + unit * 0.005, y: eye.y - unit * 0.007, radius: unit * 0.005, Colour(0xFFFFFF))
      canvas.paintEllipse(x: face.x + side * eye.x, y: eye.y - unit * 0.048, unit * 0.03, unit * 0.007, hair.lit(0.8))
      canvas.paintGlow(
        x: face.x + side * face.across * 0.58, y: face.y + unit * 0.085, radius: unit * 0.05, Colour(0xE8655B),
        strength: 0.45)
    }
    canvas.paintEllipse(x: face.x, y: face.y + unit * 0.065, unit * 0.014, unit * 0.011, skin.lit(0.84))
    canvas.paintArc(x: face.x, y: face.y + unit * 0.075, radius: unit * 0.06, thickness: unit * 0.011, Colour(0x8A3B34))
    if chance.below(3) == 0 {
      for side: Float in [-1, 1] {
        canvas.paintRing(x: face.x + side * eye.x, y: eye.y, radius: unit * 0.052, thickness: unit * 0.009, ink)
      }
      canvas.paintEllipse(x: face.x, y: eye.y - unit * 0.008, unit * 0.026, unit * 0.005, ink)
    }
    return canvas
  }
}

extension Canvas {
  /// The lower part of a circle: a smile.
  fileprivate mutating func paintArc(x: Float, y: Float, radius: Float, thickness: Float, _ colour: Colour) {
    paint(x: Int(x - radius) - 2..<Int(x + radius) + 3, y: Int(y) - 2..<Int(y + radius) + 3) { px, py in
      let dx = px - x
      let dy = py - y
      let distance = (dx * dx + dy * dy).squareRoot()
      let ring = min(1, max(0, thickness / 2 - abs(distance - radius) + 0.5))
      return (colour, ring * min(1, max(0, dy - radius * 0.5 + 0.5)))
    }
  }

  /// A circle's line.
  fileprivate mutating func paintRing(x: Float, y: Float, radius: Float, thickness: Float, _ colour: Colour) {
    paint(x: Int(x - radius) - 2..<Int(x + radius) + 3, y: Int(y - radius) - 2..<Int(y + radius) + 3) { px, py in
      let distance = ((px - x) * (px - x) + (py - y) * (py - y)).squareRoot()
      return (colour, min(1, max(0, thickness / 2 - abs(distance - radius) + 0.5)))
    }
  }
}
