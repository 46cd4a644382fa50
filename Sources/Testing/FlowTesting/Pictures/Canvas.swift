/// A colour with parts from 0 to 1.
struct Colour: Sendable {
  var red: Float
  var green: Float
  var blue: Float

  /// A colour as the web writes it: `0xE8A87C`.
  init(_ hex: UInt32) {
    red = Float(hex >> 16 & 255) / 255
    green = Float(hex >> 8 & 255) / 255
    blue = Float(hex & 255) / 255
  }

  init(red: Float, green: Float, blue: Float) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// The colour on the way to another; 0 is this one, 1 the other.
  func mixed(with other: Colour, _ share: Float) -> Colour {
    let rest = 1 - share
    return Colour(
      red: red * rest + other.red * share, green: green * rest + other.green * share,
      blue: blue * rest + other.blue * share)
  }

  /// The colour, brighter (above 1) or darker.
  func lit(_ factor: Float) -> Colour { Colour(red: red * factor, green: green * factor, blue: blue * factor) }
}

/// A picture in the making, painted from back to front with soft edges.
struct Canvas {
  let width: Int
  let height: Int
  private(set) var pixels: [Colour]

  init(width: Int, height: Int, _ colour: Colour = Colour(0)) {
    self.width = width
    self.height = height
    pixels = [Colour](repeating: colour, count: width * height)
  }

  /// Paints every pixel; the closure is given its middle and gives a colour and how much it covers.
  mutating func paint(_ colour: (_ x: Float, _ y: Float) -> (Colour, Float)) {
    paint(x: 0..<width, y: 0..<height, colour)
  }

  /// Paints the pixels of a rectangle, as far as it lies on the canvas.
  mutating func paint(x: Range<Int>, y: Range<Int>, _ colour: (_ x: Float, _ y: Float) -> (Colour, Float)) {
    let columns = x.clamped(to: 0..<width)
    for row in y.clamped(to: 0..<height) {
      for column in columns {
        let (paint, cover) = colour(Float(column) + 0.5, Float(row) + 0.5)
        if cover <= 0 { continue }
        let place = row * width + column
        pixels[place] = cover >= 1 ? paint : pixels[place].mixed(with: paint, cover)
      }
    }
  }

  /// Paints a gradient from top to bottom through colours at even distances.
  mutating func paintSky(_ stops: [Colour]) {
    for row in 0..<height {
      let position = Float(row) / Float(height) * Float(stops.count - 1)
      let stop = min(Int(position), stops.count - 2)
      let colour = stops[stop].mixed(with: stops[stop + 1], position - Float(stop))
      for column in 0..<width { pixels[row * width + column] = colour }
    }
  }

  /// Paints a disc.
  mutating func paintDisc(x: Float, y: Float, radius: Float, _ colour: Colour, opacity: Float = 1) {
    paint(x: Int(x - radius) - 1..<Int(x + radius) + 2, y: Int(y - radius) - 1..<Int(y + radius) + 2) { px, py in
      let distance = ((px - x) * (px - x) + (py - y) * (py - y)).squareRoot()
      return (colour, min(1, max(0, radius - distance + 0.5)) * opacity)
    }
  }

  /// Paints an ellipse.
  mutating func paintEllipse(x: Float, y: Float, _ across: Float, _ down: Float, _ colour: Colour) {
    paint(x: Int(x - across) - 1..<Int(x + across) + 2, y: Int(y - down) - 1..<Int(y + down) + 2) { px, py in
      let unit = (((px - x) / across) * ((px - x) / across) + ((py - y) / down) * ((py - y) / down)).squareRoot()
      return (colour, min(1, max(0, (1 - unit) * min(across, down) + 0.5)))
    }
  }

  /// Adds a glow that fades with the distance.
  mutating func paintGlow(x: Float, y: Float, radius: Float, _ colour: Colour, strength: Float) {
    paint(x: Int(x - radius)..<Int(x + radius) + 1, y: Int(y - radius)..<Int(y + radius) + 1) { px, py in
      let distance = ((px - x) * (px - x) + (py - y) * (py - y)).squareRoot()
      let near = max(0, 1 - distance / radius)
      return (colour, near * near * strength)
    }
  }

  /// Paints all below a line that is given for each column; the colour may change with the depth below it.
  mutating func paintBelow(_ line: [Float], from top: Colour, to bottom: Colour) {
    for column in 0..<width {
      let edge = line[column]
      let first = max(0, Int(edge - 0.5))
      guard first < height else { continue }
      for row in first..<height {
        let depth = Float(row) + 0.5 - edge
        let cover = min(1, max(0, depth + 0.5))
        let colour = top.mixed(with: bottom, min(1, max(0, depth / (Float(height) - edge + 1))))
        let place = row * width + column
        pixels[place] = cover >= 1 ? colour : pixels[place].mixed(with: colour, cover)
      }
    }
  }

  /// The pixels of another canvas, put at a place.
  mutating func place(_ other: Canvas, x: Int, y: Int) {
    for row in 0..<other.height where (0..<height).contains(row + y) {
      for column in 0..<other.width where (0..<width).contains(column + x) {
        pixels[(row + y) * width + column + x] = other.pixels[row * other.width + column]
      }
    }
  }

  /// The picture in eight bits a colour, row by row, red, green and blue.
  var bytes: [UInt8] {
    var bytes = [UInt8]()
    bytes.reserveCapacity(pixels.count * 3)
    for pixel in pixels {
      bytes.append(UInt8(min(255, max(0, pixel.red * 255 + 0.5))))
      bytes.append(UInt8(min(255, max(0, pixel.green * 255 + 0.5))))
      bytes.append(UInt8(min(255, max(0, pixel.blue * 255 + 0.5))))
    }
    return bytes
  }
}
