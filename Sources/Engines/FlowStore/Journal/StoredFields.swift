internal import FlowBase

/// Fields as the journal stores them: JSON, and nothing at all for an empty map.
enum StoredFields {
  /// The map as JSON; nil for an empty one.
  static func encode(_ fields: Fields) -> [UInt8]? {
    if fields.isEmpty { return nil }
    var writer = JSONWriter()
    writer.value(.map(fields))
    return writer.bytes
  }

  /// The map that was stored; no bytes are an empty one.
  static func decode(_ bytes: [UInt8]) throws(Fault) -> Fields {
    if bytes.isEmpty { return [:] }
    var reader = StoredJSON(bytes: bytes)
    guard case .map(let fields)? = reader.value(), reader.isAtEnd else {
      throw Fault(
        "state.damaged", .local,
        "a row of the journal holds \(bytes.count) bytes that are no JSON object; put back a copy of the journal")
    }
    return fields
  }
}

/// Reads the JSON that `JSONWriter` writes; nil for anything else.
private struct StoredJSON {
  let bytes: [UInt8]
  var place = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { place == bytes.count }

  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    place += 1
    return true
  }

  private mutating func take(word: StaticString, _ value: Value) -> Value? {
    for byte in word.description.utf8 { guard take(byte) else { return nil } }
    return value
  }

  mutating func value() -> Value? {
    switch next {
    case UInt8(ascii: "{"): return map().map { .map($0) }
    case UInt8(ascii: "["): return list().map { .list($0) }
    case UInt8(ascii: "\""): return string().map { .string($0) }
    case UInt8(ascii: "t"): return take(word: "true", true)
    case UInt8(ascii: "f"): return take(word: "false", false)
    case UInt8(ascii: "n"): return take(word: "null", .null)
    default: return number()
    }
  }

  private mutating func map() -> Fields? {
    place += 1
    var names: [String] = []
    var values: [Value] = []
    if take(UInt8(ascii: "}")) { return [:] }
    repeat {
      guard let name = string(), take(UInt8(ascii: ":")), let value = value() else { return nil }
      names.append(name)
      values.append(value)
    } while take(UInt8(ascii: ","))
    return take(UInt8(ascii: "}")) ? Fields(names: names, values: values) : nil
  }

  private mutating func list() -> [Value]? {
    place += 1
    var values: [Value] = []
    if take(UInt8(ascii: "]")) { return [] }
    repeat {
      guard let value = value() else { return nil }
      values.append(value)
    } while take(UInt8(ascii: ","))
    return take(UInt8(ascii: "]")) ? values : nil
  }

  private mutating func number() -> Value? {
    let start = place
    while let byte = next, (0x30...0x39).contains(byte) || "+-.eE".utf8.contains(byte) { place += 1 }
    let text = String(decoding: bytes[start..<place], as: UTF8.self)
    return Int(text).map { .int($0) } ?? Double(text).map { .double($0) }
  }

  private mutating func string() -> String? {
    guard take(UInt8(ascii: "\"")) else { return nil }
    var text: [UInt8] = []
    while let byte = next {
      place += 1
      if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
      guard byte == UInt8(ascii: "\\") else {
        text.append(byte)
        continue
      }
      guard let escape = next else { return nil }
      place += 1
      switch escape {
      case UInt8(ascii: "n"): text.append(0x0A)
      case UInt8(ascii: "r"): text.append(0x0D)
      case UInt8(ascii: "t"): text.append(0x09)
      case UInt8(ascii: "u"):
        // The writer escapes control characters alone, so all lie below 0x80.
        guard place + 4 <= bytes.count,
          let code = Hex.decode(String(decoding: bytes[place..<place + 4], as: UTF8.self)),
          code[0] == 0, code[1] < 0x80
        else { return nil }
        text.append(code[1])
        place += 4
      default: text.append(escape)
      }
    }
    return nil
  }
}
