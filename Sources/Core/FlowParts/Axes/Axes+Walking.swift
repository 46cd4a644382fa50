public import FlowBase

extension Axes: Sequence {
  /// Goes over the combinations in order.
  public func makeIterator() -> AxesIterator { AxesIterator(self) }

  /// How many combinations there are; nil where exclusions make that too long to find out.
  public var count: Int? {
    if exclude.isEmpty { return product + include.count }
    if !isZipped, exclude.count <= 10 { return product - excludedCount + include.count }
    return product <= 100_000 ? reduce(0) { count, _ in count + 1 } : nil
  }

  /// How many combinations some exclusion matches, by inclusion and exclusion over all sets of them.
  private var excludedCount: Int {
    var total = 0
    for choice in 1..<(1 << exclude.count) {
      var demanded: Fields? = [:]
      for (place, entry) in exclude.enumerated() where choice >> place & 1 == 1 {
        demanded = demanded.flatMap { Axes.joined($0, entry) }
      }
      guard let demanded else { continue }
      let matching = axes.reduce(1) { $0 * (demanded[$1.name].map($1.occurrences) ?? $1.count) }
      total += choice.nonzeroBitCount % 2 == 1 ? matching : -matching
    }
    return total
  }

  /// The demands of both; nil where they contradict each other.
  private static func joined(_ demanded: Fields, _ entry: Fields) -> Fields? {
    var joined = demanded
    for (name, value) in entry {
      if let other = joined[name], !Axis.equal(other, value) { return nil }
      joined[name] = value
    }
    return joined
  }

  /// Whether a combination is left out.
  fileprivate func isExcluded(_ values: [Value], _ demands: [[(place: Int, value: Value)]]) -> Bool {
    demands.contains { demand in demand.allSatisfy { Axis.equal(values[$0.place], $0.value) } }
  }
}

/// Hands out the combinations of axes one by one.
public struct AxesIterator: IteratorProtocol, Sendable {
  private let axes: Axes
  private let names: [String]
  /// The exclusions, with the places of their axes instead of the names.
  private let demands: [[(place: Int, value: Value)]]
  /// Where each axis stands.
  private var places: [Int]
  private var values: [Value]
  private var isAtEnd: Bool
  private var included = 0

  init(_ axes: Axes) {
    self.axes = axes
    names = axes.names
    demands = axes.exclude.map { entry in
      entry.compactMap { name, value in axes.axes.firstIndex { $0.name == name }.map { ($0, value) } }
    }
    places = [Int](repeating: 0, count: axes.axes.count)
    values = axes.axes.map { $0.value(at: 0) }
    isAtEnd = axes.product == 0
  }

  /// The next combination; all share one list of names.
  public mutating func next() -> Fields? {
    while !isAtEnd {
      let current = values
      advance()
      if demands.isEmpty || !axes.isExcluded(current, demands) { return Fields(names: names, values: current) }
    }
    guard included < axes.include.count else { return nil }
    defer { included += 1 }
    let entry = axes.include[included]
    return Fields(names: names, values: names.map { entry[$0] ?? .null })
  }

  /// Like the wheels of a counter: the last axis turns fastest.
  private mutating func advance() {
    if axes.isZipped {
      for axis in places.indices { move(axis, to: places[axis] + 1) }
      isAtEnd = places.first == axes.product
      return
    }
    for axis in places.indices.reversed() {
      if places[axis] + 1 < axes.axes[axis].count {
        move(axis, to: places[axis] + 1)
        return
      }
      move(axis, to: 0)
    }
    isAtEnd = true
  }

  private mutating func move(_ axis: Int, to place: Int) {
    places[axis] = place
    values[axis] = axes.axes[axis].value(at: place)
  }
}
