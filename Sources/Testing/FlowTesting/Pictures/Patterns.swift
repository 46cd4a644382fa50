/// Pictures without things in them.
enum Patterns {
  /// Ribbons that flow over one another.
  static func ribbons(_ chance: inout Chance, width: Int, height: Int) -> Canvas {
    let palette = chance.pick(Palette.days + Palette.nights)
    var canvas = Canvas(width: width, height: height)
    canvas.paintSky([palette.sky[0].mixed(with: palette.near, 0.35), palette.sky[1]])
    let stops = palette.sky.dropFirst() + [palette.accent, palette.near]
    let count = 9
    for ribbon in 0..<count {
      let position = Float(ribbon) / Float(count - 1) * Float(stops.count - 1)
      let stop = min(stops.count - 2, Int(position))
      let colour = stops[stops.startIndex + stop].mixed(
        with: stops[stops.startIndex + stop + 1], position - Float(stop))
      let wave = chance.line(points: width, bumps: 2, octaves: 2, roughness: 0.2)
      let slope = chance.number(-0.12...0.12)
      let base = Float(height) * (0.1 + 0.84 * Float(ribbon) / Float(count))
      let line = wave.enumerated().map { column, wave in
        base - wave * Float(height) * 0.16 + (Float(column) / Float(width) - 0.5) * slope * Float(height)
      }
      // A soft shadow under the edge lifts each ribbon off the one behind it.
      for step in 1...4 { canvas.paintShade(above: line.map { $0 - Float(step) * 1.5 }, line) }
      canvas.paintBelow(line, from: colour.mixed(with: palette.light, 0.28), to: colour)
    }
    return canvas
  }

  /// Cells like leaded glass, each with a gradient of its own.
  static func glass(_ chance: inout Chance, width: Int, height: Int) -> Canvas {
    let palette = chance.pick(Palette.days)
    var canvas = Canvas(width: width, height: height)
    let stops = palette.sky + [palette.far, palette.accent, palette.near]
    var seeds: [(x: Float, y: Float, colour: Colour)] = []
    let across = 8
    let down = 6
    for row in 0..<down {
      for column in 0..<across {
        // One seed a cell of a grid: even, but not regular.
        let x = (Float(column) + chance.number(0.1...0.9)) / Float(across)
        let y = (Float(row) + chance.number(0.1...0.9)) / Float(down)
        let position = min(0.999, max(0, y * 0.8 + x * 0.2 + chance.number(-0.1...0.1))) * Float(stops.count - 1)
        let stop = Int(position)
        let colour = stops[stop].mixed(with: stops[stop + 1], position - Float(stop))
        seeds.append((x * Float(width), y * Float(height), colour.lit(chance.number(0.92...1.08))))
      }
    }
    let cell = (x: Float(width) / Float(across), y: Float(height) / Float(down))
    canvas.paint { x, y in
      var nearest = (distance: Float.infinity, seed: 0)
      var second = Float.infinity
      let column = Int(x / cell.x)
      let row = Int(y / cell.y)
      for row in max(0, row - 1)...min(down - 1, row + 1) {
        for column in max(0, column - 1)...min(across - 1, column + 1) {
          let seed = row * across + column
          let dx = seeds[seed].x - x
          let dy = seeds[seed].y - y
          let distance = dx * dx + dy * dy
          if distance < nearest.distance {
            second = nearest.distance
            nearest = (distance, seed)
          } else if distance < second {
            second = distance
          }
        }
      }
      let seed = seeds[nearest.seed]
      let edge = second.squareRoot() - nearest.distance.squareRoot()
      let light = 1.06 + 0.14 * (seed.y - y) / cell.y
      let lead = min(1, max(0, (3.2 - edge) / 1.6))
      return (seed.colour.lit(light).mixed(with: palette.near, lead * 0.85), 1)
    }
    return canvas
  }
}

extension Canvas {
  /// Darkens a band between two lines a little.
  fileprivate mutating func paintShade(above upper: [Float], _ lower: [Float]) {
    let shade = Colour(0x10081C)
    for column in 0..<width {
      paint(x: column..<column + 1, y: Int(upper[column])..<max(Int(upper[column]), Int(lower[column]) + 1)) { _, y in
        (shade, min(1, max(0, y - upper[column] + 0.5)) * 0.09)
      }
    }
  }
}
