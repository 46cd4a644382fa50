import FlowBase
import FlowTesting
import FlowTransfer
import Testing

struct `Redirects` {
  @Test(arguments: [301, 302, 303, 307, 308])
  func `are followed, and the last address is told`(status: Int) async throws {
    let server = try LoopbackServer(script: [
      "/a/start": [.redirect(to: "../b/next?x=1", status: status)], "/b/next": [.redirect(to: "/end", status: status)],
      "/end": [.ok("there")],
    ])
    let outcome = await perform(server.url + "/a/start")
    #expect(outcome.bytes == Array("there".utf8))
    #expect(outcome.result?.redirects == 2 && outcome.result?.finalURL == server.url + "/end")
    #expect(server.requests.map(\.target) == ["/a/start", "/b/next?x=1", "/end"])
  }

  @Test func `the body of a redirect reaches no sink`() async throws {
    var redirect = LoopbackServer.Response.redirect(to: "/end")
    redirect.body = .bytes(LoopbackServer.pattern(200_000))
    let server = try LoopbackServer(script: ["/": [redirect], "/end": [.ok("end")]])
    #expect(await perform(server.url + "/").bytes == Array("end".utf8))
  }

  @Test func `in a circle or without end are a loop`() async throws {
    let server = try LoopbackServer { request in
      if request.path == "/a" { return .redirect(to: "/b") }
      if request.path == "/b" { return .redirect(to: "/a") }
      return .redirect(to: "/\((Int(request.path.dropFirst()) ?? 0) + 1)")
    }
    #expect(await perform(server.url + "/a").code == "redirect.loop")
    #expect(await perform(server.url + "/0").code == "redirect.loop")
    #expect(server.requests.count == 2 + 11)
    let few = await perform(server.url + "/0") { $0.redirects = 2 }
    #expect(few.code == "redirect.loop" && server.requests.count == 13 + 3)
    let none = await perform(server.url + "/0") { $0.redirects = 0 }
    #expect(none.code == "redirect.refused" && none.fault?.httpStatus == 302)
  }

  @Test(arguments: ["ftp://127.0.0.1/x", "file:///etc/passwd", "gopher://127.0.0.1/", "http://"])
  func `to anything but http and https are refused`(location: String) async throws {
    let server = try LoopbackServer { _ in .redirect(to: location) }
    #expect(await perform(server.url).code == "redirect.refused")
  }

  @Test func `turn a POST into a GET, or do not, as the status says`() async throws {
    for (status, method) in [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")] {
      let server = try LoopbackServer(script: ["/": [.redirect(to: "/end", status: status)], "/end": [.ok("")]])
      _ = await perform(server.url + "/") {
        $0.method = .post
        $0.body = Array("x".utf8)
      }
      #expect(server.requests.last?.method == method && server.requests.last?.path == "/end")
    }
  }

  /// Everything that must not leave its origin.
  private func secrets(_ request: inout TransferRequest) {
    request.headers = [
      TransferHeader("X-Api-Key", "canary"), TransferHeader("Cookie", "canary=1"), TransferHeader("Accept", "image/*"),
    ]
    request.referer = "http://canary.example/"
    request.credentials.bearer = "canary"
    request.credentials.headers = [TransferHeader("X-Token", "canary")]
    request.credentials.query = [TransferHeader("sig", "canary")]
  }

  @Test func `never carry a secret to another origin, nor back again`() async throws {
    let home = try LoopbackServer { _ in .ok("home") }
    let away = try LoopbackServer { _ in .redirect(to: home.url + "/back") }
    let start = try LoopbackServer { request in
      request.path == "/again"
        ? .ok("again") : request.path == "/same" ? .redirect(to: away.url + "/x") : .redirect(to: "/same")
    }
    let outcome = await perform(request(start.url + "/") { secrets(&$0) })
    #expect(outcome.bytes == Array("home".utf8))
    #expect(outcome.result?.finalURL == home.url + "/back")
    for seen in start.requests {
      #expect(seen.header("Authorization") == "Bearer canary" && seen.header("X-Api-Key") == "canary")
      #expect(seen.header("X-Token") == "canary" && seen.header("Referer") != nil && seen.query == "sig=canary")
    }
    for seen in away.requests + home.requests {
      #expect(!"\(seen)".contains("canary"))
      #expect(seen.header("Accept") == "image/*")
    }
    #expect(start.requests.count == 2 && away.requests.count == 1 && home.requests.count == 1)
  }

  @Test func `do not get a secret on the way back`() async throws {
    let port = Guarded(0)
    let away = try LoopbackServer { _ in .redirect(to: "http://127.0.0.1:\(port.withLock { $0 })/back") }
    let start = try LoopbackServer { request in
      request.path == "/back" ? .ok("back") : .redirect(to: away.url + "/x")
    }
    port.withLock { $0 = start.port }
    let outcome = await perform(request(start.url + "/") { secrets(&$0) })
    #expect(outcome.bytes == Array("back".utf8))
    #expect(start.requests.first?.header("Authorization") == "Bearer canary")
    #expect(!"\(start.requests[1])".contains("canary"))
  }

  @Test func `user info belongs to its own host and shows nowhere`() async throws {
    let away = try LoopbackServer { _ in .ok("away") }
    let start = try LoopbackServer { _ in .redirect(to: away.url) }
    let outcome = await perform("http://me:p%40ss@127.0.0.1:\(start.port)/")
    #expect(start.requests.first?.header("Authorization") == "Basic " + Base64.encode(Array("me:p@ss".utf8)))
    #expect(away.requests.first?.header("Authorization") == nil)
    #expect(outcome.result?.finalURL == away.url + "/")
  }
}
