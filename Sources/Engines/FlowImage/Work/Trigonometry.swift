internal import Glibc

/// The functions of angles.
enum Trigonometry {
  static func sine(_ angle: Double) -> Double { sin(angle) }
  static func cosine(_ angle: Double) -> Double { cos(angle) }
}
