internal import FlowBase

/// What the `hosts` table says of one host: one line, put together from all that match.
public typealias HostSettings = HostTable.Rule

extension HostSettings {
  /// What holds for a host: the most specific entry wins, key by key.
  ///
  /// The order is `host:port`, host or address, range (the narrower first), `*.suffix` (the longer first), `*`.
  /// `auth` and `tls` are each one key: their parts never mix from two entries.
  public static func resolve(_ table: HostTable, host: String, port: Int) -> HostSettings {
    let name = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    let target = HostTarget(name.lowercased(), port)
    var result = HostSettings(pattern: target.written)
    let matching = table.rules.enumerated()
      .compactMap { place, rule in target.rank(of: rule.pattern).map { (rank: $0, place: place, rule: rule) } }
      .sorted { $0.rank == $1.rank ? $0.place < $1.place : $0.rank > $1.rank }
    for match in matching { result.fill(from: match.rule) }
    return result
  }

  /// Takes what a less specific line says where this one says nothing.
  private mutating func fill(from other: HostSettings) {
    connections = connections ?? other.connections
    streams = streams ?? other.streams
    bandwidth = bandwidth ?? other.bandwidth
    rate = rate ?? other.rate
    interval = interval ?? other.interval
    userAgent = userAgent ?? other.userAgent
    robots = robots ?? other.robots
    if basic == nil && bearer == nil && netrc == nil {
      (basic, bearer, netrc) = (other.basic, other.bearer, other.netrc)
    }
    if headers.isEmpty { headers = other.headers }
    if query.isEmpty { query = other.query }
    cookies = cookies ?? other.cookies
    if ca == nil && certificate == nil && key == nil {
      (ca, certificate, key) = (other.ca, other.certificate, other.key)
    }
    proxy = proxy ?? other.proxy
    http = http ?? other.http
    allow = allow ?? other.allow
  }
}

/// A host and port that patterns are held against.
private struct HostTarget {
  let name: String
  let port: Int
  let address: NetworkAddress?
  var written: String { name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)" }

  init(_ name: String, _ port: Int) {
    self.name = name
    self.port = port
    address = NetworkAddress(parsing: name)
  }

  /// How specific a matching pattern is; nil where it does not match.
  func rank(of pattern: String) -> Int? {
    if pattern == "*" { return 0 }
    if pattern == written { return 100_000 }
    if pattern == name || pattern == "[\(name)]" { return 50_000 }
    if pattern.hasPrefix("*.") {
      return address == nil && name.count >= pattern.count && name.hasSuffix(pattern.dropFirst())
        ? 1 + pattern.utf8.count : nil
    }
    guard let address, let range = AddressRange(parsing: pattern), range.contains(address) else { return nil }
    return 10_000 + range.bits
  }
}
