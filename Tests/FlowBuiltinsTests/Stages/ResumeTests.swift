import FlowBase
import FlowBuiltins
import FlowParts
import FlowTesting
import Testing

/// A server of one file that breaks off the first answer in the middle, and then answers ranges in some way.
private func breakingServer(
  _ body: [UInt8], etag: String? = "\"v1\"", modified: String? = nil,
  then answer: @escaping @Sendable (LoopbackServer.Request, LoopbackServer.Response) -> LoopbackServer.Response
) throws -> LoopbackServer {
  try LoopbackServer { request in
    var whole = LoopbackServer.Response.ok(body)
    if let etag { whole = whole.header("ETag", etag) }
    if let modified { whole = whole.header("Last-Modified", modified) }
    return request.attempt == 1 ? whole.ending(.close, after: 60_000) : answer(request, whole)
  }
}

/// The 206 that a proper server gives.
private func part(
  _ request: LoopbackServer.Request, _ body: [UInt8], etag: String? = "\"v1\"", shift: Int = 0
) -> LoopbackServer.Response {
  let start = request.header("Range").flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
  var response = LoopbackServer.Response(status: 206, body: .bytes(Array(body[(start + shift)...])))
    .header("Content-Range", "bytes \(start + shift)-\(body.count - 1)/\(body.count)")
  if let etag { response = response.header("ETag", etag) }
  return response
}

extension LoopbackServer.Response {
  /// The same with another body.
  fileprivate func with(body: [UInt8]) -> LoopbackServer.Response {
    var response = self
    response.body = .bytes(body)
    return response
  }
}

struct `A second try` {
  private let old = LoopbackServer.pattern(100_000)
  private let new = LoopbackServer.pattern(100_000, from: 7)

  /// The bytes after a first try that broke off, and a second.
  ///
  /// A part that does not fit is a failure that passes: the try behind it begins anew.
  private func bytes(_ server: LoopbackServer, misfits: Bool = false) async throws -> [UInt8]? {
    let bench = try Bench(Fetch.part)
    #expect(await bench.fault(item(server.url))?.code == "body.truncated")
    if misfits {
      let fault = await bench.fault(item(server.url))
      #expect(fault?.code == "range.mismatch" && fault?.kind == .transient)
    }
    let result = try await bench.run(item(server.url))
    #expect(result.fields["sha256"] == .string(Digest.sha256(of: result.heldBytes ?? []).hex))
    #expect(result.fields["bytes"] == 100_000 && result.fields["media"] == "application/octet-stream")
    return result.heldBytes
  }

  @Test func `goes on where the first ended`() async throws {
    let server = try breakingServer(old) { [old] request, _ in part(request, old) }
    #expect(try await bytes(server) == old)
    let second = try #require(server.requests.last)
    #expect(second.header("Range") == "bytes=60000-" && second.header("If-Range") == "\"v1\"")
    #expect(server.requests.count == 2)
  }

  @Test func `uses a date where there is no strong validator`() async throws {
    let date = "Fri, 20 Nov 2026 00:00:00 GMT"
    let server = try breakingServer(old, etag: "W/\"v1\"", modified: date) { [old] request, _ in
      part(request, old, etag: nil)
    }
    #expect(try await bytes(server) == old)
    #expect(server.requests.last?.header("If-Range") == date)
  }

  @Test func `that met a server which takes no tags asks by the date from then on`() async throws {
    let date = "Fri, 20 Nov 2026 00:00:00 GMT"
    // Whoever asks by the tag gets everything, and that breaks off as well.
    let server = try breakingServer(old, modified: date) { [old] request, whole in
      request.header("If-Range") == date
        ? part(request, old).header("Last-Modified", date) : whole.ending(.close, after: 70_000)
    }
    let bench = try Bench(Fetch.part)
    #expect(await bench.fault(item(server.url))?.code == "body.truncated")
    #expect(await bench.fault(item(server.url))?.code == "body.truncated")
    #expect(try await bench.run(item(server.url)).heldBytes == old)
    #expect(server.requests.map { $0.header("If-Range") } == [nil, "\"v1\"", date])
    #expect(server.requests.map { $0.header("Range") } == [nil, "bytes=60000-", "bytes=70000-"])
  }

  @Test func `trusts no date of the very second of the answer, and no part of another date or tag`() async throws {
    let date = "Fri, 20 Nov 2026 00:00:00 GMT"
    let dated = try LoopbackServer { [old] request in
      let whole = LoopbackServer.Response.ok(old).header("Date", date).header("Last-Modified", date)
      return request.attempt == 1 ? whole.ending(.close, after: 60_000) : whole
    }
    #expect(try await bytes(dated) == old)
    #expect(dated.requests.last?.header("If-Range") == nil)
    let other = try breakingServer(old, etag: nil, modified: date) { [new] request, _ in
      request.header("Range") == nil
        ? .ok(new) : part(request, new, etag: nil).header("Last-Modified", "Fri, 20 Nov 2026 00:00:01 GMT")
    }
    #expect(try await bytes(other, misfits: true) == new)
  }

  @Test func `starts anew where the body has changed, and never splices`() async throws {
    let answers: [@Sendable (LoopbackServer.Request, LoopbackServer.Response) -> LoopbackServer.Response] = [
      // A server that heeds If-Range.
      { [new] _, _ in .ok(new).header("ETag", "\"v2\"") },
      // Servers that do not, with another validator, another place, another total.
      { [new] request, _ in
        request.header("Range") == nil ? .ok(new) : part(request, new, etag: "\"v2\"")
      },
      { [new] request, _ in request.header("Range") == nil ? .ok(new) : part(request, new, shift: 1) },
      { [new] request, _ in
        request.header("Range") == nil ? .ok(new) : part(request, new + [0])
      },
      { [new] request, _ in
        request.header("Range") == nil
          ? .ok(new)
          : LoopbackServer.Response(status: 206, body: .bytes(new))
            .header("Content-Type", "multipart/byteranges; boundary=x")
      },
      { [new] request, _ in request.header("Range") == nil ? .ok(new) : .status(416) },
    ]
    for (number, answer) in answers.enumerated() {
      let server = try breakingServer(old, then: answer)
      #expect(try await bytes(server, misfits: number > 0) == new, "answer \(number)")
      #expect(server.requests.count == (number > 0 ? 3 : 2))
    }
  }

  @Test func `holds the length of a part against what the part says of itself`() async throws {
    // Less than it says is one more body that broke off, and gone on with.
    let short = try breakingServer(old) { [old] request, _ in
      let whole = part(request, old)
      return request.attempt == 2 ? whole.with(body: Array(old[60_000..<70_000])) : whole
    }
    let bench = try Bench(Fetch.part)
    #expect(await bench.fault(item(short.url))?.code == "body.truncated")
    #expect(await bench.fault(item(short.url))?.code == "body.truncated")
    #expect(try await bench.run(item(short.url)).heldBytes == old)
    #expect(short.requests.last?.header("Range") == "bytes=70000-")
    // Of more than it says nothing is kept.
    let long = try breakingServer(old) { [old] request, whole in
      request.attempt == 2 ? part(request, old).with(body: Array(old[60_000...]) + [0]) : whole
    }
    #expect(try await bytes(long, misfits: true) == old)
    #expect(long.requests.last?.header("Range") == nil)
  }

  @Test func `asks for the whole where nothing vouches for the body`() async throws {
    for etag in [nil, "W/\"weak\""] {
      let server = try breakingServer(old, etag: etag) { _, whole in whole }
      #expect(try await bytes(server) == old)
      #expect(server.requests.last?.header("Range") == nil)
    }
  }

  @Test func `keeps what it has through a failure without a body`() async throws {
    let server = try breakingServer(old) { [old] request, _ in
      request.attempt == 2 ? .status(500) : part(request, old)
    }
    let bench = try Bench(Fetch.part)
    #expect(await bench.fault(item(server.url))?.code == "body.truncated")
    #expect(await bench.fault(item(server.url))?.code == "http.500")
    #expect(try await bench.run(item(server.url)).heldBytes == old)
    #expect(server.requests.last?.header("Range") == "bytes=60000-")
  }
}
