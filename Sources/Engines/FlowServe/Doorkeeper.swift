public import FlowBase

/// Says who may come in: a pure value.
///
/// Who asks must know the secret: in the address once, then in a cookie, or as a bearer. And the request must be meant
/// for this server (`Host`) and come from its own page (`Origin`), so that neither a name that somebody points at this
/// machine nor a page of another site can use the browser's cookie.
public struct Doorkeeper: Sendable {
  /// What becomes of a request.
  public enum Verdict: Sendable, Hashable {
    /// It is served.
    case pass
    /// It brought the secret in its address: it gets the cookie, and is sent to the address without it.
    case welcome(WebAnswer)
    /// It is answered with this, and nothing else.
    case refuse(WebAnswer)
  }

  /// The secret.
  public let secret: String
  /// The name of the cookie; it is this server's own, since cookies know no ports.
  public let cookie: String
  /// The port that the server listens at.
  public let port: Int
  /// The address that it listens at.
  public let address: NetworkAddress

  /// The name of the parameter in the address.
  public static let parameter = "token"

  /// A doorkeeper.
  public init(secret: String, cookie: String, address: NetworkAddress, port: Int) {
    self.secret = secret
    self.cookie = cookie
    self.address = address
    self.port = port
  }

  /// Looks at a request.
  public func judge(_ request: WebRequest) -> Verdict {
    guard let host = request.header("host"), isOurs(host) else {
      return .refuse(
        .refusal(403, "page.host", "this server is not called that; use the address that the run has printed"))
    }
    if request.has("origin"), request.header("origin") != "http://\(host)" {
      return .refuse(.refusal(403, "page.origin", "another page may not ask this one"))
    }
    if let site = request.header("sec-fetch-site"), site == "cross-site" || site == "same-site" {
      // A link on another page may lead here; a script, a form or a picture of it may not.
      let isVisit = request.method == "GET" && request.header("sec-fetch-mode") == "navigate"
      guard isVisit, request.header("sec-fetch-dest") == "document" else {
        return .refuse(.refusal(403, "page.origin", "another page may not ask this one"))
      }
    }
    if let word = request.header("authorization"), word.lowercased().hasPrefix("bearer ") {
      return knows(String(word.dropFirst(7))) ? .pass : .refuse(unknown)
    }
    if request.method == "GET", request.path == "/", let word = request.parameter(Self.parameter) {
      return knows(word) ? .welcome(welcome(request)) : .refuse(unknown)
    }
    if let word = request.cookie(cookie) { return knows(word) ? .pass : .refuse(unknown) }
    return .refuse(unknown)
  }

  private func welcome(_ request: WebRequest) -> WebAnswer {
    let cookie = WebRequest.Header("Set-Cookie", "\(cookie)=\(secret); Path=/; HttpOnly; SameSite=Strict")
    let site = request.header("sec-fetch-site")
    if site == nil || site == "none" || site == "same-origin" {
      return WebAnswer(303, headers: [.init("Location", "/"), cookie])
    }
    // Who comes by a link, such as one in a terminal within a page, gets the cookie, but a redirect would be sent
    // without it: the next request has to begin here.
    let page = "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=\"0;url=/\"><title>imgflow</title>"
    return WebAnswer.bytes(Array(page.utf8), media: "text/html; charset=utf-8").with(cookie.name, cookie.value)
  }

  private var unknown: WebAnswer {
    WebAnswer.refusal(
      401, "page.token", "open the address that the run has printed; programs send `Authorization: Bearer TOKEN`")
  }

  /// Compares in a time that says nothing of where two words differ.
  private func knows(_ word: String) -> Bool {
    let (left, right) = (Array(word.utf8), Array(secret.utf8))
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// Whether a `Host` names this server: no name but `localhost` does, so that no name can be pointed at it.
  func isOurs(_ host: String) -> Bool {
    let name: Substring
    if host.hasSuffix(":\(port)") {
      name = host.dropLast("\(port)".count + 1)
    } else {
      guard port == 80 else { return false }
      name = host[...]
    }
    if name.lowercased() == "localhost" { return address.isAnyOrLoopback }
    guard name.contains(":") == name.hasPrefix("["), let named = NetworkAddress(parsing: String(name)) else {
      return false
    }
    return named == address || address.bytes.allSatisfy { $0 == 0 }
  }
}

extension NetworkAddress {
  /// Whether only programs of this machine reach it.
  public var isLoopback: Bool {
    bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
  }

  /// Whether programs of this machine reach it under the machine's own name for itself.
  fileprivate var isAnyOrLoopback: Bool { isLoopback || bytes.allSatisfy { $0 == 0 } }
}
