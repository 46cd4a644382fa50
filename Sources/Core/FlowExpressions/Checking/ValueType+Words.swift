internal import FlowBase

extension ValueType {
  /// The type in words, for messages: "a number", "a list of texts".
  public var words: String {
    switch self {
    case .any: "any value"
    case .null: "null"
    case .bool: "true or false"
    case .integer: "a whole number"
    case .number: "a number"
    case .string: "a text"
    case .list: "a list"
    case .map: "a map"
    }
  }

  /// Whether it is a whole number or a fraction.
  var isNumeric: Bool { self == .integer || self == .number }
  /// Whether nothing can be said against it before a run.
  var isOpen: Bool { self == .any || self == .null }

  /// Whether values of this type read as texts in a text.
  var isScalar: Bool {
    switch self {
    case .list, .map: false
    default: true
    }
  }

  /// The type that holds the values of both.
  func joined(_ other: ValueType) -> ValueType {
    if self == other { return self }
    if self == .null || other == .null { return .any }
    return isNumeric && other.isNumeric ? .number : .any
  }

  /// The type of a value.
  init(of value: Value) {
    switch value {
    case .null: self = .null
    case .bool: self = .bool
    case .int: self = .integer
    case .double: self = .number
    case .string: self = .string
    case .list(let elements):
      let types = elements.map(ValueType.init(of:))
      self = .list(types.dropFirst().reduce(types.first ?? .any) { $0.joined($1) })
    case .map: self = .map
    }
  }
}
