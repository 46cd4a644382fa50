/// Percent-encoding of URLs (RFC 3986).
public enum PercentEncoding {
  /// Which characters may stand unencoded, besides letters, digits and `-._~`.
  public struct Allowed: Sendable {
    private let low: UInt64
    private let high: UInt64

    /// A set of ASCII characters.
    init(_ characters: String) {
      var low: UInt64 = 0
      var high: UInt64 = 0
      for byte in (unreserved + characters).utf8 {
        if byte < 64 { low |= 1 << UInt64(byte) } else if byte < 128 { high |= 1 << UInt64(byte - 64) }
      }
      (self.low, self.high) = (low, high)
    }

    /// Whether a byte may stand as it is.
    @inline(__always) public func contains(_ byte: UInt8) -> Bool {
      byte < 64 ? low >> UInt64(byte) & 1 == 1 : byte < 128 && high >> UInt64(byte - 64) & 1 == 1
    }

    /// Nothing else: safe at any place.
    public static let nothing = Allowed("")
    /// One segment of a path.
    public static let segment = Allowed("!$&'()*+,;=:@")
    /// The value of a query's parameter.
    public static let queryValue = Allowed("!$'()*,;:@/?")
    /// A whole path.
    static let path = Allowed("!$&'()*+,;=:@/")
    /// A whole query or fragment; brackets and bars are common and taken everywhere.
    static let query = Allowed("!$&'()*+,;=:@/?[]{}|^`\\")
    /// User name and password.
    static let userInfo = Allowed("!$&'()*+,;=:")
  }

  private static let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// The text with all other characters encoded.
  public static func encode(_ text: String, allowing allowed: Allowed = .nothing) -> String {
    if text.utf8.allSatisfy(allowed.contains) { return text }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count + 16)
    for byte in text.utf8 { append(byte, to: &bytes, allowing: allowed) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends a byte, encoded unless it is allowed.
  static func append(_ byte: UInt8, to bytes: inout [UInt8], allowing allowed: Allowed) {
    if allowed.contains(byte) {
      bytes.append(byte)
    } else {
      bytes.append(UInt8(ascii: "%"))
      bytes.append(digits[Int(byte >> 4)])
      bytes.append(digits[Int(byte & 15)])
    }
  }

  /// The text with its encodings undone; a `%` that begins none stays, broken UTF-8 is repaired.
  public static func decode(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    let source = Array(text.utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(source.count)
    var place = 0
    while place < source.count {
      if let byte = encoded(source, at: place) {
        bytes.append(byte)
        place += 3
      } else {
        bytes.append(source[place])
        place += 1
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The byte that `%XX` at a place stands for.
  static func encoded(_ bytes: [UInt8], at place: Int) -> UInt8? {
    guard bytes[place] == UInt8(ascii: "%"), place + 2 < bytes.count,
      let high = Hex.value(of: bytes[place + 1]), let low = Hex.value(of: bytes[place + 2])
    else { return nil }
    return high << 4 | low
  }

  /// An encoded text in which only what may not stand there is encoded still, such as spaces and other scripts.
  static func repaired(_ text: Substring, allowing allowed: Allowed) -> String {
    let percent = UInt8(ascii: "%")
    if text.utf8.allSatisfy({ allowed.contains($0) && $0 != percent }) { return String(text) }
    let source = Array(text.utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(source.count + 16)
    for (place, byte) in source.enumerated() {
      if byte == percent, encoded(source, at: place) != nil {
        bytes.append(byte)
      } else {
        append(byte, to: &bytes, allowing: allowed)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// An encoded text in which nothing is encoded that needs not be, and the digits are capitals.
  static func normalised(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    let source = Array(text.utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(source.count)
    var place = 0
    while place < source.count {
      if let byte = encoded(source, at: place) {
        append(byte, to: &bytes, allowing: .nothing)
        place += 3
      } else {
        bytes.append(source[place])
        place += 1
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
