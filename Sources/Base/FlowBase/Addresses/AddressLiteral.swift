/// A host that is a number: an IPv4 or IPv6 address, in whatever spelling.
public enum AddressLiteral: Sendable, Hashable {
  case v4(UInt32)
  /// Eight groups of sixteen bits.
  case v6([UInt16])

  /// The address in its usual spelling: `127.0.0.1`, `::1`.
  public var text: String {
    switch self {
    case .v4(let number): AddressLiteral.dotted(number)
    case .v6(let groups): AddressLiteral.compressed(groups)
    }
  }

  private static func dotted(_ number: UInt32) -> String {
    "\(number >> 24).\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
  }

  // MARK: IPv4

  /// Whether a host claims to be an IPv4 address: its last label is a number.
  static func looksLikeV4(_ host: String) -> Bool {
    guard let last = host.split(separator: ".", omittingEmptySubsequences: false).last, let first = last.utf8.first
    else {
      return false
    }
    if last.utf8.allSatisfy({ (48...57).contains($0) }) { return true }
    return first == 48 && last.utf8.count > 1 && number(last) != nil
  }

  /// Whether bytes are an IPv4 address in its usual form: four numbers up to 255, without zeros in front.
  static func isDottedQuad(_ bytes: Substring.UTF8View) -> Bool {
    var (parts, digits, number) = (1, 0, 0)
    for byte in bytes {
      if byte == UInt8(ascii: ".") {
        guard digits > 0, parts < 4 else { return false }
        (parts, digits, number) = (parts + 1, 0, 0)
      } else {
        guard (48...57).contains(byte), digits == 0 || number > 0 else { return false }
        (digits, number) = (digits + 1, number * 10 + Int(byte - 48))
        guard number <= 255 else { return false }
      }
    }
    return parts == 4 && digits > 0
  }

  /// Reads an IPv4 address as C libraries do: `127.1`, `0x7f.0.0.1`, `2130706433` and `0177.0.0.1` are all one.
  public static func v4(parsing host: String) -> AddressLiteral? {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...4).contains(parts.count) else { return nil }
    var address: UInt32 = 0
    for (place, part) in parts.enumerated() {
      guard let value = number(part) else { return nil }
      if place < parts.count - 1 {
        guard value < 256 else { return nil }
        address |= UInt32(value) << UInt32(24 - place * 8)
      } else {
        guard value >> UInt64(8 * (5 - parts.count)) == 0 else { return nil }
        address |= UInt32(value)
      }
    }
    return .v4(address)
  }

  private static func number(_ text: Substring) -> UInt64? {
    let lower = text.lowercased()
    if lower.hasPrefix("0x") { return lower.utf8.count == 2 ? 0 : digits(lower.dropFirst(2), 16) }
    if lower.hasPrefix("0"), lower.utf8.count > 1 { return digits(lower.dropFirst(), 8) }
    return digits(lower[...], 10)
  }

  private static func digits(_ text: Substring, _ radix: Int) -> UInt64? {
    text.utf8.first == UInt8(ascii: "+") || text.utf8.first == UInt8(ascii: "-") ? nil : UInt64(text, radix: radix)
  }

  // MARK: IPv6

  /// Reads an IPv6 address without its brackets; zones are not taken.
  public static func v6(parsing text: String) -> AddressLiteral? {
    if text.hasSuffix(":"), !text.hasSuffix("::") { return nil }
    if text.hasPrefix(":"), !text.hasPrefix("::") { return nil }
    guard let gap = text.range(of: "::") else {
      guard let groups = groups(text[...], isLast: true), groups.count == 8 else { return nil }
      return .v6(groups)
    }
    let (before, after) = (text[..<gap.lowerBound], text[gap.upperBound...])
    guard let head = groups(before, isLast: false), let tail = groups(after, isLast: true), head.count + tail.count < 8
    else { return nil }
    return .v6(head + [UInt16](repeating: 0, count: 8 - head.count - tail.count) + tail)
  }

  private static func groups(_ text: Substring, isLast: Bool) -> [UInt16]? {
    if text.isEmpty { return [] }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    var groups: [UInt16] = []
    for (place, part) in parts.enumerated() {
      if isLast, place == parts.count - 1, part.utf8.contains(UInt8(ascii: ".")) {
        guard let number = plainV4(part) else { return nil }
        groups += [UInt16(number >> 16), UInt16(number & 0xFFFF)]
      } else {
        guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ Hex.value(of: $0) != nil }),
          let group = UInt16(part, radix: 16)
        else { return nil }
        groups.append(group)
      }
    }
    return groups
  }

  /// Four decimal numbers and nothing fancier, as the end of an IPv6 address.
  private static func plainV4(_ text: Substring) -> UInt32? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var address: UInt32 = 0
    for part in parts {
      guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (48...57).contains($0) }), let byte = UInt8(part)
      else { return nil }
      address = address << 8 | UInt32(byte)
    }
    return address
  }

  /// The longest run of zeros as `::` (RFC 5952).
  private static func compressed(_ groups: [UInt16]) -> String {
    var best = 0..<0
    var start = 0
    while start < groups.count {
      let length = groups[start...].prefix { $0 == 0 }.count
      if length > max(1, best.count) { best = start..<start + length }
      start += max(1, length)
    }
    let hex = groups.map { String($0, radix: 16) }
    if best.isEmpty { return hex.joined(separator: ":") }
    return hex[..<best.lowerBound].joined(separator: ":") + "::" + hex[best.upperBound...].joined(separator: ":")
  }
}

extension String {
  /// Where a short ASCII text first stands in this one.
  fileprivate func range(of wanted: String) -> Range<String.Index>? {
    var start = utf8.startIndex
    while start != utf8.endIndex {
      if utf8[start...].starts(with: wanted.utf8) { return start..<utf8.index(start, offsetBy: wanted.utf8.count) }
      start = utf8.index(after: start)
    }
    return nil
  }
}
