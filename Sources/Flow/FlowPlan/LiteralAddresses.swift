internal import FlowBase

/// The addresses that stand literally in a manifest: which of them count as allowed, and which cannot be reached.
struct LiteralAddresses {
  /// `host:port` of every literal address and `localhost` that was written with scheme, host and port.
  private(set) var allowed: Set<String> = []
  /// The literal hosts that must be checked once the table of hosts is known, with their places.
  private(set) var met: [(authority: LiteralAuthority, place: Place)] = []

  /// Takes note of an address as it was written, templates included.
  mutating func meet(_ text: String, at place: Place) {
    guard let authority = LiteralAuthority(of: text), authority.isLiteralAddress else { return }
    if let port = authority.port { allowed.insert(authority.host.bracketed + ":\(port)") }
    met.append((authority, place))
  }
}

/// The scheme, host and port with which a text begins, where none of them comes from an expression.
struct LiteralAuthority: Equatable {
  var scheme: String
  /// In lower case, without brackets.
  var host: String
  /// The port as it was written.
  var port: Int?

  init?(of text: String) {
    guard let end = text.firstRange(of: "://") else { return nil }
    scheme = text[..<end.lowerBound].lowercased()
    let rest = text[end.upperBound...]
    let authority = rest.prefix { !"/?#".contains($0) }
    // `http://127.0.0.1${x}` may go on to be any name.
    guard !authority.contains("$"), !authority.isEmpty, scheme.allSatisfy({ $0.isLetter || $0.isNumber }) else {
      return nil
    }
    let (host, port) = HostPattern.split(authority.split(separator: "@").last.map(String.init) ?? "")
    self.host = host.lowercased()
    self.port = port
  }

  /// Whether the host is an address or `localhost`, and no other name.
  var isLiteralAddress: Bool { host == "localhost" || NetworkAddress(parsing: host) != nil }

  /// How far the host reaches.
  var reach: NetworkAddress.Reach? { host == "localhost" ? .loopback : NetworkAddress(parsing: host)?.reach }

  /// The port, or the one of the scheme.
  var effectivePort: Int { port ?? (scheme == "https" ? 443 : 80) }
}

extension String {
  /// An IPv6 address in the brackets that it needs before a port.
  fileprivate var bracketed: String { contains(":") ? "[\(self)]" : self }
}
