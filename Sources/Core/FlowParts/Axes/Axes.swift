public import FlowBase

/// Several axes together: every combination of their values, one after the other, none of them kept.
///
/// The first axis is the slowest. Walked side by side instead (`zip`), the axes must be equally long. Combinations that
/// match an exclusion are left out; inclusions follow at the end as they stand.
public struct Axes: Sendable, Hashable {
  /// The axes, the slowest first.
  public let axes: [Axis]
  /// Whether they are walked side by side.
  public let isZipped: Bool
  /// Maps from names to values; a combination that has all values of one of them is left out.
  public let exclude: [Fields]
  /// Combinations that follow at the end.
  public let include: [Fields]
  /// How many combinations there are before exclusions, inclusions not counted.
  public let product: Int

  /// Axes; the problem says which of them is wrong and why.
  public init(
    _ axes: [Axis], zip isZipped: Bool = false, exclude: [Fields] = [], include: [Fields] = []
  ) throws(AxesProblem) {
    self.axes = axes
    self.isZipped = isZipped
    self.include = include
    self.exclude = try exclude.map { entry throws(AxesProblem) in try Axes.checked(entry, axes) }
    product = isZipped ? try Axes.commonCount(axes) : try Axes.product(axes)
    if product.addingReportingOverflow(include.count).overflow { throw Axes.uncountable }
  }

  /// Axes as a manifest writes them: a map of lists and ranges, in which `exclude`, `include` and `zip` may stand too.
  public init(matrix: Fields) throws(AxesProblem) {
    var loop = matrix
    let exclude = try Axes.maps(loop["exclude"], "exclude")
    let include = try Axes.maps(loop["include"], "include")
    guard let isZipped = (loop["zip"] ?? false).asBool else {
      throw AxesProblem("`zip` is true or false", key: "zip")
    }
    for key in ["exclude", "include", "zip"] { loop[key] = nil }
    try self.init(loop: loop, zip: isZipped, exclude: exclude, include: include)
  }

  /// Axes from a map of lists and ranges.
  public init(
    loop: Fields, zip isZipped: Bool = false, exclude: [Fields] = [], include: [Fields] = []
  ) throws(AxesProblem) {
    var axes: [Axis] = []
    for (name, written) in loop { axes.append(try Axis(name, written: written)) }
    try self.init(axes, zip: isZipped, exclude: exclude, include: include)
  }

  /// The names that every combination has: the axes', then those that only inclusions name.
  public var names: [String] {
    var names = axes.map(\.name)
    for entry in include { for name in entry.names where !names.contains(name) { names.append(name) } }
    return names
  }

  // MARK: What they must be

  private static let uncountable = AxesProblem(
    "the combinations are more than can be counted", hint: "shorten the axes, or split them into several sources")

  private static func product(_ axes: [Axis]) throws(AxesProblem) -> Int {
    if axes.contains(where: { $0.count == 0 }) { return 0 }
    var product = axes.isEmpty ? 0 : 1
    for axis in axes {
      let (next, isTooLarge) = product.multipliedReportingOverflow(by: axis.count)
      if isTooLarge { throw uncountable }
      product = next
    }
    return product
  }

  private static func commonCount(_ axes: [Axis]) throws(AxesProblem) -> Int {
    let count = axes.first?.count ?? 0
    guard let other = axes.first(where: { $0.count != count }) else { return count }
    let lengths = axes.map { "\($0.name) has \($0.count)" }.joined(separator: ", ")
    throw AxesProblem(
      "`zip` walks axes side by side, and they differ in length: \(lengths)",
      hint: "make them equally long, or leave `zip` out for every combination", key: other.name)
  }

  private static func checked(_ entry: Fields, _ axes: [Axis]) throws(AxesProblem) -> Fields {
    if entry.isEmpty {
      throw AxesProblem("an empty exclusion would leave nothing", hint: "name an axis and a value", key: "exclude")
    }
    var spelled: [Value] = []
    for (name, value) in entry {
      guard let axis = axes.first(where: { $0.name == name }) else {
        let near = Suggestion.nearest(to: name, among: axes.map(\.name))
        throw AxesProblem(
          "`exclude` names `\(name)`, which is no axis",
          hint: near.map { "did you mean `\($0)`?" } ?? "axes: \(axes.map(\.name).joined(separator: " "))",
          key: "exclude")
      }
      spelled.append(axis.spelled(value))
    }
    return Fields(names: entry.names, values: spelled)
  }

  private static func maps(_ value: Value?, _ key: String) throws(AxesProblem) -> [Fields] {
    switch value {
    case nil, .null: return []
    case .map(let fields): return [fields]
    case .list(let entries):
      let maps = entries.compactMap(\.asMap)
      if maps.count == entries.count { return maps }
    default: break
    }
    throw AxesProblem("`\(key)` is a list of maps", hint: "such as [{ w: 64, fmt: jpeg }]", key: key)
  }
}
