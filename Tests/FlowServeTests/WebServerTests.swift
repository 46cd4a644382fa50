import FlowBase
import FlowTesting
import Testing

@testable import FlowServe

/// The server over real sockets, with visitors who behave and visitors who do not.
@Suite struct WebServerTests {
  /// A server that echoes, streams numbers, and makes some answers late.
  private struct Site {
    let server: WebServer
    var port: Int { server.port }

    init() throws {
      let address = try #require(NetworkAddress(parsing: "127.0.0.1"))
      server = try WebServer(address: address, port: 0)
      try server.start(
        Doorkeeper(secret: "s", cookie: "c", address: address, port: server.port),
        .init(
          answer: { request in
            switch request.path {
            case "/late":
              return .later {
                await Task.yield()
                return .bytes(Array("late".utf8), media: "text/plain")
              }
            case "/numbers": return .stream(WebAnswer(200), Numbers())
            case "/flood": return .stream(WebAnswer(200), Flood())
            default: return .now(.bytes(Array(request.path.utf8) + request.body, media: "text/plain"))
            }
          }, tick: {}))
    }

    func words(_ path: String, method: String = "GET", more: String = "", body: String = "") -> String {
      "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer s\r\n\(more)\r\n\(body)"
    }
  }

  private struct Numbers: WebStream {
    var count = 0
    mutating func next(into buffer: inout [UInt8], room: Int) -> Bool {
      count += 1
      buffer.append(contentsOf: "\(count)\n".utf8)
      return count < 3
    }
  }

  /// Says as much as it is let, for ever.
  private struct Flood: WebStream {
    mutating func next(into buffer: inout [UInt8], room: Int) -> Bool {
      buffer.append(contentsOf: repeatElement(UInt8(ascii: "x"), count: room))
      return true
    }
  }

  @Test func `answers come in the order of the requests, over one connection`() async throws {
    let site = try Site()
    let visitor = try Visitor(port: site.port)
    visitor.say(
      site.words("/a") + site.words("/late")
        + site.words("/b", method: "POST", more: "Content-Length: 2\r\n", body: "hi"))
    #expect(await visitor.answer().text == "/a")
    #expect(await visitor.answer().text == "late")
    #expect(await visitor.answer().text == "/bhi")
    await site.server.stop()
  }

  @Test func `every answer forbids the browser to make more of it than it is`() async throws {
    let site = try Site()
    let answer = try await Visitor.ask(site.port, site.words("/a"))
    #expect(answer.header("Content-Security-Policy") == "default-src 'none'; frame-ancestors 'none'")
    #expect(answer.header("X-Content-Type-Options") == "nosniff")
    #expect(answer.header("Referrer-Policy") == "no-referrer")
    #expect(answer.header("Cache-Control") == "no-store")
    #expect(answer.header("X-Frame-Options") == "DENY")
    #expect(answer.header("Access-Control-Allow-Origin") == nil)
    await site.server.stop()
  }

  @Test func `HEAD says what GET would, without the body`() async throws {
    let site = try Site()
    let visitor = try Visitor(port: site.port)
    visitor.say(site.words("/abc", method: "HEAD") + site.words("/x"))
    let head = await visitor.read(until: "\r\n\r\n")
    #expect(head.contains("Content-Length: 4"))
    #expect(await visitor.answer().text == "/x")
    await site.server.stop()
  }

  @Test func `a stream says one thing after the other, and ends with its connection`() async throws {
    let site = try Site()
    let visitor = try Visitor(port: site.port)
    visitor.say(site.words("/numbers"))
    #expect(await visitor.read(until: "1\n2\n3\n").hasSuffix("\r\n\r\n1\n2\n3\n"))
    #expect(await visitor.isClosed())
    await site.server.stop()
  }

  @Test func `nonsense is answered once, and the door is shut`() async throws {
    let site = try Site()
    let visitor = try Visitor(port: site.port)
    visitor.say("BLAH\r\n\r\n" + site.words("/a"))
    #expect(await visitor.answer().status == 400)
    #expect(await visitor.isClosed())
    await site.server.stop()
  }

  @Test func `visitors who say nothing, who stop halfway, and who take nothing hold up nobody`() async throws {
    let site = try Site()
    var idle: [Visitor] = []
    for number in 0..<30 {
      let visitor = try Visitor(port: site.port)
      if number % 3 == 1 { visitor.say("GET / HTTP/1.1\r\nHo") }
      if number % 3 == 2 { visitor.say(site.words("/flood")) }
      idle.append(visitor)
    }
    for _ in 0..<20 { #expect(try await Visitor.ask(site.port, site.words("/a")).text == "/a") }
    await site.server.stop()
    #expect(idle.count == 30)
  }

  @Test func `more connections than there is room for push out those that wait between requests`() async throws {
    let site = try Site()
    var idle: [Visitor] = []
    for _ in 0..<(WebServer.mostConnections + 20) { idle.append(try Visitor(port: site.port)) }
    #expect(try await Visitor.ask(site.port, site.words("/a")).text == "/a")
    await site.server.stop()
    #expect(idle.count > WebServer.mostConnections)
  }

  @Test func `a server that has stopped is gone`() async throws {
    let site = try Site()
    let visitor = try Visitor(port: site.port)
    visitor.say(site.words("/a"))
    #expect(await visitor.answer().text == "/a")
    await site.server.stop()
    await site.server.stop()
    #expect(await visitor.isClosed())
  }
}
