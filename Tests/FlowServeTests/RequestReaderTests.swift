import FlowBase
import Testing

@testable import FlowServe

/// Requests as they come over the wire, and what is no request.
@Suite struct RequestReaderTests {
  private func read(_ text: String) -> RequestReader.Reading {
    var reader = RequestReader()
    reader.add(text.utf8)
    return reader.next()
  }

  @Test func `a request comes out whole, whatever pieces it comes in`() throws {
    let text = "POST /api/control?x=1&q=a%20b+c HTTP/1.1\r\nHost: 127.0.0.1:80\r\nContent-Length: 4\r\n\r\nbody"
    var reader = RequestReader()
    for (place, byte) in text.utf8.enumerated() {
      reader.add([byte])
      guard place == text.utf8.count - 1 else {
        #expect(reader.next() == .partial)
        continue
      }
      guard case .request(let request) = reader.next() else {
        Issue.record("no request")
        return
      }
      #expect(request.method == "POST" && request.path == "/api/control")
      #expect(request.parameter("q") == "a b c" && request.parameter("x") == "1")
      #expect(request.header("host") == "127.0.0.1:80")
      #expect(request.body == Array("body".utf8))
      #expect(request.keepsAlive)
    }
    #expect(reader.isEmpty)
  }

  @Test func `two requests in one piece are two`() {
    var reader = RequestReader()
    reader.add("GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.0\r\n\r\n".utf8)
    guard case .request(let first) = reader.next(), case .request(let second) = reader.next() else {
      Issue.record("not two requests")
      return
    }
    #expect(first.path == "/a" && first.keepsAlive)
    #expect(second.path == "/b" && !second.keepsAlive)
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400),
    ("GET http://other/ HTTP/1.1\r\n\r\n", 400), ("get / HTTP/1.1\r\n\r\n", 400), ("GET /a b HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/2.0\r\n\r\n", 400), ("GET / HTTP/1.1\r\nA: \u{1}\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", 400),
    ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", 413),
    ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501),
    ("GET / HTTP/1.1\r\nA: " + String(repeating: "a", count: 20_000), 431),
  ]) func `what two programs might read differently is refused`(text: String, status: Int) {
    #expect(read(text) == .refused(status))
  }

  @Test func `a cookie is found among others by its whole name`() {
    guard
      case .request(let request) = read("GET / HTTP/1.1\r\nCookie: aa=1; a=2; b=3\r\nCookie: c=4\r\n\r\n")
    else {
      Issue.record("no request")
      return
    }
    #expect(request.cookie("a") == "2" && request.cookie("c") == "4" && request.cookie("d") == nil)
  }
}
