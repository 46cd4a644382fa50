internal import FlowBase

/// The legs of a matrix.
enum Axes {
  struct Problem: Error {
    var message: String
    var axis: String?
    var hint: String?
  }

  /// The product of all axes, the first name slowest.
  static func legs(of axes: Fields) throws(Problem) -> [Fields] {
    var legs: [Fields] = [[:]]
    for (name, value) in axes {
      let values = value.asList ?? [value]
      legs = legs.flatMap { leg in values.map { leg.merging([name: $0]) } }
    }
    return legs
  }
}
