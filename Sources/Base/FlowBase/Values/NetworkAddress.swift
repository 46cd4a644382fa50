/// An IP address, of either version.
///
/// An IPv4 address in IPv6's clothes (`::ffff:10.0.0.1`) is the IPv4 address.
public struct NetworkAddress: Sendable, Hashable {
  /// Its bytes in network order: 4 or 16.
  public let bytes: [UInt8]

  /// An address from its bytes; nil unless there are 4 or 16.
  public init?(bytes: [UInt8]) {
    switch bytes.count {
    case 4: self.bytes = bytes
    case 16:
      let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
      self.bytes = isMapped ? Array(bytes[12...]) : bytes
    default: return nil
    }
  }

  /// Reads `10.0.0.1`, `fe80::1` or `[::1]`; nil for anything else, names and odd spellings included.
  public init?(parsing text: String) {
    let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
    let bytes = bare.contains(":") ? NetworkAddress.version6(bare) : NetworkAddress.version4(bare)
    guard let bytes else { return nil }
    self.init(bytes: bytes)
  }

  private static func version4(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(4)
    var (number, digits) = (0, 0)
    for character in text.utf8 {
      switch character {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        // A leading zero is octal to some readers and decimal to others.
        if digits > 0 && number == 0 { return nil }
        number = number * 10 + Int(character - UInt8(ascii: "0"))
        digits += 1
        if number > 255 { return nil }
      case UInt8(ascii: "."):
        guard digits > 0, bytes.count < 3 else { return nil }
        bytes.append(UInt8(number))
        (number, digits) = (0, 0)
      default: return nil
      }
    }
    guard digits > 0, bytes.count == 3 else { return nil }
    return bytes + [UInt8(number)]
  }

  private static func version6(_ text: String) -> [UInt8]? {
    let bare = text.prefix { $0 != "%" }
    var halves: [[UInt8]] = [[]]
    var rest = bare[...]
    if rest.hasPrefix("::") {
      halves.append([])
      rest = rest.dropFirst(2)
    }
    while !rest.isEmpty {
      let group = rest.prefix { $0 != ":" }
      rest = rest.dropFirst(group.count)
      if group.contains(".") {
        guard rest.isEmpty, let tail = version4(String(group)) else { return nil }
        halves[halves.count - 1] += tail
        break
      }
      guard group.count <= 4, let number = UInt16(group, radix: 16), group.first != "+" else { return nil }
      halves[halves.count - 1] += [UInt8(number >> 8), UInt8(number & 0xff)]
      if rest.hasPrefix("::") {
        halves.append([])
        rest = rest.dropFirst(2)
      } else if !rest.isEmpty {
        rest = rest.dropFirst()
        if rest.isEmpty { return nil }
      }
    }
    if halves.count == 1 { return halves[0].count == 16 ? halves[0] : nil }
    guard halves.count == 2, halves[0].count + halves[1].count <= 14 else { return nil }
    return halves[0] + Array(repeating: 0, count: 16 - halves[0].count - halves[1].count) + halves[1]
  }

  /// The address as people write it; IPv6 in full groups without leading zeros.
  public var text: String {
    if bytes.count == 4 { return bytes.map { String($0) }.joined(separator: ".") }
    return stride(from: 0, to: 16, by: 2)
      .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }.joined(separator: ":")
  }
}

extension NetworkAddress {
  /// How far an address reaches.
  public enum Reach: String, Sendable, Hashable {
    /// The whole internet.
    case global
    /// This machine, or no machine at all.
    case loopback
    /// A network of one's own.
    case `private`
    /// The cable, and nothing behind it.
    case linkLocal = "link-local"
    /// A provider's inside.
    case carrier = "carrier-grade"
    /// Many machines.
    case multicast
    /// Reserved for tests, documentation and the future.
    case reserved
    /// A cloud's metadata service, which hands out credentials.
    case metadata
  }

  /// How far this address reaches; an IPv4 address inside a translated IPv6 address counts as itself.
  public var reach: Reach {
    for (range, reach) in NetworkAddress.reaches where range.contains(self) { return reach }
    if let inner = embedded { return inner.reach }
    return .global
  }

  /// The IPv4 address that a NAT64 or 6to4 address leads to.
  private var embedded: NetworkAddress? {
    guard bytes.count == 16 else { return nil }
    if bytes.starts(with: [0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0]) {
      return NetworkAddress(bytes: Array(bytes[12...]))
    }
    return bytes.starts(with: [0x20, 0x02]) ? NetworkAddress(bytes: Array(bytes[2..<6])) : nil
  }

  /// The special ranges, narrow ones first.
  private static let reaches: [(AddressRange, Reach)] = [
    ("169.254.169.254/32", Reach.metadata), ("fd00:ec2::254/128", .metadata), ("100.100.100.200/32", .metadata),
    ("0.0.0.0/8", .loopback), ("127.0.0.0/8", .loopback), ("::1/128", .loopback), ("::/128", .loopback),
    ("10.0.0.0/8", .private), ("172.16.0.0/12", .private), ("192.168.0.0/16", .private), ("fc00::/7", .private),
    ("fec0::/10", .private), ("169.254.0.0/16", .linkLocal), ("fe80::/10", .linkLocal),
    ("100.64.0.0/10", .carrier), ("224.0.0.0/4", .multicast), ("ff00::/8", .multicast),
    ("192.0.0.0/24", .reserved), ("192.0.2.0/24", .reserved), ("198.18.0.0/15", .reserved),
    ("198.51.100.0/24", .reserved), ("203.0.113.0/24", .reserved), ("240.0.0.0/4", .reserved),
    ("2001:db8::/32", .reserved), ("100::/64", .reserved),
  ].compactMap { text, reach in AddressRange(parsing: text).map { ($0, reach) } }
}

/// The addresses that share their first bits, as `10.0.0.0/8`.
public struct AddressRange: Sendable, Hashable {
  /// Its first address, or any.
  public let address: NetworkAddress
  /// How many bits are shared.
  public let bits: Int

  /// Reads `10.0.0.0/8`, `fc00::/7`, or a single address; nil for anything else.
  public init?(parsing text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let address = NetworkAddress(parsing: String(parts[0])) else { return nil }
    let width = address.bytes.count * 8
    guard let bits = parts.count == 2 ? Int(parts[1]) : width, (0...width).contains(bits) else { return nil }
    self.address = address
    self.bits = bits
  }

  /// Whether an address lies within.
  public func contains(_ other: NetworkAddress) -> Bool {
    guard other.bytes.count == address.bytes.count else { return false }
    let whole = bits / 8
    guard other.bytes.prefix(whole) == address.bytes.prefix(whole) else { return false }
    let rest = bits % 8
    return rest == 0 || (other.bytes[whole] ^ address.bytes[whole]) >> UInt8(8 - rest) == 0
  }
}
