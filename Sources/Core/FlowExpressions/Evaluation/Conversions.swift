internal import FlowBase

/// From one kind of value to another, where the expression asks for it.
enum Conversions {
  static func int(_ value: Value) throws(Fault) -> Value {
    switch value {
    case .int: return value
    case .double(let number):
      if let whole = Int(exactly: number.rounded(.towardZero)) { return .int(whole) }
    case .bool(let flag): return .int(flag ? 1 : 0)
    case .string(let text):
      let digits = word(text)
      if let whole = Int(digits) { return .int(whole) }
      if let number = Double(digits), let whole = Int(exactly: number.rounded(.towardZero)) { return .int(whole) }
    default: break
    }
    throw failed(value, "a whole number")
  }

  static func number(_ value: Value) throws(Fault) -> Value {
    switch value {
    case .int, .double: return value
    case .bool(let flag): return .int(flag ? 1 : 0)
    case .string(let text):
      let digits = word(text)
      if let whole = Int(digits) { return .int(whole) }
      if isDecimal(digits), let number = Double(digits), number.isFinite { return .double(number) }
    default: break
    }
    throw failed(value, "a number")
  }

  static func bool(_ value: Value) throws(Fault) -> Value {
    switch value {
    case .bool: return value
    case .int(0), .double(0): return .bool(false)
    case .int, .double: return .bool(true)
    case .string(let text):
      switch word(text).lowercased() {
      case "true", "yes", "on", "1", "y", "t": return .bool(true)
      case "false", "no", "off", "0", "n", "f", "": return .bool(false)
      default: break
      }
    default: break
    }
    throw failed(value, "true or false")
  }

  /// Neither `nan` nor `inf` nor hexadecimal fractions, which the standard library reads too.
  private static func isDecimal(_ text: String) -> Bool {
    text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "e"), UInt8(ascii: "E"):
        true
      default: false
      }
    }
  }

  private static func word(_ text: String) -> String { text.trimmed }

  private static func failed(_ value: Value, _ wanted: String) -> Fault {
    Fault("expression.convert", .permanent, "\(Evaluator.shown(value)) is not \(wanted)")
  }
}
