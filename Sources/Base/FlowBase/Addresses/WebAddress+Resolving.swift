extension WebAddress {
  /// The address that a reference leads to from here, such as the target of a redirect (RFC 3986, section 5).
  public func resolving(_ reference: String) throws(Fault) -> WebAddress {
    let wanted = Substring(reference.unicodeScalars.drop { $0 == " " || (9...13).contains($0.value) })
    if WebAddress.hasScheme(wanted) { return try WebAddress(parsing: String(wanted)) }
    if wanted.hasPrefix("//") { return try WebAddress(parsing: scheme + ":" + wanted) }
    let base = origin(with: userInfo)
    if wanted.hasPrefix("/") { return try WebAddress(parsing: base + WebAddress.withoutDots(wanted)) }
    if wanted.isEmpty || wanted.hasPrefix("#") { return try WebAddress(parsing: base + pathAndQuery + wanted) }
    if wanted.hasPrefix("?") { return try WebAddress(parsing: base + path + wanted) }
    let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? "/"
    return try WebAddress(parsing: base + WebAddress.withoutDots(folder + wanted))
  }

  private func origin(with user: String?) -> String {
    guard let user else { return origin }
    return "\(scheme)://\(user)@\(host)" + (port.map { ":\($0)" } ?? "")
  }

  private static func hasScheme(_ text: Substring) -> Bool {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), let first = text.utf8.first,
      (0x61...0x7A).contains(first | 0x20)
    else { return false }
    return text[..<colon].utf8.allSatisfy {
      (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E
    }
  }

  /// The path without `.` and `..`, with the query and fragment that follow it.
  private static func withoutDots(_ text: Substring) -> String {
    let end = text.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? text.endIndex
    let segments = text[..<end].utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
    var kept: [Substring] = []
    for (place, segment) in segments.map(Substring.init).enumerated() {
      let isLast = place == segments.count - 1
      switch segment {
      case ".": if isLast { kept.append("") }
      case "..":
        _ = kept.popLast()
        if isLast { kept.append("") }
      default: kept.append(segment)
      }
    }
    return "/" + kept.joined(separator: "/") + text[end...]
  }
}
