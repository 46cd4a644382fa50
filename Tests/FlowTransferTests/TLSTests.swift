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
    let server = try LoopbackServer { _ in .redirect(to: "https://127.0.0.1:1/") }
    // Up is fine, though nobody is there.
    #expect(await perform(server.url).code == "net.refused")
    #expect(plain.requests.isEmpty)
  }
}
