import FlowBase
import FlowEvents
import FlowParts
import FlowTesting
import Testing

@testable import FlowBuiltins

/// A page that is served, asked as browsers, programs and strangers ask.
@Suite struct PageHostTests {
  /// A page with some events, and a way to ask it.
  private final class Site: Sendable {
    let place: TempPlace
    let host: PageHost
    let asked = Guarded<[RunControl.Request]>([])
    let port: Int

    init(_ samples: PageSamples) throws {
      place = try TempPlace()
      var context = SinkContext(id: "page", run: "R1", folder: place.path)
      context.settings.outputFolder = place.file("out")
      context.keep = place.file("keep")
      context.graph = PageSamples.graph
      let asked = asked
      context.control = RunControl { request, by in
        asked.withLock { $0.append(request) }
        let isFine = request.verb != "resume"
        return .init(isAccepted: isFine, message: "\(request.verb) by \(by)", state: .paused)
      }
      try SmallFiles.makeFolder(place.file("out"))
      host = try PageHost(context)
      for event in samples.events { host.hear(event) }
      let digits = host.address.dropFirst("http://127.0.0.1:".count).prefix { $0 != "/" }
      port = try #require(Int(digits))
    }

    func get(_ path: String, _ more: String = "", token: String? = nil) async throws -> Visitor.Answer {
      try await Visitor.ask(port, words("GET", path, more, token: token))
    }

    func words(_ method: String, _ path: String, _ more: String = "", token: String? = nil, body: String = "") -> String
    {
      "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token ?? host.token)\r\n"
        + "\(more)\r\n\(body)"
    }

    func post(_ body: String, _ more: String = "Content-Type: application/json\r\n") async throws -> Visitor.Answer {
      try await Visitor.ask(
        port, words("POST", "/api/control", more + "Content-Length: \(body.utf8.count)\r\n", body: body))
    }
  }

  private func samples(_ more: (inout PageSamples) -> Void = { _ in }) -> PageSamples {
    var samples = PageSamples()
    samples.begin()
    samples.picture("A", path: "a.png")
    samples.failure("B")
    more(&samples)
    return samples
  }

  @Test func `the page is one document that asks nobody else for anything`() async throws {
    let site = try Site(samples())
    let page = try await site.get("/")
    #expect(page.status == 200 && page.header("Content-Type") == "text/html; charset=utf-8")
    #expect(page.text.hasPrefix("<!doctype html>"))
    for foreign in ["src=\"", "href=\"http", "@import", "url(", "innerHTML", "eval(", "document.write"] {
      #expect(!page.text.contains(foreign), "\(foreign)")
    }
    let policy = try #require(page.header("Content-Security-Policy"))
    #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
    #expect(!policy.contains("unsafe") && !policy.contains("*"))
    await site.host.stop()
  }

  @Test func `the hashes of the policy are those of what stands in the page`() async throws {
    let site = try Site(samples())
    let page = try await site.get("/")
    let policy = try #require(page.header("Content-Security-Policy"))
    for (open, close, name) in [("<script>", "</script>", "script-src"), ("<style>", "</style>", "style-src")] {
      let start = try #require(page.text.firstRange(of: open)).upperBound
      let end = try #require(page.text[start...].firstRange(of: close)).lowerBound
      let hash = Base64.encode(Digest.sha256(of: String(page.text[start..<end])).bytes)
      #expect(policy.contains("\(name) 'sha256-\(hash)'"))
    }
    await site.host.stop()
  }

  @Test func `nothing is told to who does not know the token`() async throws {
    let site = try Site(samples())
    for path in [
      "/", "/api/run", "/api/items", "/api/item/products/A", "/api/graph", "/api/events", "/api/live",
      "/thumb/products/A",
    ] {
      let answer = try await site.get(path, token: "wrong")
      #expect(answer.status == 401, "\(path)")
      #expect(!answer.text.contains("products"))
    }
    let body = "{\"verb\":\"cancel\"}"
    let post = try await Visitor.ask(
      site.port,
      "POST /api/control HTTP/1.1\r\nHost: 127.0.0.1:\(site.port)\r\nContent-Type: application/json\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    #expect(post.status == 401)
    #expect(site.asked.withLock { $0.isEmpty })
    await site.host.stop()
  }

  @Test func `the address that is printed gives a cookie, and the cookie the page`() async throws {
    let site = try Site(samples())
    let start = try #require(site.host.address.firstRange(of: "/?")).lowerBound
    let host = "Host: 127.0.0.1:\(site.port)\r\n"
    let first = try await Visitor.ask(site.port, "GET \(site.host.address[start...]) HTTP/1.1\r\n\(host)\r\n")
    #expect(first.status == 303 && first.header("Location") == "/")
    let cookie = try #require(first.header("Set-Cookie")?.split(separator: ";").first.map(String.init))
    #expect(cookie.hasPrefix("imgflow_r1="))
    let page = try await Visitor.ask(site.port, "GET / HTTP/1.1\r\n\(host)Cookie: \(cookie)\r\n\r\n")
    #expect(page.status == 200)
    #expect(!page.text.contains(site.host.token))
    await site.host.stop()
  }

  @Test func `a page of another site that posts with the browser's cookie steers nothing`() async throws {
    let site = try Site(samples())
    let body = "{\"verb\":\"cancel\"}"
    let cookie = "Cookie: imgflow_r1=\(site.host.token)\r\nContent-Length: \(body.utf8.count)\r\n"
    for more in [
      "Host: 127.0.0.1:\(site.port)\r\nOrigin: http://evil.example\r\nContent-Type: application/json\r\n",
      "Host: 127.0.0.1:\(site.port)\r\nOrigin: null\r\nContent-Type: application/json\r\n",
      "Host: evil.example:\(site.port)\r\nOrigin: http://evil.example:\(site.port)\r\nContent-Type: application/json\r\n",
      "Host: 127.0.0.1:\(site.port)\r\nSec-Fetch-Site: cross-site\r\nContent-Type: text/plain\r\n",
      "Host: 127.0.0.1:\(site.port)\r\nContent-Type: text/plain\r\n",
    ] {
      let answer = try await Visitor.ask(site.port, "POST /api/control HTTP/1.1\r\n\(cookie)\(more)\r\n\(body)")
      #expect(answer.status == 403 || answer.status == 415, "\(more)")
    }
    #expect(site.asked.withLock { $0.isEmpty })
    await site.host.stop()
  }

  @Test(arguments: [
    "/thumb/../../../etc/passwd", "/thumb/..%2f..%2fetc%2fpasswd", "/thumb//etc/passwd", "/thumb/a.png", "/thumb/",
    "/thumb/products/A/../../secret.png", "/api/item/..%2f..%2fetc%2fpasswd", "/../etc/passwd", "//etc/passwd",
    "/thumb/products/evil%00A", "/.imgflow/journal.sqlite",
  ]) func `no path leads to a file`(path: String) async throws {
    let site = try Site(samples())
    let answer = try await site.get(path)
    #expect(answer.status == 404)
    #expect(!answer.text.contains("root:"))
    await site.host.stop()
  }

  @Test func `an output that leaves the folder, or is a link, is not shown`() async throws {
    let site = try Site(
      samples {
        $0.picture("up", path: "../secret.png")
        $0.picture("root", path: "/etc/hostname")
        $0.picture("link", path: "link.png")
      })
    try SmallFiles.replace(site.place.file("secret.png"), Painter.photo("secret"))
    try FileSystem.makeLink(site.place.file("out/link.png"), to: site.place.file("secret.png"))
    for key in ["up", "root", "link"] { #expect(try await site.get("/thumb/products/\(key)").status == 404, "\(key)") }
    #expect(PageThumbnails.read("link.png", below: site.place.file("out")) == nil)
    #expect(PageThumbnails.read("../secret.png", below: site.place.file("out")) == nil)
    await site.host.stop()
  }

  @Test func `names are data, never markup, whatever they hold`() async throws {
    let nasty = "<img src=x onerror=alert(1)>\"'&\u{2028}</script>"
    let site = try Site(samples { $0.failure(nasty) })
    let list = try await site.get("/api/items?state=failed")
    #expect(list.header("Content-Type") == "application/json; charset=utf-8")
    let items = try #require(list.json?["items"]?.asList)
    #expect(items.last?.asMap?["item"]?.asString == "products/\(nasty)")
    let item = try await site.get("/api/item/\(PercentEncoding.encode("products/\(nasty)"))")
    #expect(item.status == 200 && item.json?["item"]?.asString == "products/\(nasty)")
    #expect(item.header("X-Content-Type-Options") == "nosniff")
    await site.host.stop()
  }

  @Test func `the run, its graph and its items are told as JSON`() async throws {
    let site = try Site(samples())
    let run = try await site.get("/api/run").json
    #expect(run?["state"]?.asString == "active")
    #expect(run?["moves"]?.asList?.map(\.text) == ["pause", "drain", "cancel"])
    #expect(run?["items"]?.asMap?["failed"]?.asInt == 1)
    #expect(run?["hosts"]?.asList?.map(\.text) == ["h.example"])
    #expect(run?["failures"]?.asList?.first?.asMap?["code"]?.asString == "http.404")
    let graph = try await site.get("/api/graph").json
    #expect(graph?["stages"]?.asList?.map { $0.asMap?["needs"]?.asList?.map(\.text) } == [[], ["fetch"]])
    let first = try await site.get("/api/items?after=0&limit=1").json
    #expect(first?["items"]?.asList?.count == 1 && first?["after"]?.asInt == 1)
    #expect(try await site.get("/api/items?state=odd").status == 400)
    #expect(try await site.get("/api/items?limit=-1").status == 400)
    #expect(try await site.get("/api/item/products/B").json?["history"]?.asList?.count == 3)
    #expect(try await site.get("/api/item/products/unheard").status == 404)
    #expect(try await site.get("/api/nothing").status == 404)
    await site.host.stop()
  }

  @Test func `a stream that is taken up again misses nothing`() async throws {
    let site = try Site(samples())
    let first = try Visitor(port: site.port)
    first.say(site.words("GET", "/api/events"))
    let begun = await first.read(until: "event: item.end\n")
    #expect(begun.contains("id: 0\nevent: stream.start\ndata: {"))
    let second = try Visitor(port: site.port)
    second.say(site.words("GET", "/api/events", "Last-Event-ID: 4\r\n"))
    let rest = await second.read(until: "id: 6\n")
    #expect(rest.contains("id: 5\nevent: item.error\n") && !rest.contains("id: 4\n"))
    #expect(try await site.get("/api/events?types=nonsense").status == 400)
    await site.host.stop()
  }

  @Test func `the page's own stream begins with everything, and goes on with what changes`() async throws {
    let site = try Site(samples())
    let visitor = try Visitor(port: site.port)
    visitor.say(site.words("GET", "/api/live"))
    #expect(await visitor.read(until: "\"tiles\":null}\n\n").contains("event: whole\ndata: {\"run\":{\"run\":\"R1\""))
    var more = PageSamples()
    more.tell(.itemStart(.init(key: "late")), PageSamples.item("late"))
    for event in more.events { site.host.hear(event) }
    #expect(await visitor.read(until: "products/late").contains("event: beat\n"))
    await site.host.stop()
    #expect(await visitor.isClosed())
  }

  @Test func `what is asked reaches the run as it was asked`() async throws {
    let site = try Site(samples())
    let pause = try await site.post("{\"verb\":\"pause\",\"scope\":{\"stage\":\"fetch\"},\"now\":true}")
    #expect(pause.status == 200 && pause.json?["message"]?.asString == "pause by page")
    let set = try await site.post("{\"verb\":\"set\",\"scope\":{\"host\":\"h\"},\"key\":\"connections\",\"value\":4}")
    #expect(set.status == 200)
    let refused = try await site.post("{\"verb\":\"resume\"}")
    #expect(refused.status == 409 && refused.json?["code"]?.asString == "control.refused")
    #expect(
      site.asked.withLock { $0 } == [
        .init("pause", kind: "stage", name: "fetch", now: true),
        .init("set", kind: "host", name: "h", key: "connections", value: "4"), .init("resume"),
      ])
    await site.host.stop()
  }

  @Test(arguments: [
    "", "[]", "{", "{\"verb\":\"abort\"}", "{\"verb\":\"page\"}", "{\"verb\":7}", "{\"verb\":\"set\"}",
    "{\"verb\":\"pause\",\"scope\":\"fetch\"}", "{\"verb\":\"pause\",\"scope\":{\"stage\":\"a\",\"host\":\"b\"}}",
    "{\"verb\":\"pause\",\"scope\":{\"planet\":\"a\"}}", "{\"verb\":\"start\",\"scope\":{\"item\":\"a\"}}",
  ]) func `what is no request is refused with words, and reaches nobody`(body: String) async throws {
    let site = try Site(samples())
    let answer = try await site.post(body)
    #expect(answer.status == 400 && answer.json?["error"]?.asMap?["code"]?.asString == "page.request")
    #expect(site.asked.withLock { $0.isEmpty })
    await site.host.stop()
  }

  @Test func `a run is started from the page only where it waits for that`() async throws {
    let site = try Site(PageSamples())
    #expect(try await site.post("{\"verb\":\"start\"}").status == 409)
    #expect(try await site.post("{\"verb\":\"pause\"}").json?["message"]?.asString?.contains("it can start") == true)
    let starts = Guarded(0)
    site.host.offerStart {
      starts.withLock { $0 += 1 }
      return true
    }
    #expect(try await site.get("/api/run").json?["moves"]?.asList?.map(\.text) == ["start"])
    #expect(try await site.post("{\"verb\":\"start\"}").status == 200)
    #expect(starts.withLock { $0 } == 1)
    #expect(site.asked.withLock { $0.isEmpty })
    await site.host.stop()
  }

  @Test func `an address of anywhere else is no place, and odd ones are refused with words`() throws {
    for (text, address, port) in [
      ("127.0.0.1:8080", "127.0.0.1", 8080), ("localhost:1", "127.0.0.1", 1), ("[::1]:80", "[::1]", 80),
      ("8080", "127.0.0.1", 8080),
      ("0.0.0.0", "0.0.0.0", 0), ("::1", "::1", 0),
    ] {
      let place = try PagePlace(parsing: text)
      #expect(place.address == NetworkAddress(parsing: address) && place.port == port, "\(text)")
    }
    for text in ["", "worker:80", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:x", "[::1", ":80", "-1"] {
      #expect(throws: Fault.self, "\(text)") { try PagePlace(parsing: text) }
    }
  }
}
