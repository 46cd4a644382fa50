/// Landscapes in layers that fade into the distance.
enum Landscapes {
  /// Ridges behind ridges, with the sun low above them.
  static func mountains(_ chance: inout Chance, width: Int, height: Int) -> Canvas {
    let palette = chance.pick(Palette.days)
    var canvas = sky(palette, &chance, width: width, height: height, sun: 0.25...0.5)
    let layers = 5 + chance.below(2)
    for layer in 0..<layers {
      let depth = Float(layer) / Float(layers - 1)
      let base = Float(height) * (0.48 + 0.44 * depth)
      let swing = Float(height) * (0.16 - 0.05 * depth)
      let line = chance.line(points: width, bumps: 3 + layer, octaves: 5, roughness: 0.45)
      let colour = palette.far.mixed(with: palette.near, depth)
      let haze = colour.mixed(with: palette.sky[palette.sky.count - 1], 0.45 * (1 - depth))
      canvas.paintBelow(line.map { base - $0 * swing }, from: colour, to: haze)
    }
    return canvas
  }

  /// Dunes: long soft curves, each lit on its crest.
  static func dunes(_ chance: inout Chance, width: Int, height: Int) -> Canvas {
    let palette = chance.pick([Palette.days[3], Palette.days[0], Palette.days[7], Palette.days[5]])
    var canvas = sky(palette, &chance, width: width, height: height, sun: 0.18...0.34)
    let layers = 5
    for layer in 0..<layers {
      let depth = Float(layer) / Float(layers - 1)
      let base = Float(height) * (0.5 + 0.42 * depth)
      let swing = Float(height) * (0.07 + 0.07 * depth)
      let line = chance.line(points: width, bumps: 2, octaves: 2, roughness: 0.25)
      let lit = palette.far.mixed(with: palette.accent, 0.25 + 0.5 * depth).mixed(
        with: palette.light, 0.25 * (1 - depth))
      canvas.paintBelow(
        line.map { base - $0 * swing }, from: lit, to: lit.mixed(with: palette.near, 0.35 + 0.4 * depth))
    }
    return canvas
  }

  /// The sea in the evening: the sun, its path on the water, a headland.
  static func sea(_ chance: inout Chance, width: Int, height: Int) -> Canvas {
    let palette = chance.pick([Palette.days[0], Palette.days[2], Palette.days[5], Palette.days[7], Palette.days[4]])
    var canvas = Canvas(width: width, height: height)
    canvas.paintSky(palette.sky + palette.sky.suffix(1) + palette.sky.suffix(1))
    let horizon = Float(height) * chance.number(0.54...0.62)
    let sun = (x: Float(width) * chance.number(0.3...0.7), radius: Float(height) * chance.number(0.08...0.12))
    let sunY = horizon - sun.radius * chance.number(0.1...1.2)
    canvas.paintGlow(x: sun.x, y: sunY, radius: Float(height) * 0.75, palette.light, strength: 0.55)
    canvas.paintDisc(x: sun.x, y: sunY, radius: sun.radius, palette.light)
    let deep = palette.near.mixed(with: palette.sky[0], 0.4)
    let shine = palette.sky[palette.sky.count - 1]
    let ripples = chance.line(points: height, bumps: 40, octaves: 2)
    canvas.paint(x: 0..<width, y: Int(horizon)..<height) { x, y in
      let depth = (y - horizon) / (Float(height) - horizon)
      let water = shine.mixed(with: deep, min(1, 0.35 + depth * 0.75))
      // The path of the sun widens towards the viewer and breaks into strips.
      let ripple = ripples[min(height - 1, Int(y))]
      let reach = sun.radius * (0.75 + 1.5 * depth) * (1 + 0.55 * ripple)
      let path = max(0, 1 - abs(x - sun.x) / reach)
      let strip: Float = ripple > -0.15 ? 0.85 : 0.25
      return (water.mixed(with: palette.light, min(1, path * 1.4) * strip * (1 - 0.45 * depth)), 1)
    }
    let side: Float = chance.below(2) == 0 ? 0 : 1
    let cliff = chance.line(points: width, bumps: 5, octaves: 4)
    let headland = (0..<width).map { column in
      let near = max(0, 1 - abs(Float(column) / Float(width) - side) * 2.6)
      return near <= 0 ? Float(height) : horizon + 2 - near * Float(height) * (0.2 + 0.05 * cliff[column])
    }
    let rock = palette.near.mixed(with: palette.far, 0.25)
    for column in 0..<width where headland[column] < horizon + 1.5 {
      canvas.paint(x: column..<column + 1, y: Int(headland[column])..<Int(horizon) + 2) { _, y in
        (rock, min(1, max(0, y - headland[column] + 0.5)))
      }
    }
    return canvas
  }

  /// A night with stars, the moon, and pines in front of hills.
  static func night(_ chance: inout Chance, width: Int, height: Int) -> Canvas {
    let palette = chance.pick(Palette.nights)
    var canvas = Canvas(width: width, height: height)
    canvas.paintSky(palette.sky)
    for _ in 0..<90 {
      let brightness = chance.number(0.25...1)
      canvas.paintDisc(
        x: Float(width) * chance.number(0...1), y: Float(height) * chance.number(0...0.65),
        radius: 0.35 + 0.75 * brightness * brightness, palette.light, opacity: brightness)
    }
    let moon = (x: Float(width) * chance.number(0.2...0.8), y: Float(height) * chance.number(0.16...0.34))
    let radius = Float(height) * chance.number(0.06...0.1)
    canvas.paintGlow(x: moon.x, y: moon.y, radius: radius * 5, palette.light, strength: 0.4)
    canvas.paintDisc(x: moon.x, y: moon.y, radius: radius, palette.light)
    for layer in 0..<4 {
      let depth = Float(layer) / 3
      let line = chance.line(points: width, bumps: 2 + layer, octaves: 4, roughness: 0.4)
      let base = Float(height) * (0.62 + 0.28 * depth)
      let ground = line.map { base - $0 * Float(height) * 0.1 }
      let colour = palette.far.mixed(with: palette.near, depth)
      let isWooded = layer >= 2
      canvas.paintBelow(
        isWooded ? pines(over: ground, size: Float(height) * (0.03 + 0.07 * depth), &chance) : ground, from: colour,
        to: colour.mixed(with: palette.sky[palette.sky.count - 1], 0.25 * (1 - depth)))
    }
    return canvas
  }

  /// The outline of a row of pines that stand on a line.
  private static func pines(over ground: [Float], size: Float, _ chance: inout Chance) -> [Float] {
    var outline = ground
    var place = chance.number(0...size)
    while place < Float(ground.count) {
      let tall = size * chance.number(0.8...2)
      let half = tall * 0.24
      let foot = ground[Int(place)]
      for column in max(0, Int(place - half))..<min(ground.count, Int(place + half) + 1) {
        let side = abs(Float(column) + 0.5 - place) / half
        // Three tiers of branches.
        let tier = (side * 3).rounded(.down)
        let branch = side + 0.16 * (side * 3 - tier)
        outline[column] = min(outline[column], foot - tall * max(0, 1 - branch))
      }
      place += half * chance.number(0.9...2.6)
    }
    return outline
  }

  private static func sky(
    _ palette: Palette, _ chance: inout Chance, width: Int, height: Int, sun: ClosedRange<Float>
  ) -> Canvas {
    var canvas = Canvas(width: width, height: height)
    canvas.paintSky(palette.sky + palette.sky.suffix(1))
    let x = Float(width) * chance.number(0.2...0.8)
    let y = Float(height) * chance.number(sun)
    canvas.paintGlow(x: x, y: y, radius: Float(height) * 0.8, palette.light, strength: 0.6)
    canvas.paintDisc(x: x, y: y, radius: Float(height) * chance.number(0.06...0.11), palette.light)
    return canvas
  }
}
