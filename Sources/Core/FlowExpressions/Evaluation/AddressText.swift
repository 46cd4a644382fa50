internal import FlowBase

/// The parts of texts that are URLs or paths.
enum AddressText {
  /// The last segment of a path or of a URL's path, decoded in the latter case.
  static func lastSegment(_ text: String) -> String {
    let path = path(text)
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(path[path.utf8.index(after: slash)...])
  }

  /// The path of a URL, decoded; any other text as it is.
  static func path(_ text: String) -> String {
    guard let rest = afterScheme(text) else { return text }
    guard let slash = rest.utf8.firstIndex(where: { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 }),
      rest.utf8[slash] == UInt8(ascii: "/")
    else { return "" }
    let path = rest[slash...].utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    return PercentEncoding.decode(String(Substring(path)))
  }

  /// The host of a URL, in small letters.
  static func host(_ text: String) -> String {
    guard let rest = afterScheme(text) else { return "" }
    var authority = rest.utf8.prefix { $0 != 0x2F && $0 != 0x3F && $0 != 0x23 }
    if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[authority.index(after: at)...] }
    if authority.first == UInt8(ascii: "["), let end = authority.firstIndex(of: UInt8(ascii: "]")) {
      return String(Substring(authority[...end])).lowercased()
    }
    return String(Substring(authority.prefix { $0 != UInt8(ascii: ":") })).lowercased()
  }

  private static func afterScheme(_ text: String) -> Substring? {
    let bytes = text.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon != bytes.startIndex,
      bytes[..<colon].allSatisfy({ isSchemeCharacter($0) }), bytes[colon...].starts(with: "://".utf8)
    else { return nil }
    return text[bytes.index(colon, offsetBy: 3)...]
  }

  private static func isSchemeCharacter(_ byte: UInt8) -> Bool {
    (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "+-.".utf8.contains(byte)
  }
}
