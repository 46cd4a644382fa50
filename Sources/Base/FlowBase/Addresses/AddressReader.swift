/// Reads the text of an address from left to right.
struct AddressReader {
  private var rest: Substring

  private static let longest = 64 * 1024
  private static let known = ["https", "http"]

  init(_ text: String) throws(WebAddress.Mistake) {
    if text.utf8.count > AddressReader.longest { throw WebAddress.Mistake("it is longer than 64 KiB") }
    let bytes = text.utf8
    let isSpace = { (byte: UInt8) in byte == 0x20 || (9...13).contains(byte) }
    let end = bytes.lastIndex { !isSpace($0) }.map { bytes.index(after: $0) } ?? bytes.startIndex
    rest = Substring(bytes[..<end].drop(while: isSpace))
    if rest.isEmpty { throw WebAddress.Mistake("it is empty") }
    if rest.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
      throw WebAddress.Mistake("it holds a line break, tab or other control character")
    }
  }

  mutating func scheme() throws(WebAddress.Mistake) -> String {
    let name = rest.utf8.prefix { AddressReader.isSchemeCharacter($0) }
    let scheme = AddressReader.known.first { name.elementsEqual($0.utf8) } ?? String(Substring(name)).lowercased()
    let behind = rest[name.endIndex...]
    guard behind.utf8.starts(with: "://".utf8) else {
      // `localhost:80/x` begins like a scheme, and is none.
      let isForeign =
        behind.utf8.first == UInt8(ascii: ":") && ["data", "file", "blob", "mailto", "about"].contains(scheme)
      if isForeign { throw AddressReader.foreign(scheme) }
      throw WebAddress.Mistake("it does not begin with http:// or https://")
    }
    if scheme != "http", scheme != "https" { throw AddressReader.foreign(scheme) }
    rest = behind.dropFirst(3)
    return scheme
  }

  private static func foreign(_ scheme: String) -> WebAddress.Mistake {
    WebAddress.Mistake("its scheme is `\(scheme)`, and only http and https are fetched", code: "url.scheme")
  }

  mutating func authority() throws(WebAddress.Mistake) -> (userInfo: String?, host: String, port: Int?) {
    let whole = take { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
    if whole.utf8.contains(UInt8(ascii: "\\")) { throw WebAddress.Mistake("there is a `\\` before its path") }
    var (userInfo, place): (String?, Substring) = (nil, whole)
    if let at = whole.utf8.lastIndex(of: UInt8(ascii: "@")) {
      userInfo = PercentEncoding.repaired(whole[..<at], allowing: .userInfo)
      place = whole[whole.utf8.index(after: at)...]
    }
    let (host, port) = try AddressReader.hostAndPort(place)
    return (userInfo.flatMap { $0.isEmpty ? nil : $0 }, try HostName.canonical(host), port)
  }

  private static func hostAndPort(_ text: Substring) throws(WebAddress.Mistake) -> (Substring, Int?) {
    if text.isEmpty { throw WebAddress.Mistake("it has no host") }
    let isBracketed = text.utf8.first == UInt8(ascii: "[")
    let start = isBracketed ? text.utf8.lastIndex(of: UInt8(ascii: "]")) ?? text.endIndex : text.startIndex
    guard let colon = text[start...].utf8.firstIndex(of: UInt8(ascii: ":")) else {
      return (text, nil)
    }
    let digits = text[text.utf8.index(after: colon)...]
    if digits.isEmpty { return (text[..<colon], nil) }
    guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let port = Int(digits), (1...65535).contains(port) else {
      throw WebAddress.Mistake("its port `\(digits)` is no number from 1 to 65535")
    }
    return (text[..<colon], port)
  }

  mutating func path() -> String {
    let path = take { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
    return path.isEmpty ? "/" : PercentEncoding.repaired(path, allowing: .path)
  }

  mutating func query() -> String? {
    guard rest.utf8.first == UInt8(ascii: "?") else { return nil }
    rest = rest.dropFirst()
    return PercentEncoding.repaired(take { $0 == UInt8(ascii: "#") }, allowing: .query)
  }

  mutating func fragment() -> String? {
    guard rest.utf8.first == UInt8(ascii: "#") else { return nil }
    return PercentEncoding.repaired(rest.dropFirst(), allowing: .query)
  }

  /// Takes everything up to a byte of that kind.
  private mutating func take(upTo stop: (UInt8) -> Bool) -> Substring {
    let end = rest.utf8.firstIndex(where: stop) ?? rest.endIndex
    defer { rest = rest[end...] }
    return rest[..<end]
  }

  private static func isSchemeCharacter(_ byte: UInt8) -> Bool {
    (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == 0x2B || byte == 0x2D || byte == 0x2E
  }
}
