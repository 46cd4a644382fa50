/// Numbers that look random and are the same for the same name (SplitMix64).
struct Chance {
  private var state: UInt64

  init(_ name: String) {
    // FNV-1a of the name.
    state = 0xCBF2_9CE4_8422_2325
    for byte in name.utf8 { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// A number of a range.
  mutating func number(_ range: ClosedRange<Float>) -> Float {
    range.lowerBound + Float(next() >> 40) / Float(1 << 24) * (range.upperBound - range.lowerBound)
  }

  /// A whole number from 0 up to, and without, a bound.
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }

  /// One of some things.
  mutating func pick<Thing>(_ things: [Thing]) -> Thing { things[below(things.count)] }

  /// A smooth line of so many points between -1 and 1: several octaves of bumps, the first `bumps` wide.
  mutating func line(points: Int, bumps: Int, octaves: Int, roughness: Float = 0.5) -> [Float] {
    var line = [Float](repeating: 0, count: points)
    var height: Float = 1
    var total: Float = 0
    var count = bumps
    for _ in 0..<octaves {
      var knots: [Float] = []
      for _ in 0..<count + 3 { knots.append(number(-1...1)) }
      for point in 0..<points {
        let position = Float(point) / Float(points) * Float(count)
        let knot = Int(position)
        let step = position - Float(knot)
        let smooth = step * step * (3 - 2 * step)
        line[point] += height * (knots[knot] * (1 - smooth) + knots[knot + 1] * smooth)
      }
      total += height
      height *= roughness
      count *= 2
    }
    return line.map { $0 / total }
  }
}
