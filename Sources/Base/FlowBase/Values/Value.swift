/// A datum that flows through a run: a cell of a row, a field of an item, the result of an expression.
public enum Value: Sendable, Hashable {
  case null
  case bool(Bool)
  case int(Int)
  case double(Double)
  case string(String)
  case list([Value])
  case map(Fields)
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
  /// A text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A whole number.
  public init(integerLiteral value: Int) { self = .int(value) }
  /// A truth value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// A number with a fraction.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// A list.
  public init(arrayLiteral elements: Value...) { self = .list(elements) }
  /// A map; a later entry of the same name replaces the earlier.
  public init(dictionaryLiteral elements: (String, Value)...) {
    var fields = Fields()
    for (name, value) in elements { fields[name] = value }
    self = .map(fields)
  }
  /// Nothing.
  public init(nilLiteral: ()) { self = .null }
}

extension Value {
  /// Whether this is `.null`.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The text, if this is one.
  public var asString: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The whole number, if this is one (or a fraction that is one).
  public var asInt: Int? {
    switch self {
    case .int(let number): number
    case .double(let number): Int(exactly: number)
    default: nil
    }
  }

  /// The number as a fraction, if this is a number.
  public var asDouble: Double? {
    switch self {
    case .int(let number): Double(number)
    case .double(let number): number
    default: nil
    }
  }

  /// The truth value, if this is one.
  public var asBool: Bool? {
    if case .bool(let flag) = self { flag } else { nil }
  }

  /// The list, if this is one.
  public var asList: [Value]? {
    if case .list(let values) = self { values } else { nil }
  }

  /// The map, if this is one.
  public var asMap: Fields? {
    if case .map(let fields) = self { fields } else { nil }
  }

  /// The word for this value's kind, as messages use it.
  public var kindName: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .int: "an integer"
    case .double: "a number"
    case .string: "a text"
    case .list: "a list"
    case .map: "a map"
    }
  }

  /// The value as it reads inside a text: texts as they are, null as nothing, lists and maps as JSON.
  public var text: String {
    switch self {
    case .null: return ""
    case .bool(let flag): return flag ? "true" : "false"
    case .int(let number): return String(number)
    case .double(let number): return Value.text(of: number)
    case .string(let text): return text
    case .list, .map:
      var writer = JSONWriter()
      writer.value(self)
      return writer.text
    }
  }

  /// The shortest decimal form of a number that reads back as the same number; whole numbers without `.0`.
  public static func text(of number: Double) -> String {
    if let whole = Int(exactly: number), abs(number) < 1e15 { return String(whole) }
    return String(number)
  }
}
