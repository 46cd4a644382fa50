import FlowBase
import FlowTesting
import FlowTransfer
import Testing

/// TLS and HTTP/2 as a real server speaks them.
@Suite(
  .enabled(if: TLSServer.isThere, "nginx and openssl are needed: apt-get install nginx-light openssl"), .serialized)
struct `Over TLS` {
  /// What a server answers once it has started.
  private func answer(
    _ server: TLSServer, _ path: String, engine: TransferEngine, _ change: (inout HostWay) -> Void = { _ in }
  ) async -> Outcome {
    var way = HostWay()
    way.ca = server.authority
    change(&way)
    let wanted = TransferRequest(url: server.url + path, addresses: AddressPolicy(allowsPrivate: true)) { [way] _, _ in
      way
    }
    let clock = SystemTime()
    let end = clock.now() + .seconds(20)
    while true {
      let sink = MemorySink()
      do throws(Fault) {
        return Outcome(result: try await engine.perform(wanted, into: sink), bytes: sink.bytes)
      } catch {
        // Not there yet.
        if error.code == "net.refused", clock.now() < end {
          await Task.yield()
          continue
        }
        return Outcome(fault: error, bytes: sink.bytes)
      }
    }
  }

  private func makeEngine() -> TransferEngine { TransferEngine(environment: { _ in nil }) }

  @Test func `a server is trusted by its own authority, and by no other`() async throws {
    let server = try await TLSServer()
    let engine = makeEngine()
    #expect(await answer(server, "/x", engine: engine).bytes == Array("/x".utf8))
    let strange = await answer(server, "/x", engine: engine) { $0.ca = nil }
    #expect(strange.code == "tls.untrusted" && strange.fault?.kind == .auth)
    // The connection that is open by now belongs to those who trust it.
    #expect(await answer(server, "/y", engine: engine).bytes == Array("/y".utf8))
    #expect(await answer(server, "/y", engine: engine) { $0.ca = "/nonexistent" }.code == "config.tls")
  }

  @Test func `a certificate that has expired has a code of its own`() async throws {
    let server = try await TLSServer(hasExpired: true)
    let outcome = await answer(server, "/x", engine: makeEngine())
    #expect(outcome.code == "tls.expired" && outcome.fault?.kind == .auth)
  }

  @Test func `a client's certificate says who asks, and only where it is shown`() async throws {
    let server = try await TLSServer()
    let engine = makeEngine()
    func named(_ way: inout HostWay) { (way.certificate, way.key) = (server.client.certificate, server.client.key) }
    #expect(await answer(server, "/me", engine: engine).code == "http.403")
    #expect(await answer(server, "/me", engine: engine, named).bytes == Array("CN=client".utf8))
    #expect(await answer(server, "/me", engine: engine).code == "http.403")
  }

  @Test func `HTTP 2 carries many requests on one connection, and HTTP 1 is spoken where it is asked for`() async throws
  {
    let server = try await TLSServer()
    func connections(_ version: HostWay.Version) async throws -> Set<[UInt8]> {
      let engine = makeEngine()
      let first = await answer(server, "/proto", engine: engine) { $0.version = version }
      #expect(first.result?.version == (version == .one ? "1.1" : "2"), "\(first.fault?.message ?? "")")
      return await withTaskGroup(of: [UInt8].self) { group in
        for number in 0..<40 {
          group.addTask { await answer(server, "/connection/\(number)", engine: engine) { $0.version = version }.bytes }
        }
        return await group.reduce(into: []) { $0.insert($1) }
      }
    }
    #expect(try await connections(.automatic).count == 1)
    #expect(try await connections(.two).count == 1)
    _ = try await connections(.one)
  }

  @Test func `a redirect does not go down to http`() async throws {
    let plain = try LoopbackServer { _ in .ok("plain") }
    let server = try await TLSServer()
    let outcome = await answer(server, "/down?port=\(plain.port)", engine: makeEngine())
    #expect(outcome.code == "redirect.refused" && outcome.fault?.message.contains("down to http") == true)
    #expect(outcome.bytes == [] && plain.requests.isEmpty)
    // Up is fine, though nobody is there.
    let up = try LoopbackServer { _ in .redirect(to: "https://127.0.0.1:1/") }
    #expect(await perform(up.url).code == "net.refused")
  }

  @Test func `two hundred requests at once share four connections`() async throws {
    let server = try await TLSServer()
    let engine = makeEngine()
    // The first finds out that HTTP/2 is spoken.
    #expect(await answer(server, "/proto", engine: engine).bytes == Array("HTTP/2.0".utf8))
    let connections = await withTaskGroup(of: [UInt8].self) { group in
      for _ in 0..<200 { group.addTask { await answer(server, "/connection", engine: engine).bytes } }
      return await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
    }
    #expect(connections.count <= 4)
    #expect(!connections.contains([]))
  }

  @Test func `connections that the server ends, and few streams on each, let all requests through`() async throws {
    for directives in ["keepalive_requests 7;", "http2_max_concurrent_streams 3;"] {
      let server = try await TLSServer(directives: directives)
      let engine = makeEngine()
      // The first finds out that HTTP/2 is spoken.
      #expect(await answer(server, "/proto", engine: engine).bytes == Array("HTTP/2.0".utf8))
      let wrong = await withTaskGroup(of: String?.self) { group in
        for number in 0..<60 {
          group.addTask {
            // A request that meets the end of its connection may pass, and is a try of its own.
            for _ in 0..<5 {
              let outcome = await answer(server, "/n/\(number)", engine: engine)
              guard let fault = outcome.fault else {
                return outcome.bytes == Array("/n/\(number)".utf8) ? nil : "\(number) has other bytes"
              }
              if fault.kind != .transient { return "\(number): \(fault.code) \(fault.message)" }
            }
            return "\(number) fails five times"
          }
        }
        return await group.reduce(into: [String]()) { if let words = $1 { $0.append(words) } }
      }
      #expect(wrong == [], "\(directives)")
    }
  }

  @Test func `a tunnel of a proxy carries it whole, and either side gets its own credentials`() async throws {
    let server = try await TLSServer()
    let proxy = try TunnelProxy()
    let engine = makeEngine()
    // Once it answers by itself, it has started.
    #expect(await answer(server, "/x", engine: makeEngine()).bytes == Array("/x".utf8))
    var way = HostWay()
    way.ca = server.authority
    way.proxy = "http://me:pass@127.0.0.1:\(proxy.port)"
    var wanted = TransferRequest(url: server.url + "/asked", addresses: AddressPolicy(allowsPrivate: true)) {
      [way] _, _ in way
    }
    wanted.credentials.bearer = "b34r3r"
    let sink = MemorySink()
    let result = try await engine.perform(wanted, into: sink)
    #expect(String(decoding: sink.bytes, as: UTF8.self) == "Bearer b34r3r|")
    #expect(result.version == "2")
    #expect(proxy.requests.map(\.target) == [String(server.url.dropFirst(8))])
    #expect(proxy.requests.first?.header("Proxy-Authorization") == "Basic " + Base64.encode(Array("me:pass".utf8)))
    #expect(proxy.requests.first?.header("Authorization") == nil)
    // A tunnel to where nobody listens.
    let closed = try LoopbackServer { _ in .ok("x") }
    let port = closed.port
    closed.stop()
    let lost = TransferRequest(url: "https://127.0.0.1:\(port)/", addresses: AddressPolicy(allowsPrivate: true)) {
      [way] _, _ in way
    }
    await #expect { _ = try await engine.perform(lost, into: MemorySink()) } throws: {
      ($0 as? Fault)?.code == "http.502"
    }
  }
}
