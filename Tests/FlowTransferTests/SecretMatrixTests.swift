import FlowBase
import FlowTesting
import FlowTransfer
import Testing

/// Where a redirect leads to, seen from the address that was asked for.
enum Target: String, CaseIterable, Sendable {
  case sameOrigin, otherPort, otherHost, thereAndBack
}

/// What must not leave the origin that it was given for.
enum Secret: String, CaseIterable, Sendable {
  case authorization, cookie, cookieJar, proxyAuthorization, apiKey, hostHeader, referer, userInfo, netrc, bearer, query
}

/// One case of the matrix.
struct Crossing: Sendable, CustomTestStringConvertible {
  var target: Target
  var status: Int
  var secret: Secret
  var testDescription: String { "\(secret) over a \(status) to \(target)" }

  static let all = Target.allCases.flatMap { target in
    [301, 302, 303, 307, 308].flatMap { status in
      Secret.allCases.map { Crossing(target: target, status: status, secret: $0) }
    }
  }
}

/// Every secret, over every kind of redirect, to every kind of target; the log of the second server is the judge.
struct `Secrets over redirects` {
  private static let canary = "c4n4ry"

  // One after the other: each has two servers and an engine of its own.
  @Test(.serialized, arguments: Crossing.all)
  func `reach their own origin and no other`(crossing: Crossing) async throws {
    let place = try TempPlace()
    let homePort = Guarded(0)
    let away = try LoopbackServer { request in
      crossing.target == .thereAndBack
        ? .redirect(to: "http://home.test:\(homePort.withLock { $0 })/back", status: crossing.status) : .ok("away")
    }
    let home = try LoopbackServer { request in
      guard request.path == "/start" else { return .ok("home") }
      let target =
        switch crossing.target {
        case .sameOrigin: "/end"
        case .otherPort, .thereAndBack: "http://home.test:\(away.port)/end"
        case .otherHost: "http://away.test:\(homePort.withLock { $0 })/end"
        }
      return .redirect(to: target, status: crossing.status)
    }
    homePort.withLock { $0 = home.port }
    let canary = Self.canary
    try SmallFiles.create(place.file("netrc"), Array("machine home.test login me password \(canary)\n".utf8))
    try SmallFiles.create(
      place.file("jar"), Array("home.test\tFALSE\t/\tFALSE\t0\tname\t\(canary)\n".utf8))
    let engine = TransferEngine(loops: 1, environment: { _ in nil }, netrc: place.file("netrc")) { _ in
      .addresses([NetworkAddress(parsing: "127.0.0.1")].compactMap { $0 })
    }
    let user = crossing.secret == .userInfo ? "me:\(canary)@" : ""
    let result = try await engine.perform(
      request("http://\(user)home.test:\(home.port)/start") { request in
        switch crossing.secret {
        case .authorization: request.headers = [TransferHeader("Authorization", canary)]
        case .cookie: request.headers = [TransferHeader("cookie", canary)]
        case .cookieJar: request.credentials.cookies = place.file("jar")
        case .proxyAuthorization: request.headers = [TransferHeader("Proxy-Authorization", canary)]
        case .apiKey: request.headers = [TransferHeader("X-Api-Key", canary)]
        case .hostHeader: request.credentials.headers = [TransferHeader("X-Anything", canary)]
        case .referer: request.referer = "http://before.test/\(canary)"
        case .userInfo: break
        case .netrc: request.credentials.netrc = true
        case .bearer: request.credentials.bearer = canary
        case .query: request.credentials.query = [TransferHeader("token", canary)]
        }
      }, into: MemorySink())
    let sent = home.requests.filter { $0.header("Host")?.hasPrefix("home.test") == true }
    func tells(_ request: LoopbackServer.Request) -> Bool {
      let encoded = Base64.encode(Array("me:\(canary)".utf8))
      let text = "\(request.target) \(request.headers)"
      return text.contains(canary) || text.contains(encoded)
    }
    #expect(sent.first.map(tells) == true, "the first request is the secret's own")
    let later = home.requests.dropFirst() + away.requests
    #expect(later.count == (crossing.target == .thereAndBack ? 2 : 1))
    for request in later { #expect(tells(request) == (crossing.target == .sameOrigin)) }
    #expect(!result.finalURL.contains(canary))
  }
}
