internal import FlowBase

/// One request of a transfer: the first, or one that a redirect led to.
///
/// What goes into it is decided here, as a value: which headers, whose credentials, whether a redirect is followed.
struct Hop: Sendable {
  let url: URLParts
  var method: TransferRequest.Method
  /// Whether some redirect has left the first origin; it stays true on the way back.
  var hasCrossed = false
  var number = 0
  /// The addresses before this one, for loops.
  var visited: Set<String>
  /// What the first address said of who asks; it holds for its own origin.
  private let userInfo: String?

  init(first url: URLParts, method: TransferRequest.Method) throws(Fault) {
    guard url.scheme == "http" || url.scheme == "https" else {
      throw Fault("url.scheme", .permanent, "`\(url.scheme)` is not fetched; only http and https are", host: url.host)
    }
    self.url = url
    self.method = method
    userInfo = url.userInfo
    visited = []
  }

  private init(url: URLParts, after last: Hop, method: TransferRequest.Method) {
    self.url = url
    self.method = method
    hasCrossed = last.hasCrossed || !url.sharesOrigin(with: last.url)
    number = last.number + 1
    userInfo = url.userInfo ?? last.userInfo
    visited = last.visited
    visited.insert(last.url.text)
  }

  /// The hop that a redirect leads to; a fault where it must not be followed.
  func following(_ location: String, status: Int, in request: TransferRequest) throws(Fault) -> Hop {
    func refused(_ why: String) -> Fault {
      Fault("redirect.refused", .permanent, "\(url.host) redirects \(why)", httpStatus: status, host: url.host)
    }
    let target: URLParts
    do { target = try url.following(location) } catch { throw refused("to an address that cannot be read") }
    guard target.scheme == "http" || target.scheme == "https" else { throw refused("to `\(target.scheme)`") }
    if url.scheme == "https" && target.scheme == "http" { throw refused("from https down to http") }
    guard request.redirects > 0 else { throw refused("to \(target.host), and redirects are not followed here") }
    guard number < request.redirects else {
      throw Fault(
        "redirect.loop", .permanent, "more than \(request.redirects) redirects", httpStatus: status, host: url.host)
    }
    var next = method
    if method == .post && (status == 301 || status == 302 || status == 303) { next = .get }
    // A host that sets a cookie may send back to the same address, where cookies are kept.
    let isKnown = target.text == url.text || visited.contains(target.text)
    if isKnown, next == method, request.credentials.cookies == nil || hasCrossed {
      throw Fault("redirect.loop", .permanent, "the redirects go in a circle", httpStatus: status, host: url.host)
    }
    return Hop(url: target, after: self, method: next)
  }

  /// The headers to send.
  ///
  /// - Parameter cookie: what the request's jar has for this address.
  func headers(of request: TransferRequest, way: HostWay, cookie: String? = nil) throws(Fault) -> [TransferHeader] {
    let secrets = request.credentials
    var headers = request.headers.filter { !hasCrossed || Hop.harmless.contains($0.name.lowercased()) }
    if !hasCrossed {
      for header in secrets.headers {
        headers.removeAll { $0.name.lowercased() == header.name.lowercased() }
        headers.append(header)
      }
      if let referer = request.referer { add("Referer", referer, to: &headers) }
      if let token = secrets.bearer {
        add("Authorization", "Bearer \(token)", to: &headers)
      } else if let pair = secrets.basic ?? userInfo {
        add("Authorization", "Basic \(Base64.encode(Array(pair.utf8)))", to: &headers)
      }
      if let cookie { add("Cookie", cookie, to: &headers) }
    }
    if let condition = request.condition, isConditional(in: request) {
      if let etag = condition.etag { add("If-None-Match", etag, to: &headers) }
      if let date = condition.lastModified { add("If-Modified-Since", date, to: &headers) }
    }
    if request.resumeAt > 0, let validator = request.record?.validator {
      add("Range", "bytes=\(request.resumeAt)-", to: &headers)
      add("If-Range", validator, to: &headers)
    }
    add("User-Agent", way.userAgent ?? TransferEngine.userAgent, to: &headers)
    add("Accept-Encoding", request.encoding ?? "identity", to: &headers)
    for header in headers where !Hop.isSendable(header) {
      throw Fault(
        "header.invalid", .permanent, "the header `\(header.name.prefix(40))` has characters that no header may have",
        host: url.host)
    }
    return headers
  }

  /// Whether it is asked whether something has changed.
  func isConditional(in request: TransferRequest) -> Bool { request.condition.map(isOf) ?? false }

  /// Whether a validator belongs to what this hop asks for.
  ///
  /// A redirect may lead elsewhere than it did, and what is there may be older, or have an equal tag: it is asked for as
  /// it is. Of the addresses only the query may differ, since that of a signed one does each time.
  private func isOf(_ condition: TransferRequest.Condition) -> Bool {
    guard let known = condition.url, known != url.text else { return true }
    func bare(_ text: String) -> Substring { text.prefix { $0 != "?" && $0 != "#" } }
    return bare(known) == bare(url.text) && condition.etag != nil
  }

  /// Adds a header unless there is one of its name.
  private func add(_ name: String, _ value: String, to headers: inout [TransferHeader]) {
    let isThere = headers.contains {
      $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name.lowercased()
    }
    if !isThere { headers.append(TransferHeader(name, value)) }
  }

  /// The request headers that say nothing about who asks.
  private static let harmless: Set<String> = ["accept", "accept-language", "user-agent", "accept-encoding", "range"]

  private static let marks = Array("!#$%&'*+-.^_`|~".utf8)

  private static func isSendable(_ header: TransferHeader) -> Bool {
    let isName = header.name.utf8.allSatisfy { byte in
      (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || marks.contains(byte)
    }
    return isName && !header.name.isEmpty && header.value.utf8.allSatisfy { $0 >= 32 && $0 != 127 || $0 == 9 }
  }
}
