internal import CCurl
internal import FlowBase

/// The cookies of a file in Netscape's format, as curl and browsers' extensions write it.
final class CookieJar: Sendable {
  private struct State {
    var cookies: [Cookie] = []
    /// What the file holds.
    var saved: [UInt8] = []
    var isChanged = false
  }

  private let path: String
  private let state: Guarded<State>
  private let clock: any TimeSource

  /// The most cookies that are kept, and the longest that is taken.
  private static let mostCookies = 3000
  static let longestCookie = 8192

  /// Reads the file; one that is not there yet is empty.
  init(path: String, clock: any TimeSource = SystemTime()) {
    self.path = path
    self.clock = clock
    let bytes = (try? SmallFiles.read(path, limit: 16 << 20)) ?? []
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    state = Guarded(State(cookies: lines.compactMap { Cookie(line: String($0)) }, saved: bytes))
  }

  /// The `Cookie` for a request; nil where there is none for it.
  func header(for url: URLParts) -> String? {
    let now = clock.wall().microseconds / 1_000_000
    let fitting = state.withLock { $0.cookies }.filter { $0.fits(url, now: now) }
      .sorted { $0.path.utf8.count > $1.path.utf8.count }
    return fitting.isEmpty ? nil : fitting.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
  }

  /// Takes the `Set-Cookie`s of an answer.
  func take(_ lines: [String], from url: URLParts) {
    let now = clock.wall().microseconds / 1_000_000
    let cookies = lines.compactMap { Cookie(setCookie: $0, from: url, now: now) }
    guard !cookies.isEmpty else { return }
    state.withLock { state in
      for cookie in cookies {
        state.cookies.removeAll { $0.isSame(as: cookie) }
        if cookie.expires == 0 || cookie.expires > now { state.cookies.append(cookie) }
      }
      if state.cookies.count > CookieJar.mostCookies {
        state.cookies.removeFirst(state.cookies.count - CookieJar.mostCookies)
      }
      state.isChanged = true
    }
  }

  /// Writes the file if there is something new; blocks.
  ///
  /// Written aside and then renamed, so that no reader finds half of it.
  func save() throws(Fault) {
    try state.withLock { (state) throws(Fault) in
      guard state.isChanged else { return }
      var text = "# Netscape HTTP Cookie File\n"
      for cookie in state.cookies { text += cookie.line + "\n" }
      let bytes = Array(text.utf8)
      state.isChanged = false
      guard bytes != state.saved else { return }
      let aside = "\(path).\(Entropy.token(6))"
      try SmallFiles.create(aside, bytes, mode: 0o600)
      let target = path
      try naming("write", target) { () throws(Errno) in try FileSystem.rename(aside, to: target) }
      state.saved = bytes
    }
  }
}

/// A cookie, and whom it is for.
struct Cookie: Sendable, Hashable {
  var domain: String
  var coversSubdomains: Bool
  var path: String
  var isSecure: Bool
  /// Seconds since 1970; 0 for the length of a session.
  var expires: Int
  var name: String
  var value: String
  var isHTTPOnly = false

  func isSame(as other: Cookie) -> Bool { name == other.name && domain == other.domain && path == other.path }

  func fits(_ url: URLParts, now: Int) -> Bool {
    if expires != 0 && expires <= now { return false }
    if isSecure && url.scheme != "https" { return false }
    guard url.host == domain || coversSubdomains && url.host.hasSuffix("." + domain) else { return false }
    let target = url.path
    return target == path
      || target.hasPrefix(path) && (path.hasSuffix("/") || target.dropFirst(path.count).first == "/")
  }

  /// Reads a line of a jar; nil for comments and what is none.
  init?(line: String) {
    let marker = "#HttpOnly_"
    let isHTTPOnly = line.hasPrefix(marker)
    let text = isHTTPOnly ? line.dropFirst(marker.count) : line[...]
    guard isHTTPOnly || !text.hasPrefix("#") else { return nil }
    let cells = text.split(separator: "\t", omittingEmptySubsequences: false)
    guard cells.count >= 6, let expires = Int(cells[4]) else { return nil }
    domain = String(cells[0].first == "." ? cells[0].dropFirst() : cells[0]).lowercased()
    coversSubdomains = cells[1].uppercased() == "TRUE"
    path = String(cells[2])
    isSecure = cells[3].uppercased() == "TRUE"
    self.expires = expires
    name = String(cells[5])
    value = cells.count > 6 ? String(cells[6]) : ""
    self.isHTTPOnly = isHTTPOnly
  }

  /// Reads a `Set-Cookie`; nil for one that this host must not set.
  init?(setCookie: String, from url: URLParts, now: Int) {
    guard setCookie.utf8.count <= CookieJar.longestCookie,
      !setCookie.utf8.contains(where: { $0 < 32 && $0 != 9 || $0 == 127 })
    else { return nil }
    var parts = setCookie.split(separator: ";", omittingEmptySubsequences: false).map { $0.trimmed }
    let pair = parts.removeFirst()
    guard let equals = pair.firstIndex(of: "="), equals != pair.startIndex else { return nil }
    name = pair[..<equals].trimmed
    value = pair[pair.index(after: equals)...].trimmed
    domain = url.host
    coversSubdomains = false
    // The folder of the address that set it.
    let folder = url.path.lastIndex(of: "/").map { url.path[..<$0] } ?? ""
    path = folder.isEmpty ? "/" : String(folder)
    isSecure = false
    expires = 0
    var maxAge: Int?
    for part in parts {
      let key = part.prefix { $0 != "=" }.trimmed.lowercased()
      let word = part.dropFirst(key.count).drop { $0 == "=" || $0 == " " }.trimmed
      switch key {
      case "domain" where !word.isEmpty:
        let wanted = (word.hasPrefix(".") ? String(word.dropFirst()) : word).lowercased()
        guard wanted == url.host || Cookie.mayCover(wanted, url.host) else { return nil }
        (domain, coversSubdomains) = (wanted, NetworkAddress(parsing: wanted) == nil)
      case "path" where word.hasPrefix("/"): path = word
      case "secure": isSecure = true
      case "httponly": isHTTPOnly = true
      case "max-age": maxAge = Int(word)
      case "expires":
        let date = unsafe curl_getdate(word, nil)
        // What cannot be read lasts for the session.
        if date >= 0 { expires = max(1, Int(date)) }
      default: break
      }
    }
    if let maxAge { expires = maxAge <= 0 ? 1 : now + min(maxAge, 400 * 86_400) }
    if isSecure && url.scheme != "https" { return nil }
    if !Cookie.keepsItsPrefix(self) { return nil }
  }

  /// Whether a host may set a cookie for a domain above it; whole top-level domains are nobody's.
  private static func mayCover(_ domain: String, _ host: String) -> Bool {
    host.hasSuffix("." + domain) && domain.contains(".") && NetworkAddress(parsing: host) == nil
  }

  /// Whether a name that promises something about the cookie tells the truth.
  private static func keepsItsPrefix(_ cookie: Cookie) -> Bool {
    if cookie.name.hasPrefix("__Host-") { return cookie.isSecure && !cookie.coversSubdomains && cookie.path == "/" }
    return !cookie.name.hasPrefix("__Secure-") || cookie.isSecure
  }

  /// The line of a jar.
  var line: String {
    let host = coversSubdomains ? "." + domain : domain
    return (isHTTPOnly ? "#HttpOnly_" : "")
      + [host, coversSubdomains ? "TRUE" : "FALSE", path, isSecure ? "TRUE" : "FALSE", "\(expires)", name, value]
      .joined(separator: "\t")
  }
}

extension Substring {
  fileprivate var trimmed: String {
    let start = drop { $0 == " " || $0 == "\t" }
    guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
    return String(start[...last])
  }
}
extension String {
  fileprivate var trimmed: String { self[...].trimmed }
}
