/// Cards with a picture in a frame and an ornament below it.
enum Cards {
  /// A card of this size.
  static func draw(_ name: String, width: Int, height: Int) -> Canvas {
    var chance = Chance("card " + name)
    let frame = chance.pick([0x2F3E5C, 0x5C2F3E, 0x2F5C4B, 0x4B3A63, 0x5E4A2C] as [UInt32])
    let paper = Colour(0xF6EFE0)
    let gold = Colour(0xC9A24B)
    var canvas = Canvas(width: width, height: height, Colour(0xE9E3D6))
    let outer = Float(width) * 0.06
    canvas.paintRoundRect(inset: 6, radius: outer, Colour(frame))
    canvas.paintRoundRect(inset: 16, radius: outer * 0.6, gold)
    canvas.paintRoundRect(inset: 18, radius: outer * 0.55, paper)
    let scene = Painter.scene(name, width: width - 56, height: height * 66 / 100)
    canvas.place(scene, x: 28, y: 28)
    let middle = (x: Float(width) / 2, y: Float(height) * 0.86)
    let petals = 5 + chance.below(8)
    let size = Float(height) * 0.062
    let accent = Colour(frame).mixed(with: gold, 0.25)
    canvas.paint(
      x: Int(middle.x - size * 1.6)..<Int(middle.x + size * 1.6),
      y: Int(middle.y - size * 1.6)..<Int(middle.y + size * 1.6)
    ) { x, y in
      let dx = x - middle.x
      let dy = y - middle.y
      let distance = (dx * dx + dy * dy).squareRoot()
      // A rosette: its edge swings in and out as often as it has petals.
      let edge = size * (1 + 0.28 * wave(turn(dx, dy) * Float(petals)))
      return (accent, min(1, max(0, edge - distance + 0.5)))
    }
    canvas.paintDisc(x: middle.x, y: middle.y, radius: size * 0.42, gold)
    canvas.paintDisc(x: middle.x, y: middle.y, radius: size * 0.24, paper)
    for side: Float in [-1, 1] {
      for step in 0..<4 {
        let x = middle.x + side * size * (2 + 0.75 * Float(step))
        canvas.paintDisc(x: x, y: middle.y, radius: size * (0.2 - 0.035 * Float(step)), step % 2 == 0 ? accent : gold)
      }
    }
    return canvas
  }

  /// The direction of a point as a share of a whole turn, 0 to 1.
  private static func turn(_ x: Float, _ y: Float) -> Float {
    // Close enough to the arc tangent for an ornament, and without a mathematics library.
    let total = abs(x) + abs(y)
    if total == 0 { return 0 }
    let quarter = y / total
    let half = x >= 0 ? quarter : 2 - quarter
    return (half < 0 ? half + 4 : half) / 4
  }

  /// A wave of period 1 between -1 and 1.
  private static func wave(_ position: Float) -> Float {
    let phase = position - position.rounded(.down)
    let bump = phase < 0.5 ? phase * 2 : (phase - 0.5) * 2
    let parabola = 4 * bump * (1 - bump)
    return phase < 0.5 ? parabola : -parabola
  }
}

extension Canvas {
  /// A rectangle with round corners, inset from the canvas's edges.
  fileprivate mutating func paintRoundRect(inset: Float, radius: Float, _ colour: Colour) {
    let right = Float(width) - inset - radius
    let bottom = Float(height) - inset - radius
    paint { x, y in
      let dx = max(0, max(inset + radius - x, x - right))
      let dy = max(0, max(inset + radius - y, y - bottom))
      return (colour, min(1, max(0, radius - (dx * dx + dy * dy).squareRoot() + 0.5)))
    }
  }
}
