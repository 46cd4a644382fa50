/// The address of something on the web: an absolute URL of scheme http or https.
///
/// What browsers repair without doubt is repaired (white space at the ends, spaces and other scripts in the path);
/// what could mean two things is refused.
public struct WebAddress: Sendable, Hashable {
  /// `http` or `https`.
  public let scheme: String
  /// What stands before `@`, still encoded.
  public let userInfo: String?
  /// The host in small letters of ASCII; an IPv6 address in its brackets, an IPv4 address as it was written.
  public let host: String
  /// The port, where one is named that is not the scheme's own.
  public let port: Int?
  /// The path, encoded; at least `/`.
  public let path: String
  /// What stands behind `?`, encoded.
  public let query: String?
  /// What stands behind `#`, encoded.
  public let fragment: String?

  /// Why a text is no address.
  struct Mistake: Error {
    var reason: String
    var code = "url.invalid"

    init(_ reason: String, code: String = "url.invalid") {
      self.reason = reason
      self.code = code
    }
  }

  /// Reads an address; a fault `url.invalid` or `url.scheme` says what is wrong with it.
  public init(parsing text: String) throws(Fault) {
    do throws(Mistake) {
      try self.init(AddressReader(text))
    } catch {
      let shown = Redaction.url(text.count > 120 ? text.prefix(120) + "…" : text)
      throw Fault(error.code, .permanent, "`\(shown)` is no address: \(error.reason)")
    }
  }

  private init(_ reader: AddressReader) throws(Mistake) {
    var reader = reader
    let scheme = try reader.scheme()
    let authority = try reader.authority()
    self.scheme = scheme
    userInfo = authority.userInfo
    host = authority.host
    port = authority.port == WebAddress.port(of: scheme) ? nil : authority.port
    path = reader.path()
    query = reader.query()
    fragment = reader.fragment()
  }

  private static func port(of scheme: String) -> Int { scheme == "https" ? 443 : 80 }

  // MARK: Parts

  /// The port that a connection goes to.
  public var effectivePort: Int { port ?? WebAddress.port(of: scheme) }
  /// The host with the port that a connection goes to: `example.com:443`.
  public var hostAndPort: String { "\(host):\(effectivePort)" }
  /// Scheme, host and port: what decides whether credentials may be sent.
  public var origin: String { "\(scheme)://\(host)" + (port.map { ":\($0)" } ?? "") }
  /// The address that the host is written as, if it is no name: also for `127.1` and `0x7f000001`.
  public var literal: AddressLiteral? {
    if host.utf8.first == UInt8(ascii: "[") { return AddressLiteral.v6(parsing: String(host.dropFirst().dropLast())) }
    return AddressLiteral.looksLikeV4(host) ? AddressLiteral.v4(parsing: host) : nil
  }

  /// The whole address as it is asked for: without the fragment.
  public var text: String {
    let user = userInfo.map { $0 + "@" } ?? ""
    return "\(scheme)://\(user)\(host)" + (port.map { ":\($0)" } ?? "") + pathAndQuery
  }

  /// What a request line holds: the path, and the query if there is one.
  public var pathAndQuery: String { path + (query.map { "?" + $0 } ?? "") }

  /// The address without user info, fit for logs: query values whose names tell that they are secret become `***`.
  public var redacted: String { Redaction.url(text) }

  /// The form in which equal addresses are equal texts; keys are made from it.
  ///
  /// Scheme and host are in small letters, the host of A-labels; the default port, fragment and user info are gone; in
  /// the path, what needs no percent-encoding has none; the query is untouched.
  public var canonical: String { origin + PercentEncoding.normalised(path) + (query.map { "?" + $0 } ?? "") }

  // MARK: Names

  /// The last segment of the path, decoded and made safe as a file's name; `_` where there is none.
  public var fileName: String {
    let segment = path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? ""
    return FileName.safe(PercentEncoding.decode(segment))
  }
}
