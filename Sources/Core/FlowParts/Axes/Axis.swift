public import FlowBase

/// A name that takes several values in turn.
public struct Axis: Sendable, Hashable {
  /// The values of an axis, in order.
  public enum Values: Sendable, Hashable {
    case list([Value])
    case range(AxisRange)
  }

  /// Its name.
  public let name: String
  /// Its values.
  public let values: Values

  /// An axis.
  public init(_ name: String, values: Values) {
    self.name = name
    self.values = values
  }

  /// An axis as a manifest writes it: a list, a range such as `1..40`, or a single value.
  public init(_ name: String, written: Value) throws(AxesProblem) {
    switch written {
    case .list(let values): self.init(name, values: .list(values))
    case .string(let text) where AxisRange.isMeant(by: text):
      do throws(AxesProblem) {
        self.init(name, values: .range(try AxisRange(parsing: text)))
      } catch {
        throw AxesProblem(error.message, hint: error.hint, key: name)
      }
    case .map, .null:
      throw AxesProblem("`\(name)` is \(written.kindName)", hint: "write a list such as [a, b], or a range", key: name)
    default: self.init(name, values: .list([written]))
    }
  }

  /// How many values it has.
  public var count: Int {
    switch values {
    case .list(let values): values.count
    case .range(let range): range.count
    }
  }

  /// The value at a place from 0; beyond the end it is null.
  public func value(at place: Int) -> Value {
    switch values {
    case .list(let values): values.indices.contains(place) ? values[place] : .null
    case .range(let range): range.value(at: place)
    }
  }

  /// How often a value occurs.
  func occurrences(of value: Value) -> Int {
    switch values {
    case .list(let values): values.count { Axis.equal($0, value) }
    case .range(let range): range.occurrences(of: value)
    }
  }

  /// A value as this axis spells it.
  func spelled(_ value: Value) -> Value {
    if case .range(let range) = values { range.spelled(value) } else { value }
  }

  /// Numbers are equal by value, whatever their kind.
  static func equal(_ left: Value, _ right: Value) -> Bool {
    if left == right { return true }
    guard let left = left.asDouble, let right = right.asDouble else { return false }
    return left == right
  }
}
