/// Hexadecimal digits.
public enum Hex {
  /// The lower-case digit of a number below 16.
  @inline(__always)
  static func digit(_ half: UInt8) -> UInt8 { half < 10 ? UInt8(ascii: "0") + half : UInt8(ascii: "a") - 10 + half }

  /// The bytes as lower-case digits.
  public static func encode(_ bytes: some Collection<UInt8>) -> String { encode(Array(bytes)) }

  /// The bytes as lower-case digits.
  public static func encode(_ bytes: [UInt8]) -> String {
    unsafe String(unsafeUninitializedCapacity: bytes.count * 2) { text in
      var place = 0
      for byte in bytes {
        unsafe text[place] = digit(byte >> 4)
        unsafe text[place + 1] = digit(byte & 15)
        place += 2
      }
      return place
    }
  }

  /// The bytes that an even number of digits of either case stands for.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in text.utf8 {
      guard let digit = value(of: character) else { return nil }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return high == nil ? bytes : nil
  }

  /// The value of one digit.
  public static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

/// Base64 with padding (RFC 4648, section 4).
public enum Base64 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let values: [Int8] = {
    var table = [Int8](repeating: -1, count: 256)
    for (value, digit) in digits.enumerated() { table[Int(digit)] = Int8(value) }
    return table
  }()

  /// The bytes as text.
  public static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let rest = bytes.count - start
      let group =
        Int(bytes[start]) << 16 | (rest > 1 ? Int(bytes[start + 1]) << 8 : 0) | (rest > 2 ? Int(bytes[start + 2]) : 0)
      text.append(digits[group >> 18 & 63])
      text.append(digits[group >> 12 & 63])
      text.append(rest > 1 ? digits[group >> 6 & 63] : UInt8(ascii: "="))
      text.append(rest > 2 ? digits[group & 63] : UInt8(ascii: "="))
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes that a text stands for; nil for foreign characters and wrong padding.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let characters = Array(text.utf8)
    guard characters.count % 4 == 0 else { return nil }
    let padding = characters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard padding <= 2 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(characters.count / 4 * 3)
    var bits = 0
    var held = 0
    for character in characters.dropLast(padding) {
      let value = values[Int(character)]
      guard value >= 0 else { return nil }
      held = held << 6 | Int(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(held >> bits & 255))
      }
    }
    return bytes
  }
}
