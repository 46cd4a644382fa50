/// Why a text is no JSON, and where.
public struct JSONProblem: Error, Sendable, Hashable {
  /// What is wrong, in a few words.
  public let message: String
  /// The byte at which it is wrong, from 0.
  public let offset: Int

  /// A problem.
  public init(_ message: String, offset: Int) {
    self.message = message
    self.offset = offset
  }
}

/// Reads JSON (RFC 8259) as it is written and nothing beyond it: no comments, no trailing commas, no single quotes.
public enum JSONReader {
  /// How deep arrays and objects may be nested.
  public static let maximumDepth = 128

  /// Reads one value, with nothing but blanks around it.
  ///
  /// Whole numbers beyond 64 bits become fractions. Of several members with one name the last one counts.
  public static func read(_ bytes: [UInt8]) throws(JSONProblem) -> Value { try read(bytes[...]) }

  /// Reads one value from a part of a buffer; offsets in problems count from the part's beginning.
  public static func read(_ bytes: ArraySlice<UInt8>) throws(JSONProblem) -> Value {
    let result = unsafe bytes.withUnsafeBufferPointer { buffer -> Result<Value, JSONProblem> in
      do throws(JSONProblem) { return try unsafe .success(read(buffer)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Reads one value from memory that somebody else owns.
  public static func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONProblem) -> Value {
    var parser = unsafe JSONParser(bytes)
    return try parser.document()
  }
}

/// The grammar, by recursive descent over bytes that outlive it.
@safe private struct JSONParser {
  private let bytes: UnsafeBufferPointer<UInt8>
  private let count: Int
  private var place = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    unsafe self.bytes = unsafe bytes
    count = bytes.count
  }

  mutating func document() throws(JSONProblem) -> Value {
    let value = try self.value(depth: 0)
    skipBlanks()
    guard place == count else { throw problem("something follows the value") }
    return value
  }

  /// The byte at the current place; at the end a zero, which nothing in the grammar begins with.
  private var byte: UInt8 { unsafe place < count ? bytes[place] : 0 }

  private func problem(_ message: String) -> JSONProblem {
    JSONProblem(place < count ? message : "the text ends too early", offset: place)
  }

  private mutating func skipBlanks() {
    while byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
  }

  private mutating func value(depth: Int) throws(JSONProblem) -> Value {
    skipBlanks()
    switch byte {
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "{"): return .map(try object(depth: depth + 1))
    case UInt8(ascii: "["): return .list(try array(depth: depth + 1))
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw problem("a value was expected")
    }
  }

  private mutating func word(_ word: StaticString, _ value: Value) throws(JSONProblem) -> Value {
    for offset in 0..<word.utf8CodeUnitCount {
      guard unsafe byte == word.utf8Start[offset] else { throw problem("`\(word)` was expected") }
      place += 1
    }
    return value
  }

  private mutating func array(depth: Int) throws(JSONProblem) -> [Value] {
    guard depth <= JSONReader.maximumDepth else { throw problem("nested more than \(JSONReader.maximumDepth) deep") }
    place += 1
    var elements: [Value] = []
    skipBlanks()
    if byte == UInt8(ascii: "]") {
      place += 1
      return elements
    }
    while true {
      elements.append(try value(depth: depth))
      skipBlanks()
      if byte == UInt8(ascii: "]") {
        place += 1
        return elements
      }
      guard byte == UInt8(ascii: ",") else { throw problem("`,` or `]` was expected") }
      place += 1
    }
  }

  private mutating func object(depth: Int) throws(JSONProblem) -> Fields {
    guard depth <= JSONReader.maximumDepth else { throw problem("nested more than \(JSONReader.maximumDepth) deep") }
    place += 1
    var members = Members()
    skipBlanks()
    if byte == UInt8(ascii: "}") {
      place += 1
      return members.fields
    }
    while true {
      skipBlanks()
      guard byte == UInt8(ascii: "\"") else { throw problem("a name in double quotes was expected") }
      let name = try string()
      skipBlanks()
      guard byte == UInt8(ascii: ":") else { throw problem("`:` was expected") }
      place += 1
      members.add(name, try value(depth: depth))
      skipBlanks()
      if byte == UInt8(ascii: "}") {
        place += 1
        return members.fields
      }
      guard byte == UInt8(ascii: ",") else { throw problem("`,` or `}` was expected") }
      place += 1
    }
  }

  // MARK: Numbers

  private mutating func number() throws(JSONProblem) -> Value {
    let start = place
    let isNegative = byte == UInt8(ascii: "-")
    if isNegative { place += 1 }
    var magnitude: UInt = 0
    var fits = true
    let firstDigit = place
    while let digit = digit {
      let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(digit)
      fits = fits && !overflow && !carry
      magnitude = sum
      place += 1
    }
    guard place > firstDigit else { throw problem("a digit was expected") }
    if unsafe place > firstDigit + 1 && bytes[firstDigit] == UInt8(ascii: "0") {
      throw JSONProblem("a number begins with no needless 0", offset: firstDigit)
    }
    if byte != UInt8(ascii: ".") && byte | 0x20 != UInt8(ascii: "e") && fits {
      if magnitude <= UInt(Int.max) { return .int(isNegative ? -Int(magnitude) : Int(magnitude)) }
      if isNegative && magnitude == UInt(Int.max) + 1 { return .int(.min) }
    }
    if byte == UInt8(ascii: ".") {
      place += 1
      try digits()
    }
    if byte | 0x20 == UInt8(ascii: "e") {
      place += 1
      if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { place += 1 }
      try digits()
    }
    let text = unsafe String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<place]), as: UTF8.self)
    guard let number = Double(text), number.isFinite else {
      throw JSONProblem("the number is too large", offset: start)
    }
    return .double(number)
  }

  private var digit: UInt? {
    let byte = byte
    return byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") ? UInt(byte - UInt8(ascii: "0")) : nil
  }

  private mutating func digits() throws(JSONProblem) {
    guard digit != nil else { throw problem("a digit was expected") }
    while digit != nil { place += 1 }
  }

  // MARK: Texts

  private mutating func string() throws(JSONProblem) -> String {
    let opening = place
    place += 1
    let start = place
    while place < count {
      let byte = unsafe bytes[place]
      if byte == UInt8(ascii: "\"") {
        let text = try unsafe decode(UnsafeBufferPointer(rebasing: bytes[start..<place]), from: start)
        place += 1
        return text
      }
      if byte == UInt8(ascii: "\\") { return try escapedString(from: start, opening: opening) }
      guard byte >= 0x20 else { throw problem("a control character stands in a text; write it as an escape") }
      place += 1
    }
    throw JSONProblem("the text that begins here is never closed", offset: opening)
  }

  private mutating func escapedString(from start: Int, opening: Int) throws(JSONProblem) -> String {
    var text = unsafe Array(bytes[start..<place])
    while place < count {
      let byte = unsafe bytes[place]
      switch byte {
      case UInt8(ascii: "\""):
        place += 1
        let decoded = String(utf8: text)
        guard let decoded else { throw JSONProblem("the text is not UTF-8", offset: opening) }
        return decoded
      case UInt8(ascii: "\\"):
        place += 1
        try escape(into: &text)
      case 0..<0x20: throw problem("a control character stands in a text; write it as an escape")
      default:
        text.append(byte)
        place += 1
      }
    }
    throw JSONProblem("the text that begins here is never closed", offset: opening)
  }

  private func decode(_ part: UnsafeBufferPointer<UInt8>, from start: Int) throws(JSONProblem) -> String {
    guard let text = unsafe String(utf8: part) else {
      throw JSONProblem("the text is not UTF-8", offset: start)
    }
    return text
  }

  private mutating func escape(into text: inout [UInt8]) throws(JSONProblem) {
    let escape = byte
    let simple: UInt8
    switch escape {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): simple = escape
    case UInt8(ascii: "b"): simple = 0x08
    case UInt8(ascii: "f"): simple = 0x0C
    case UInt8(ascii: "n"): simple = 0x0A
    case UInt8(ascii: "r"): simple = 0x0D
    case UInt8(ascii: "t"): simple = 0x09
    case UInt8(ascii: "u"):
      return text.append(contentsOf: UTF8.encode(try unicodeEscape()) ?? UTF8.encodedReplacementCharacter)
    default: throw problem("there is no such escape")
    }
    text.append(simple)
    place += 1
  }

  /// The character of `uXXXX`, or of two such escapes that make a surrogate pair.
  private mutating func unicodeEscape() throws(JSONProblem) -> Unicode.Scalar {
    let start = place - 1
    let first = try codeUnit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    if first < 0xDC00, byte == UInt8(ascii: "\\"), unsafe place + 1 < count && bytes[place + 1] == UInt8(ascii: "u") {
      place += 1
      let second = try codeUnit()
      if (0xDC00..<0xE000).contains(second),
        let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
      {
        return scalar
      }
    }
    throw JSONProblem("half of a surrogate pair stands alone", offset: start)
  }

  private mutating func codeUnit() throws(JSONProblem) -> UInt32 {
    place += 1
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = Hex.value(of: byte) else { throw problem("four hexadecimal digits were expected") }
      unit = unit << 4 | UInt32(digit)
      place += 1
    }
    return unit
  }
}

/// The members of an object that is being read.
private struct Members {
  private var names: [String] = []
  private var values: [Value] = []
  /// The places of the names, kept once there are so many that a search would take long.
  private var places: [String: Int] = [:]

  var fields: Fields { Fields(names: names, values: values) }

  mutating func add(_ name: String, _ value: Value) {
    if let place = names.count < 16 ? names.firstIndex(of: name) : places[name] {
      values[place] = value
      return
    }
    names.append(name)
    values.append(value)
    if names.count == 16 {
      for (place, name) in names.enumerated() { places[name] = place }
    } else if names.count > 16 {
      places[name] = names.count - 1
    }
  }
}
