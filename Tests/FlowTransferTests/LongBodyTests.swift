import FlowBase
import FlowTesting
import FlowTransfer
import Testing

/// Bodies that are so long that their connections rest, to let others have their turn.
struct LongBodyTests {
  /// After so many bytes a connection rests.
  private static let turn = 512 * 1024

  /// How a server tells where a body ends.
  enum Form: CaseIterable {
    case length, chunks, close, packed

    func response(_ body: [UInt8]) -> LoopbackServer.Response {
      switch self {
      case .length: .ok(body)
      case .chunks: .ok(body).chunked(of: 70_000)
      case .close: .ok(body).untilClose()
      case .packed: .ok(body).gzipped()
      }
    }
  }

  /// Lengths around whole turns, where the last byte comes just before a rest, with it, or behind it.
  private static let lengths = [turn - 1, turn, turn + 1, 2 * turn, 3 * turn + 1, 9 * turn]

  @Test(arguments: Form.allCases)
  func `arrive whole, whatever their length and however it is told, several at once`(form: Form) async throws {
    let bodies = Self.lengths.map { LoopbackServer.pattern($0, from: $0) }
    let server = try LoopbackServer { form.response(bodies[Int($0.path.dropFirst()) ?? 0]) }
    let engine = TransferEngine(loops: 1, environment: { _ in nil })
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<(3 * bodies.count) {
        let place = number % bodies.count
        group.addTask {
          let sink = MemorySink()
          let result = try await engine.perform(request("\(server.url)/\(place)"), into: sink)
          return result.status == 200 && sink.bytes == bodies[place]
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
  }

  @Test func `arrive whole beside a limit on how fast they may come`() async throws {
    let bodies = Self.lengths.map { LoopbackServer.pattern($0, from: $0) }
    let server = try LoopbackServer { .ok(bodies[Int($0.path.dropFirst()) ?? 0]) }
    let engine = TransferEngine(loops: 1, environment: { _ in nil })
    // All of it in about half a second: both rest, the ones for the others and all for the limit.
    engine.setBandwidth(20_000_000)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for place in bodies.indices {
        group.addTask {
          let sink = MemorySink()
          _ = try await engine.perform(request("\(server.url)/\(place)"), into: sink)
          return sink.bytes == bodies[place]
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
  }

  @Test(arguments: Form.allCases, [LoopbackServer.Response.Ending.close, .reset])
  func `that are cut off behind a rest are truncated, and what came is right`(
    form: Form, how: LoopbackServer.Response.Ending
  ) async throws {
    // One whose end is told by nothing else is whole where its connection ends in order.
    if case (.close, .close) = (form, how) { return }
    let body = LoopbackServer.pattern(4 * Self.turn)
    // What is packed is shorter than what is cut off.
    let cut = form == .packed ? 1000 : 2 * Self.turn + 1000
    let server = try LoopbackServer { _ in form.response(body).ending(how, after: cut) }
    let outcome = await perform(server.url)
    #expect(outcome.fault?.kind == .transient, "\(outcome.code ?? "none")")
    #expect(outcome.bytes.count < body.count && outcome.bytes == Array(body.prefix(outcome.bytes.count)))
  }

  @Test(arguments: [turn - 1, turn, turn + 1, 2 * turn + 5])
  func `of which a sink takes no more get it no more`(limit: Int) async throws {
    let body = LoopbackServer.pattern(6 * Self.turn)
    let server = try LoopbackServer { _ in .ok(body) }
    let outcome = await perform(request(server.url), sink: MemorySink(failingAfter: limit))
    #expect(outcome.code == "disk.full")
    // What came over the limit is one piece; nothing follows it.
    #expect(outcome.bytes.count > limit && outcome.bytes.count <= limit + 128 * 1024)
    #expect(outcome.bytes == Array(body.prefix(outcome.bytes.count)))
  }
}
