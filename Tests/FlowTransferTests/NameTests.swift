import FlowBase
import FlowTesting
import Testing

@testable import FlowTransfer

/// What made-up resolvers were asked.
private final class Book: Sendable {
  private let asked = Guarded<[String]>([])
  var names: [String] { asked.withLock { $0 } }
  func note(_ name: String) -> Int {
    asked.withLock { asked in
      asked.append(name)
      return asked.count
    }
  }
}

private func addresses(_ texts: String...) -> NameAnswer {
  .addresses(texts.compactMap { NetworkAddress(parsing: $0) })
}

struct `Names` {
  private let book = Book()

  private func engine(_ answer: @escaping @Sendable (Int, String) -> NameAnswer) -> TransferEngine {
    TransferEngine(environment: { _ in nil }) { [book] name in answer(book.note(name), name) }
  }

  private func outcome(
    _ engine: TransferEngine, _ url: String, _ change: (inout TransferRequest) -> Void = { _ in }
  ) async -> Outcome {
    let sink = MemorySink()
    do throws(Fault) {
      return Outcome(result: try await engine.perform(request(url, change), into: sink), bytes: sink.bytes)
    } catch {
      return Outcome(fault: error, bytes: sink.bytes)
    }
  }

  @Test func `are resolved once for many requests`() async throws {
    let server = try LoopbackServer { .ok($0.header("Host") ?? "") }
    let engine = engine { _, _ in addresses("127.0.0.1") }
    let right = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<50 {
        group.addTask {
          let url = "http://gallery.test:\(server.port)/\(number)"
          return await outcome(engine, url).bytes == Array("gallery.test:\(server.port)".utf8)
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(right == 50)
    #expect(book.names == ["gallery.test"])
  }

  @Test func `that do not exist are told from those that nobody can say`() async throws {
    let engine = engine { _, name in name == "none.test" ? .missing : .unknown("try again") }
    let none = await outcome(engine, "http://none.test/")
    #expect(none.code == "dns.nxdomain" && none.fault?.kind == .permanent && none.fault?.host == "none.test")
    let unknown = await outcome(engine, "http://unknown.test/")
    #expect(unknown.code == "dns.temporary" && unknown.fault?.kind == .transient)
    #expect(book.names == ["none.test", "unknown.test"])
  }

  @Test func `lead to the next address where one is refused or dead`() async throws {
    let server = try LoopbackServer { _ in .ok("here") }
    let engine = engine { _, _ in addresses("10.255.255.1", "127.0.0.9", "127.0.0.1") }
    let range = try #require(AddressRange(parsing: "127.0.0.0/8"))
    let result = await outcome(engine, "http://several.test:\(server.port)/") {
      $0.addresses = AddressPolicy(ranges: [range])
    }
    #expect(result.bytes == Array("here".utf8), "\(result.fault?.message ?? "")")
  }

  @Test func `whose first addresses took no connection begin with the others in the next try`() async throws {
    let names = NameResolver { name in
      name == "one.test" ? addresses("10.0.0.1") : addresses("10.0.0.1", "10.0.0.2", "::1")
    }
    func ask(_ name: String) async -> NameAnswer {
      await withCheckedContinuation { continuation in
        if let known = names.resolve(name, { continuation.resume(returning: $0) }) {
          continuation.resume(returning: known)
        }
      }
    }
    #expect(await ask("several.test") == addresses("10.0.0.1", "10.0.0.2", "::1"))
    names.passOver("several.test")
    #expect(await ask("several.test") == addresses("10.0.0.2", "::1", "10.0.0.1"))
    names.passOver("one.test")
    #expect(await ask("one.test") == addresses("10.0.0.1"))
    names.passOver("one.test")
    #expect(await ask("one.test") == addresses("10.0.0.1"))
  }

  @Test func `that lead inside are refused, although the literal address beside them is allowed`() async throws {
    let server = try LoopbackServer { _ in .ok("inside") }
    let engine = engine { _, _ in addresses("127.0.0.1") }
    let policy = AddressPolicy(literals: ["127.0.0.1:\(server.port)", "rebind.test:\(server.port)"])
    #expect(await outcome(engine, "http://rebind.test:\(server.port)/") { $0.addresses = policy }.code == "url.blocked")
    #expect(server.requests.isEmpty)
    #expect(await outcome(engine, server.url) { $0.addresses = policy }.fault == nil)
  }

  @Test func `that are rebound do not get a connection that was opened with another's permission`() async throws {
    let server = try LoopbackServer { _ in .ok("inside") }
    let engine = engine { _, _ in addresses("127.0.0.1") }
    let url = "http://rebound.test:\(server.port)/"
    #expect(await outcome(engine, url).fault == nil)
    let refused = await outcome(engine, url) { $0.addresses = AddressPolicy() }
    #expect(refused.code == "url.blocked" && server.requests.count == 1)
  }

  @Test func `that nobody resolves in time hold up no others`() async throws {
    let server = try LoopbackServer { _ in .ok("x") }
    let gate = Mailbox<Bool>()
    let engine = engine { _, name in
      guard name == "slow.test" else { return addresses("127.0.0.1") }
      var letters: [Bool] = []
      gate.take(into: &letters, until: SystemTime().now() + .seconds(20))
      return .missing
    }
    async let slow = outcome(engine, "http://slow.test/") { $0.limits.connect = .milliseconds(200) }
    #expect(await outcome(engine, "http://fast.test:\(server.port)/").fault == nil)
    #expect(await slow.code == "dns.temporary")
    gate.post(true)
  }

  @Test func `of other scripts are asked for, and told to their host, in ASCII`() async throws {
    let server = try LoopbackServer { .ok($0.header("Host") ?? "") }
    let engine = engine { _, _ in addresses("127.0.0.1") }
    let result = await outcome(engine, "http://Bücher.test:\(server.port)/")
    #expect(result.bytes == Array("xn--bcher-kva.test:\(server.port)".utf8), "\(result.fault?.message ?? "")")
    #expect(book.names == ["xn--bcher-kva.test"])
  }

  @Test func `are followed behind redirects`() async throws {
    let server = try LoopbackServer { request in
      request.header("Host")?.hasPrefix("first") == true
        ? .redirect(to: "http://second.test:\(request.header("Host")?.split(separator: ":").last ?? "")/x")
        : .ok("second")
    }
    let engine = engine { _, name in name == "third.test" ? .missing : addresses("127.0.0.1") }
    #expect(await outcome(engine, "http://first.test:\(server.port)/").bytes == Array("second".utf8))
    #expect(book.names == ["first.test", "second.test"])
  }

  @Test func `are not needed for literal addresses of either version`() async throws {
    guard let server = try? LoopbackServer(version6: true, handler: { _ in .ok("six") }) else { return }
    let engine = engine { _, _ in .missing }
    let result = await outcome(engine, "http://[::1]:\(server.port)/")
    #expect(result.bytes == Array("six".utf8) && result.result?.remoteAddress == "::1")
    #expect(server.requests.first?.header("Host") == "[::1]:\(server.port)")
    #expect(book.names.isEmpty)
  }
}
