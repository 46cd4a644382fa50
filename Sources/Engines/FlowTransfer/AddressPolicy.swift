public import FlowBase

/// Which addresses may be connected to.
///
/// It is asked about the address that is really connected to, so that neither redirects nor odd spellings nor names
/// that resolve to something else than yesterday get past it.
public struct AddressPolicy: Sendable, Hashable {
  /// Whether everything but metadata services may be reached.
  public var allowsPrivate: Bool
  /// Literal addresses and `localhost` as `host:port` that the user wrote, and so allowed for that very port.
  public var literals: Set<String>
  /// Ranges that the user allowed by name.
  public var ranges: [AddressRange]
  /// Hosts, `host:port`, `*.suffix` and `*` that the user allowed by name.
  public var hosts: [String]

  /// A policy; without arguments only global addresses may be reached.
  public init(
    allowsPrivate: Bool = false, literals: Set<String> = [], ranges: [AddressRange] = [], hosts: [String] = []
  ) {
    self.allowsPrivate = allowsPrivate
    self.literals = literals
    self.ranges = ranges
    self.hosts = hosts
  }

  /// Whether a connection to this address may stand for that host and port.
  public func allows(_ address: NetworkAddress, host: String, port: Int) -> Bool {
    let reach = address.reach
    if reach == .global { return true }
    if ranges.contains(where: { $0.contains(address) }) { return true }
    let name = host.lowercased()
    if hosts.contains(where: { $0 != "*" && AddressPolicy.matches($0, host: name, port: port) }) { return true }
    // A wildcard over everything is no word about a cloud's credentials.
    if reach == .metadata { return false }
    if allowsPrivate || hosts.contains("*") { return true }
    let isLiteral = name == "localhost" || NetworkAddress(parsing: name) != nil
    return isLiteral && (literals.contains("\(name):\(port)") || literals.contains("[\(name)]:\(port)"))
  }

  private static func matches(_ pattern: String, host: String, port: Int) -> Bool {
    if pattern.hasPrefix("*.") { return host.hasSuffix(pattern.dropFirst()) && host.count >= pattern.count }
    return pattern == host || pattern == "\(host):\(port)" || pattern == "[\(host)]:\(port)"
  }
}
