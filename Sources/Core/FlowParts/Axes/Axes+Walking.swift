public import FlowBase

extension Axes: Sequence {
  /// Goes over the combinations in order.
  public func makeIterator() -> AxesIterator { AxesIterator(self) }

  /// How many combinations there are; nil where exclusions make that too long to find out.
  public var count: Int? {
    if exclude.isEmpty { return product + include.count }
    if isCountedAtOnce { return product - excludedCount + include.count }
    return product <= 100_000 ? reduce(0) { count, _ in count + 1 } : nil
  }

  /// Whether the count is computed, not counted.
  fileprivate var isCountedAtOnce: Bool { exclude.isEmpty || !isZipped && exclude.count <= 10 }

  /// How many combinations some exclusion matches, by inclusion and exclusion over all sets of them.
  private var excludedCount: Int {
    var total = 0
    for choice in 1..<(1 << exclude.count) {
      var demanded: Fields? = [:]
      for (place, entry) in exclude.enumerated() where choice >> place & 1 == 1 {
        demanded = demanded.flatMap { Axes.joined($0, entry) }
      }
      guard let demanded else { continue }
      let matching = axes.reduce(1) { $0 &* (demanded[$1.name].map($1.occurrences) ?? $1.count) }
      // The sums on the way may be too large for an Int; the result is not, so that wrapping around does no harm.
      total = choice.nonzeroBitCount % 2 == 1 ? total &+ matching : total &- matching
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
}

/// Hands out the combinations of axes one by one.
public struct AxesIterator: IteratorProtocol, Sendable {
  private let axes: Axes
  private let names: [String]
  private let demands: [Demand]
  /// Where each axis stands.
  private var places: [Int]
  private var values: [Value]
  /// How many combinations of the product are still to come, where that is known.
  private var remaining: Int?
  private var isAtEnd: Bool
  private var included = 0

  /// An exclusion, with the places of its axes instead of their names.
  private struct Demand {
    var values: [(axis: Int, value: Value)]
    /// The fastest axis that it names: while this one and the slower ones stand still, nothing changes for it.
    var fastest: Int

    init(_ entry: Fields, _ axes: [Axis]) {
      values = entry.compactMap { name, value in axes.firstIndex { $0.name == name }.map { ($0, value) } }
      fastest = values.map(\.axis).max() ?? 0
    }

    func matches(_ combination: [Value]) -> Bool { values.allSatisfy { Axis.equal(combination[$0.axis], $0.value) } }
  }

  init(_ axes: Axes) {
    self.axes = axes
    names = axes.names
    demands = axes.exclude.map { Demand($0, axes.axes) }
    places = [Int](repeating: 0, count: axes.axes.count)
    values = axes.axes.map { $0.value(at: 0) }
    remaining = axes.isCountedAtOnce ? axes.count.map { $0 - axes.include.count } : nil
    isAtEnd = axes.product == 0
  }

  /// The next combination; all share one list of names.
  public mutating func next() -> Fields? {
    while !isAtEnd, remaining != 0 {
      let current = values
      guard let demand = demands.first(where: { $0.matches(current) }) else {
        advance(from: places.count - 1)
        remaining = remaining.map { $0 - 1 }
        return Fields(names: names, values: current)
      }
      advance(from: demand.fastest)
    }
    guard included < axes.include.count else { return nil }
    defer { included += 1 }
    let entry = axes.include[included]
    return Fields(names: names, values: names.map { entry[$0] ?? .null })
  }

  /// Like the wheels of a counter: the last axis turns fastest; the axes faster than the one named start anew.
  private mutating func advance(from fastest: Int) {
    if axes.isZipped {
      for axis in places.indices { move(axis, to: places[axis] + 1) }
      isAtEnd = places.first == axes.product
      return
    }
    for axis in places.indices.dropFirst(fastest + 1) { move(axis, to: 0) }
    for axis in places.indices.prefix(fastest + 1).reversed() {
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
