import FlowBase
import Testing

@testable import FlowServe

/// Who is let in, and who is not, whatever they try.
@Suite struct DoorkeeperTests {
  private let keeper: Doorkeeper
  private let good = WebRequest.Header("authorization", "Bearer secret")

  init() throws {
    keeper = Doorkeeper(
      secret: "secret", cookie: "imgflow_1", address: try #require(NetworkAddress(parsing: "127.0.0.1")), port: 8080)
  }

  private func judge(
    _ headers: WebRequest.Header..., path: String = "/api/run", method: String = "GET", query: String = "",
    host: String? = "127.0.0.1:8080"
  ) -> Int {
    let named = host.map { [WebRequest.Header("host", $0)] } ?? []
    switch keeper.judge(WebRequest(method, path, query: query, headers: named + headers)) {
    case .pass: return 200
    case .welcome(let answer), .refuse(let answer): return answer.status
    }
  }

  @Test func `who knows the secret comes in by a cookie or as a bearer`() {
    #expect(judge(good) == 200)
    #expect(judge(.init("cookie", "other=1; imgflow_1=secret")) == 200)
    #expect(judge(good, host: "localhost:8080") == 200)
  }

  @Test func `who does not know it stays outside, however close the guess is`() {
    #expect(judge() == 401)
    #expect(judge(.init("authorization", "Bearer secre")) == 401)
    #expect(judge(.init("authorization", "Bearer secret2")) == 401)
    #expect(judge(.init("authorization", "Basic secret")) == 401)
    #expect(judge(.init("cookie", "imgflow_1=")) == 401)
    #expect(judge(.init("cookie", "imgflow_12=secret")) == 401)
    #expect(judge(.init("cookie", "ximgflow_1=secret")) == 401)
    #expect(judge(path: "/", query: "token=wrong") == 401)
    #expect(judge(path: "/", query: "token=") == 401)
  }

  @Test func `a token in the address is worth a cookie at the door, and nothing anywhere else`() throws {
    let request = WebRequest("GET", "/", query: "token=secret", headers: [.init("host", "127.0.0.1:8080")])
    guard case .welcome(let answer) = keeper.judge(request) else {
      Issue.record("no welcome")
      return
    }
    #expect(answer.status == 303)
    let cookie = try #require(answer.headers.first { $0.name == "Set-Cookie" }?.value)
    #expect(cookie == "imgflow_1=secret; Path=/; HttpOnly; SameSite=Strict")
    #expect(answer.headers.contains(.init("Location", "/")))
    #expect(judge(query: "token=secret") == 401)
    #expect(judge(path: "/", method: "POST", query: "token=secret") == 401)
  }

  @Test(arguments: [
    nil, "", "evil.example:8080", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8080.evil.example", "127.0.0.2:8080",
    "localhost.evil.example:8080", "[::1]:8080", "0x7f000001:8080", "127.1:8080", "user@127.0.0.1:8080",
  ]) func `a name that leads here is not this server's name`(host: String?) {
    #expect(judge(good, host: host) == 403)
  }

  @Test func `a Host that stands there twice is nobody's`() {
    #expect(judge(good, .init("host", "127.0.0.1:8080")) == 403)
  }

  @Test(arguments: [
    "http://evil.example", "null", "https://127.0.0.1:8080", "http://127.0.0.1:8081", "http://localhost:8080", "",
  ]) func `a page of another origin may not ask, though the browser sends the cookie`(origin: String) {
    #expect(judge(.init("cookie", "imgflow_1=secret"), .init("origin", origin), method: "POST") == 403)
  }

  @Test func `the page's own origin may`() {
    #expect(
      judge(.init("cookie", "imgflow_1=secret"), .init("origin", "http://127.0.0.1:8080"), method: "POST") == 200)
  }

  @Test func `what another site embeds is refused, and a link on it is followed`() {
    let cookie = WebRequest.Header("cookie", "imgflow_1=secret")
    let far = WebRequest.Header("sec-fetch-site", "cross-site")
    #expect(judge(cookie, far, .init("sec-fetch-mode", "no-cors"), .init("sec-fetch-dest", "image")) == 403)
    #expect(judge(cookie, far, .init("sec-fetch-mode", "navigate"), .init("sec-fetch-dest", "iframe")) == 403)
    #expect(judge(cookie, .init("sec-fetch-site", "same-site"), .init("sec-fetch-mode", "cors")) == 403)
    #expect(
      judge(cookie, far, .init("sec-fetch-mode", "navigate"), .init("sec-fetch-dest", "document"), method: "POST")
        == 403)
    let visit: [WebRequest.Header] = [.init("sec-fetch-mode", "navigate"), .init("sec-fetch-dest", "document")]
    #expect(judge(far, visit[0], visit[1], path: "/", query: "token=secret") == 200)
  }

  @Test func `a server for all addresses takes any of them by number, and no name`() throws {
    let open = Doorkeeper(
      secret: "secret", cookie: "c", address: try #require(NetworkAddress(parsing: "0.0.0.0")), port: 8080)
    #expect(open.isOurs("192.168.1.20:8080") && open.isOurs("localhost:8080") && open.isOurs("[::1]:8080"))
    #expect(!open.isOurs("worker.example:8080"))
  }
}
