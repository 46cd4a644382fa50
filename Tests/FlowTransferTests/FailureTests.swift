import FlowBase
import FlowTesting
import FlowTransfer
import Testing

struct `Failures have names` {
  static let short = Interval.milliseconds(150)

  @Test(arguments: [
    (404, "permanent"), (410, "permanent"), (451, "permanent"), (401, "auth"), (403, "auth"), (408, "transient"),
    (425, "transient"), (500, "transient"), (502, "transient"), (429, "quota"), (503, "quota"), (304, "permanent"),
    (300, "permanent"), (206, "permanent"),
  ])
  func `a status that is no success`(status: Int, kind: String) async throws {
    let server = try LoopbackServer { _ in .status(status) }
    let outcome = await perform(server.url)
    #expect(outcome.code == "http.\(status)" && outcome.fault?.kind.rawValue == kind)
    #expect(outcome.fault?.httpStatus == status && outcome.fault?.host == "127.0.0.1")
    #expect(outcome.bytes.isEmpty)
  }

  @Test func `a redirect to nowhere is a status like others`() async throws {
    let server = try LoopbackServer { _ in .status(302) }
    #expect(await perform(server.url).code == "http.302")
  }

  @Test func `Retry-After comes in seconds and as a date, and is capped`() async throws {
    let server = try LoopbackServer(script: [
      "/seconds": [.tooMany(retryAfter: "7")], "/long": [.tooMany(retryAfter: "86400")],
      "/past": [.tooMany(retryAfter: "Sat, 21 Nov 2020 00:00:00 GMT")],
      "/far": [.tooMany(retryAfter: "Sat, 21 Nov 2099 00:00:00 GMT")],
      "/last": [.tooMany(retryAfter: "Fri, 31 Dec 9999 23:59:59 GMT")], "/odd": [.tooMany(retryAfter: "soon")],
    ])
    #expect(await perform(server.url + "/seconds").fault?.retryAfter == .seconds(7))
    #expect(await perform(server.url + "/long").fault?.retryAfter == .seconds(600))
    #expect(await perform(server.url + "/past").fault?.retryAfter == .zero)
    #expect(await perform(server.url + "/far").fault?.retryAfter == .seconds(600))
    #expect(await perform(server.url + "/last").fault?.retryAfter == .seconds(600))
    let odd = await perform(server.url + "/odd")
    #expect(odd.code == "http.429" && odd.fault?.retryAfter == nil)
  }

  @Test func `bodies that end early are truncated, however they end`() async throws {
    let body = LoopbackServer.Response.generated(100_000)
    let server = try LoopbackServer(script: [
      "/close": [body.ending(.close, after: 5000)], "/reset": [body.ending(.reset, after: 5000)],
      "/long": [body.announcing(200_000).ending(.close, after: 100_000)],
      "/chunk": [body.chunked(of: 1000).ending(.brokenChunk, after: 5000)],
      "/chunks": [body.chunked(of: 1000).ending(.close, after: 5000)],
      "/nothing": [body.ending(.close, after: 0)],
    ])
    for path in ["/close", "/reset", "/long", "/chunk", "/chunks", "/nothing"] {
      let outcome = await perform(server.url + path)
      #expect(outcome.code == "body.truncated", "\(path): \(outcome.fault?.message ?? "")")
      #expect(outcome.fault?.kind == .transient)
    }
  }

  @Test func `bytes past the announced length are not delivered, and the connection is not used again`() async throws {
    let server = try LoopbackServer { _ in .ok(Array("0123456789".utf8)).announcing(4) }
    #expect(await perform(server.url).bytes == Array("0123".utf8))
    #expect(await perform(server.url).bytes == Array("0123".utf8))
    #expect(server.connectionCount == 2)
  }

  @Test func `no answer at all is a reset`() async throws {
    let server = try LoopbackServer(script: ["/reset": [.reset], "/close": [.hangUp]])
    for path in ["/reset", "/close"] {
      let outcome = await perform(server.url + path)
      #expect(outcome.code == "net.reset" && outcome.fault?.kind == .transient, "\(path)")
    }
  }

  @Test func `a closed port refuses`() async throws {
    let server = try LoopbackServer { _ in .ok("") }
    server.stop()
    let outcome = await perform("http://127.0.0.1:\(server.port)/")
    #expect(outcome.code == "net.refused" && outcome.fault?.kind == .transient)
  }

  @Test func `a name that cannot be resolved says so`() async throws {
    let outcome = await perform("http://no-such-host.invalid/")
    #expect(outcome.code == "dns.nxdomain" || outcome.code == "dns.temporary")
    #expect(outcome.fault?.host == "no-such-host.invalid")
  }

  @Test func `silence ends at the limit of the first byte`() async throws {
    let server = try LoopbackServer { _ in .silence }
    let outcome = await perform(server.url) { $0.limits.firstByte = Self.short }
    #expect(outcome.code == "net.timeout.first_byte" && outcome.fault?.kind == .transient)
  }

  @Test func `a stalled body ends at the limit of idleness`() async throws {
    let server = try LoopbackServer { _ in .generated(10_000).ending(.stall, after: 100) }
    let outcome = await perform(server.url) { $0.limits.idle = Self.short }
    #expect(outcome.code == "net.timeout.idle")
    #expect(outcome.bytes.count == 100)
  }

  @Test func `a dripping body ends at the limit of the whole, and of the speed`() async throws {
    let server = try LoopbackServer { _ in .generated(100_000).dripping(1, every: .milliseconds(20)) }
    let total = await perform(server.url) { $0.limits.total = Self.short }
    #expect(total.code == "net.timeout.total")
    let slow = await perform(server.url) { $0.limits.speedWindow = Self.short }
    #expect(slow.code == "net.slow" && slow.fault?.kind == .transient)
  }

  @Test func `a limit of bandwidth lets nobody drip for ever`() async throws {
    let server = try LoopbackServer { _ in .generated(100_000).dripping(1, every: .milliseconds(20)) }
    var request = TransferRequest(url: server.url, addresses: AddressPolicy(allowsPrivate: true)) { _, _ in
      var way = HostWay()
      way.bandwidth = 1_000_000
      return way
    }
    request.limits.speedWindow = Self.short
    request.limits.total = .seconds(30)
    #expect(await perform(request).code == "net.slow")
  }

  @Test func `the time to the first byte is none of the speed`() async throws {
    let server = try LoopbackServer { _ in
      .generated(1_500_000).dripping(20_000, every: .milliseconds(20)).delayed(by: .milliseconds(900))
    }
    let outcome = await perform(server.url) {
      $0.limits.minimumSpeed = 150_000
      $0.limits.speedWindow = .milliseconds(500)
    }
    #expect(outcome.fault == nil && outcome.bytes.count == 1_500_000, "\(outcome.fault?.message ?? "")")
  }

  @Test func `a status is the answer, however slowly its words come`() async throws {
    func stalling(_ status: Int) -> LoopbackServer.Response {
      LoopbackServer.Response(status: status, body: .bytes(LoopbackServer.pattern(10_000))).ending(.stall, after: 100)
    }
    let server = try LoopbackServer(script: [
      "/gone": [stalling(404)], "/moved": [stalling(302).header("Location", "/there")], "/there": [.ok("there")],
      "/busy": [stalling(429).header("Retry-After", "7")],
    ])
    func ask(_ path: String) async -> Outcome { await perform(server.url + path) { $0.limits.idle = Self.short } }
    #expect(await ask("/gone").code == "http.404")
    #expect(await ask("/moved").bytes == Array("there".utf8))
    #expect(await ask("/busy").fault?.retryAfter == .seconds(7))
    let total = await perform(server.url + "/moved") { $0.limits.total = Self.short }
    #expect(total.code == "net.timeout.total")
  }

  @Test func `validators and cookies that no header may hold are not sent back`() async throws {
    let server = try LoopbackServer { request in
      request.path == "/set"
        ? .ok("x").header("ETag", "\"a\u{1}\"").header("Last-Modified", "to\u{7F}day").header("Set-Cookie", "a=b\u{7F}")
        : .ok("x")
    }
    let place = try TempPlace()
    let set = await perform(server.url + "/set") { $0.credentials.cookies = place.file("jar") }
    #expect(set.result?.etag == nil && set.result?.lastModified == nil && set.bytes.count == 1)
    let next = await perform(server.url + "/next") { $0.credentials.cookies = place.file("jar") }
    #expect(next.fault == nil && server.requests(for: "/next").first?.header("Cookie") == nil)
  }

  @Test func `a server that takes no TLS runs into the limit of the handshake`() async throws {
    let server = try LoopbackServer { _ in .silence }
    let outcome = await perform("https://127.0.0.1:\(server.port)/") { $0.limits.connect = Self.short }
    #expect(outcome.code == "net.timeout.tls")
  }

  @Test func `too many bytes end the transfer, announced or not`() async throws {
    let server = try LoopbackServer(script: [
      "/length": [.generated(100_000)], "/chunked": [.generated(100_000).chunked()],
      "/gzip": [.generated(9000).gzipped()],
    ])
    let length = await perform(server.url + "/length") { $0.limits.maximumBytes = 99_999 }
    #expect(length.code == "body.too_large" && length.bytes.isEmpty)
    for path in ["/chunked", "/gzip"] {
      let outcome = await perform(server.url + path) { $0.limits.maximumBytes = 8000 }
      #expect(outcome.code == "body.too_large" && outcome.bytes.count <= 8000)
    }
    #expect(await perform(server.url + "/length") { $0.limits.maximumBytes = 100_000 }.fault == nil)
  }

  @Test func `headers without end are refused`() async throws {
    let server = try LoopbackServer(script: [
      "/many": [.ok("x").headerBomb(400_000)],
      "/one": [.ok("x").header("X-Long", String(repeating: "y", count: 300_000))],
    ])
    #expect(await perform(server.url + "/many").code == "header.too_large")
    #expect(await perform(server.url + "/one").code == "header.too_large")
  }

  @Test func `an encoded body is decoded, a strange coding is refused`() async throws {
    let plain = LoopbackServer.pattern(200_000)
    let server = try LoopbackServer(script: [
      "/gzip": [.ok(plain).gzipped()], "/chunked": [.ok(plain).gzipped().chunked()],
      "/zstd": [.ok(Self.zstd).header("Content-Encoding", "zstd")],
      "/strange": [.ok("x").header("Content-Encoding", "aws-chunked")],
      "/identity": [.ok("x").header("Content-Encoding", "identity")],
      "/corrupt": [.ok("no gzip at all").header("Content-Encoding", "gzip")],
    ])
    let gzip = await perform(server.url + "/gzip")
    #expect(gzip.bytes == plain && gzip.result?.contentEncoding == "gzip")
    #expect(await perform(server.url + "/chunked").bytes == plain)
    #expect(await perform(server.url + "/zstd").bytes == Array("hello".utf8))
    #expect(await perform(server.url + "/identity").bytes == Array("x".utf8))
    let strange = await perform(server.url + "/strange")
    #expect(strange.code == "encoding.unsupported" && strange.fault?.kind == .permanent)
    #expect(await perform(server.url + "/corrupt").code == "body.truncated")
    #expect(server.requests.allSatisfy { $0.header("Accept-Encoding") == "identity" })
  }

  @Test func `a truncated gzip stream is truncated although its length is right`() async throws {
    let packed = LoopbackServer.Response.generated(50_000).gzipped().bytes
    let server = try LoopbackServer { request in
      .ok(Array(packed.dropLast(Int(request.path.dropFirst()) ?? 0))).header("Content-Encoding", "gzip")
    }
    for missing in [1, 4, 8, 1000] {
      #expect(await perform("\(server.url)/\(missing)").code == "body.truncated", "\(missing) bytes missing")
    }
    #expect(await perform(server.url + "/0").fault == nil)
  }

  /// One frame with one raw block: hello.
  private static let zstd: [UInt8] =
    [0x28, 0xb5, 0x2f, 0xfd, 0x20, 5, 0x29, 0, 0] + Array("hello".utf8)

  @Test func `what is no HTTP says so`() async throws {
    #expect(await perform("ftp://127.0.0.1/x").code == "url.scheme")
    #expect(await perform("no address").code == "url.malformed")
  }

  @Test func `a header with a line break is not sent`() async throws {
    let server = try LoopbackServer { _ in .ok("") }
    let outcome = await perform(server.url) { $0.headers = [TransferHeader("X-A", "b\r\nX-C: d")] }
    #expect(outcome.code == "header.invalid")
    #expect(server.requests.isEmpty)
  }

  @Test func `cancelling ends a transfer at once`() async throws {
    let server = try LoopbackServer { _ in .silence }
    let task = Task { await perform(server.url) }
    while server.requests.isEmpty { await Task.yield() }
    let clock = SystemTime()
    let start = clock.now()
    task.cancel()
    let outcome = await task.value
    #expect(outcome.code == "cancelled.user" && outcome.fault?.kind == .cancelled)
    // Far below every limit of the transfer itself, far above what a busy machine takes.
    #expect(clock.now() - start < .seconds(10))
  }

  @Test func `a task that is cancelled already asks nobody`() async throws {
    let server = try LoopbackServer { _ in .ok("") }
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return await perform(server.url)
    }
    task.cancel()
    #expect(await task.value.code == "cancelled.user")
    #expect(server.requests.isEmpty)
  }
}
