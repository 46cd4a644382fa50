import FlowBase
import FlowEvents
import FlowRun
import FlowTesting
import Testing

/// How runs treat hosts.
@Suite struct CourtesyTests {
  private func addresses(_ range: Range<Int>, _ path: (Int) -> String) -> String {
    "[" + range.map { "\"$URL\(path($0))\"" }.joined(separator: ", ") + "]"
  }

  @Test
  func `A host that allows 25 requests a second gives all 200 files with few refusals, while others go on`()
    async throws
  {
    let budget = RequestBudget(25)
    let scene = try Scene { request in budget.answer(.ok("bytes of \(request.path)")) }
    let other = try LoopbackServer { .ok("other \($0.path)") }
    let trial = try await scene.run(
      """
      sources:
        - { id: strict, urls: \(addresses(0..<200) { "/\($0)" }) }
        - { id: free, urls: [\((0..<200).map { "\"\(other.url)/\($0)\"" }.joined(separator: ", "))] }
      hosts: { "*": { connections: 32 } }
      limits: { connections: 64 }
      stages: [{ fetch: {}, retry: { attempts: 20 } }, { store: "${item.source}/${item.key}" }]
      """)
    #expect(trial.exit == .done && trial.items.ok == 400)
    #expect(budget.refusals <= 10, "\(budget.refusals) refusals")
    // How long that takes is judged by simulation, where no other test takes the time.
    func end(of source: String) -> Int? {
      trial.last { $0.type == .itemEnd && $0.subject?.source == source }
    }
    #expect(try #require(end(of: "free")) < (end(of: "strict") ?? 0))
    let attempts = trial.ends.filter { $0.key.hasPrefix("strict/") }.values.reduce(0) { $0 + $1.attempts }
    #expect(attempts == scene.server.requests.count)
  }

  @Test
  func `Five that misbehave in five ways fail with five codes, and the other 95 arrive`() async throws {
    let scene = try Scene()
    let strange = try LoopbackServer { request in
      switch request.path {
      case "/7": .silence
      case "/23": .generated(100_000).ending(.stall, after: 100)
      case "/42": .generated(100_000).dripping(20, every: .milliseconds(20))
      case "/61": .ok("x").headerBomb(400_000)
      case "/88": .hangUp
      default: .ok("bytes of \(request.path)")
      }
    }
    let bad = [7, 23, 42, 61, 88]
    func text(_ range: [Int]) -> String {
      """
      sources:
        - urls: [\(range.map { "{ url: '\(bad.contains($0) ? strange.url : "$URL")/\($0)', key: k\($0) }" }.joined(separator: ", "))]
      hosts: { "*": { connections: 32 } }
      stages:
        - fetch: { first_byte: 2s, idle: 2500ms }
          timeout: 5s
          retry: { attempts: 1 }
        - store: "${item.key}"
      """
    }
    let trial = try await scene.run(text(Array(0..<100)))
    #expect(trial.items.ok == 95 && trial.items.failed == 5)
    let codes = bad.compactMap { trial.end("k\($0)")?.error?.fault.code }
    #expect(
      codes == [
        "net.timeout.first_byte", "net.timeout.idle", "net.timeout.total", "header.too_large", "net.reset",
      ])
  }

  @Test func `Five that hang make the other 95 wait no tenth longer`() async throws {
    let strange = try LoopbackServer { _ in .silence }
    let scene = try Scene { .ok("bytes of \($0.path)").delayed(by: .milliseconds(40)) }
    let bad = [7, 23, 42, 61, 88]
    /// When the last of the 95 ends, in milliseconds from the start.
    func time(_ numbers: [Int], folder: String) async throws -> Double {
      let rows = numbers.map { "{ url: '\(bad.contains($0) ? strange.url : "$URL")/\($0)', key: k\($0) }" }
      let trial = try await scene.run(
        """
        sources: [{ urls: [\(rows.joined(separator: ", "))] }]
        stages:
          - fetch: { first_byte: 2500ms }
            retry: { attempts: 1 }
          - store: "\(folder)/${item.key}"
        """, options: { $0.fresh = true })
      #expect(trial.items.ok == 95 && trial.items.failed == numbers.count - 95)
      let ends = trial.events.filter {
        if case .itemEnd(let end) = $0.payload { end.status == .ok } else { false }
      }
      return ends.map(\.elapsed.milliseconds).max() ?? 0
    }
    // Beside one another, since the machine may be busy with something else; one fair pair is enough.
    var pairs: [(alone: Double, beside: Double)] = []
    while pairs.count < 4, !pairs.contains(where: { $0.beside <= $0.alone * 1.1 }) {
      pairs.append(
        (
          alone: try await time(Array(0..<100).filter { !bad.contains($0) }, folder: "a"),
          beside: try await time(Array(0..<100), folder: "b")
        ))
    }
    #expect(pairs.contains { $0.beside <= $0.alone * 1.1 }, "\(pairs)")
  }

  @Test func `A host's robots txt is asked for once, and heeded`() async throws {
    let scene = try Scene { request in
      request.path == "/robots.txt"
        ? .ok("User-agent: *\nDisallow: /private\nAllow: /private/open\nDisallow: /*.gif$\n") : .ok("x")
    }
    let trial = try await scene.run(
      """
      sources: [{ urls: ["$URL/a", "$URL/private/x", "$URL/private/open/y", "$URL/z.gif", "$URL/z.gif?n=1"] }]
      hosts: { "127.0.0.1": { robots: true } }
      stages: [fetch, store]
      """)
    #expect(trial.items.ok == 3 && trial.items.failed == 2)
    #expect(trial.ends.values.compactMap { $0.error?.fault.code } == ["robots.disallowed", "robots.disallowed"])
    #expect(scene.server.requests(for: "/robots.txt").count == 1)
    #expect(scene.server.requests(for: "/private/x").isEmpty && scene.server.requests(for: "/z.gif").count == 1)
  }

  @Test func `A robots txt without an end is read as far as it counts`() async throws {
    let rules = "User-agent: *\nDisallow: /private\n" + String(repeating: "# and so on\n", count: 50_000)
    let scene = try Scene { request in
      request.path == "/robots.txt"
        ? .ok(Array(rules.utf8)).announcing(1 << 40).ending(.stall, after: rules.utf8.count) : .ok("x")
    }
    let trial = try await scene.run(
      """
      sources: [{ urls: ["$URL/a", "$URL/private/x"] }]
      hosts: { "127.0.0.1": { robots: true } }
      stages: [fetch, store]
      """)
    #expect(trial.items.ok == 1 && trial.outcome.elapsed < .seconds(20))
    #expect(trial.ends.values.compactMap { $0.error?.fault.code } == ["robots.disallowed"])
  }

  @Test(arguments: [(404, 1, 0), (403, 1, 0), (500, 0, 1)])
  func `A robots txt that is not there forbids nothing, one that cannot be had everything`(
    status: Int, ok: Int, failed: Int
  ) async throws {
    let scene = try Scene { $0.path == "/robots.txt" ? .status(status) : .ok("x") }
    let trial = try await scene.run(
      """
      sources: [{ urls: ["$URL/a"] }]
      hosts: { "127.0.0.1": { robots: true } }
      stages: [{ fetch: {}, retry: { attempts: 2, backoff: 1ms } }, store]
      """)
    #expect(trial.items.ok == ok && trial.items.failed == failed)
  }

  @Test func `A server that never ends its interim answers sends no first byte`() async throws {
    let scene = try Scene { _ in .ok("x").precededBy(interim: 10_000, every: .milliseconds(5)) }
    let trial = try await scene.run(
      """
      sources: [{ urls: ["$URL/a"] }]
      stages: [{ fetch: { first_byte: 300ms }, retry: { attempts: 1 } }, store]
      """)
    #expect(trial.ends.values.first?.error?.fault.code == "net.timeout.first_byte")
  }
}
