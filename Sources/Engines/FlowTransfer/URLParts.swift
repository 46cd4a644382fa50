internal import CCurl
internal import FlowBase

/// An address of HTTP, taken apart by the rules that the engine itself follows.
struct URLParts: Sendable, Hashable {
  /// The address without user info and fragment.
  let text: String
  /// `http` or `https`, or whatever else a redirect names.
  let scheme: String
  /// The host in lower case, with A-labels, and without brackets.
  let host: String
  let port: Int
  /// The path, with at least its first slash.
  let path: String
  /// `name:password` out of the address.
  let userInfo: String?

  /// Takes an absolute address apart.
  init(parsing text: String) throws(Fault) {
    if let plain = URLParts(plain: text) { self = plain } else { self = try URLParts.make(text, relativeTo: nil) }
  }

  /// The address that a Location leads to from here.
  func following(_ location: String) throws(Fault) -> URLParts {
    try URLParts.make(location, relativeTo: self.text)
  }

  /// Whether two addresses have one scheme, host and port.
  func sharesOrigin(with other: URLParts) -> Bool {
    scheme == other.scheme && host == other.host && port == other.port
  }

  /// The address with query parameters that it does not name yet.
  func adding(query: [TransferHeader]) -> String {
    guard !query.isEmpty else { return text }
    let present = Set(
      text.drop { $0 != "?" }.dropFirst().split(separator: "&").map { String($0.prefix { $0 != "=" }) })
    var result = text
    for parameter in query {
      let name = PercentEncoding.encode(parameter.name)
      guard !present.contains(name) else { continue }
      result += result.contains("?") ? (result.hasSuffix("?") || result.hasSuffix("&") ? "" : "&") : "?"
      result += name + "=" + PercentEncoding.encode(parameter.value)
    }
    return result
  }

  init(text: String, scheme: String, host: String, port: Int, path: String, userInfo: String?) {
    self.text = text
    self.scheme = scheme
    self.host = host
    self.port = port
    self.path = path
    self.userInfo = userInfo
  }

  static func make(_ text: String, relativeTo base: String?) throws(Fault) -> URLParts {
    let handle = unsafe curl_url()
    defer { unsafe curl_url_cleanup(handle) }
    let flags = UInt32(CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME)
    if let base { _ = unsafe curl_url_set(handle, CURLUPART_URL, base, flags) }
    let code = unsafe curl_url_set(handle, CURLUPART_URL, text, flags)
    guard code == CURLUE_OK else {
      throw Fault(
        "url.malformed", .permanent, "the address is malformed: \(unsafe String(cString: curl_url_strerror(code)))")
    }
    func part(_ part: CURLUPart, _ flags: Int32 = 0) -> String? {
      var pointer: UnsafeMutablePointer<CChar>?
      guard unsafe imgflow_url_get(handle, part, &pointer, UInt32(flags)) == CURLUE_OK, let pointer = unsafe pointer
      else {
        return nil
      }
      defer { unsafe curl_free(pointer) }
      return unsafe String(cString: pointer)
    }
    let user = part(CURLUPART_USER, CURLU_URLDECODE)
    let password = part(CURLUPART_PASSWORD, CURLU_URLDECODE)
    for secret in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_FRAGMENT] {
      _ = unsafe curl_url_set(handle, secret, nil, 0)
    }
    // Names of other scripts become A-labels here: libcurl would go by the locale, which says nothing of the address.
    if let written = part(CURLUPART_HOST), !written.utf8.allSatisfy({ $0 < 128 }) {
      _ = unsafe curl_url_set(handle, CURLUPART_HOST, try WebAddress(parsing: "http://\(written)/").host, 0)
    }
    guard let whole = part(CURLUPART_URL), let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST)
    else { throw Fault("url.malformed", .permanent, "the address names no host") }
    let port = part(CURLUPART_PORT, CURLU_DEFAULT_PORT).flatMap { Int($0) } ?? 0
    let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    let userInfo = user == nil && password == nil ? nil : "\(user ?? ""):\(password ?? "")"
    return URLParts(
      text: whole, scheme: scheme.lowercased(), host: bare.lowercased(), port: port, path: part(CURLUPART_PATH) ?? "/",
      userInfo: userInfo)
  }
}

extension TransferEngine {
  /// The host, without brackets, and the port that an address leads to; nil where it cannot be read.
  public static func hostAndPort(of url: String) -> (host: String, port: Int)? {
    guard let parts = try? URLParts(parsing: url), parts.port > 0 else { return nil }
    return (parts.host, parts.port)
  }

  /// The host and port that an address leads to, as `name:port`; nil where it cannot be read.
  public static func authority(of url: String) -> String? {
    guard let parts = try? URLParts(parsing: url), parts.port > 0 else { return nil }
    return parts.host.utf8.contains(UInt8(ascii: ":")) ? "[\(parts.host)]:\(parts.port)" : "\(parts.host):\(parts.port)"
  }
}
