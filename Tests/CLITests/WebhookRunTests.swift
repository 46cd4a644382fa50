import FlowBase
import FlowParts
import FlowTesting
import Glibc
import Testing

/// A receiver that behaves as it is told, and remembers what it has taken.
final class Receiver: Sendable {
  struct Taken: Sendable {
    var id: String
    var events: [Value]
  }

  private struct State {
    var behaviour: @Sendable (Int) -> LoopbackServer.Response? = { _ in nil }
    var asked = 0
    var attempts: [(id: String, body: [UInt8])] = []
    var taken: [Taken] = []
    var requests: [LoopbackServer.Request] = []
  }

  private let state = Guarded(State())

  /// From now on the answers are these, by the number of the request; nil takes it.
  func behave(_ behaviour: @escaping @Sendable (Int) -> LoopbackServer.Response?) {
    state.withLock { state in
      state.behaviour = behaviour
      state.asked = 0
    }
  }

  func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
    state.withLock { state in
      state.asked += 1
      let id = request.header("webhook-id") ?? ""
      state.attempts.append((id, request.body))
      if let refusal = state.behaviour(state.asked) { return refusal }
      state.taken.append(Taken(id: id, events: Receiver.events(request.body)))
      state.requests.append(request)
      return .status(204)
    }
  }

  /// The events of a body in any form.
  static func events(_ body: [UInt8]) -> [Value] {
    guard let value = try? JSONReader.read(body) else { return [] }
    let data = value.asMap?["timestamp"] == nil ? value : value.asMap?["data"] ?? .null
    return data.asList ?? [data]
  }

  var taken: [Taken] { state.withLock { $0.taken } }
  var requests: [LoopbackServer.Request] { state.withLock { $0.requests } }
  /// The bodies that came under each id.
  var bodies: [String: Set<[UInt8]>] {
    state.withLock { state in
      state.attempts.reduce(into: [:]) { $0[$1.id, default: []].insert($1.body) }
    }
  }
  /// Every event that was taken, as run and place in it.
  var seen: Set<String> { Set(taken.flatMap(\.events).map(Receiver.name)) }

  static func name(_ event: Value) -> String {
    "\(event.asMap?["run"]?.text ?? "?")-\(event.asMap?["seq"]?.text ?? "?")"
  }
}

/// The events of a stream that must not be lost, by run and place.
private func kept(_ stream: Stream) -> Set<String> {
  Set(
    stream.lines.filter { !["run.progress", "item.progress"].contains($0.asMap?["type"]?.asString ?? "") }
      .map(Receiver.name))
}

@Suite(.serialized) struct WebhookRunTests {
  private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  private func workplace(_ receiver: Receiver, _ hook: String = "", count: Int = 60, beside: String = "") throws
    -> Workplace
  {
    var work = try Workplace { request in
      request.path == "/hook" ? receiver.answer(request) : .ok(Workplace.body(request.path))
    }
    work.tool.environment["HOOK"] = Self.secret
    try work.manifest(
      (0..<count).map { "/small/\($0)" }, "secrets: { HOOK: {} }\nlimits: { connections: 4 }",
      more: """
        sinks:
          - webhook: { url: "\(work.server.url)/hook", secret: "${secret.HOOK}", waits: [40ms], \(hook) }
        \(beside.isEmpty ? "" : "    " + beside)
        """)
    return work
  }

  /// What is left in the spool of the webhook.
  private func left(_ work: Workplace) -> [String] {
    work.files(".imgflow/m/spool/webhook").filter { !$0.hasPrefix("dead-letters") }
  }

  @Test func `a run tells its receiver everything, in order, signed, and leaves nothing`() async throws {
    let receiver = Receiver()
    let work = try workplace(receiver)
    let end = try await work.tool.run("run", "m.yaml")
    expectEnd(end, 0)
    #expect(kept(end.stream).subtracting(receiver.seen) == [])
    let seqs = receiver.taken.flatMap(\.events).compactMap { $0.asMap?["seq"]?.asInt }
    #expect(seqs == seqs.sorted())
    #expect(receiver.taken.allSatisfy { $0.events.count <= 100 })
    #expect(left(work) == [])
    #expect(receiver.requests.allSatisfy { $0.header("webhook-signature")?.hasPrefix("v1,") == true })
  }

  @Test(.timeLimit(.minutes(3)))
  func `whatever the receiver does, and however often imgflow is killed, everything arrives`() async throws {
    let receiver = Receiver()
    let work = try workplace(receiver, "batch: { events: 7, wait: 20ms }, timeout: 200ms, drain: 2s")
    var told: Set<String> = []
    for fatal in [15, 70] {
      let running = Guarded<ToolRun?>(nil)
      receiver.behave { number in
        switch number % 4 {
        case 0: .status(500)
        case 1: .silence
        case 2: fatal == 15 ? .reset : .tooMany(retryAfter: "0")
        default: fatal == 15 ? nil : .redirect(to: "/elsewhere")
        }
      }
      let run = try work.tool.start(["run", "m.yaml", "--fresh"])
      running.withLock { $0 = run }
      let lines = Guarded(0)
      run.output.watch { _ in
        let isFatal = lines.withLock { count in
          count += 1
          return count == fatal
        }
        if isFatal { run.signal(SIGKILL) }
      }
      let killed = await run.end()
      #expect(killed.code == 137)
      told.formUnion(kept(killed.stream))
    }
    receiver.behave { _ in .status(410) }
    let gone = try await work.tool.run("run", "m.yaml", "--fresh")
    expectEnd(gone, 0)
    #expect(gone.stream.all("sink.error").compactMap { $0["error"]?.asMap?["code"]?.asString } == ["sink.gone"])
    told.formUnion(kept(gone.stream))
    #expect(left(work).isEmpty == false)

    // The last one has time: what is asked is what arrives, not how soon, on however busy a machine.
    receiver.behave { _ in nil }
    let hurried = "timeout: 200ms, drain: 2s"
    let patient = try work.read("m.yaml").replacing(hurried, with: "timeout: 20s, drain: 60s")
    try work.write("m.yaml", patient)
    let last = try await work.tool.run("run", "m.yaml")
    expectEnd(last, 0)
    told.formUnion(kept(last.stream))
    #expect(told.subtracting(receiver.seen) == [])
    #expect(told.count > 150)
    // Under one id always came the same bytes, and what was taken was taken once.
    #expect(receiver.bodies.values.allSatisfy { $0.count == 1 })
    #expect(Set(receiver.taken.map(\.id)).count == receiver.taken.count)
    #expect(left(work) == [])
    // Runs came one after the other, and each in its order.
    let order = receiver.taken.flatMap(\.events).map(Receiver.name)
    let runs = order.map { String($0.prefix(10)) }
    #expect(runs == runs.sorted())
  }

  @Test func `what a run could not deliver is sent by flush, under the same ids`() async throws {
    let receiver = Receiver()
    receiver.behave { _ in .status(503) }
    let work = try workplace(receiver, "drain: 300ms", count: 5)
    let end = try await work.tool.run("run", "m.yaml")
    expectEnd(end, 0)
    #expect(end.errors.contains("imgflow flush"))
    let tried = Set(receiver.bodies.keys)
    let early = try await work.tool.run("flush", "m.yaml", "--deadline", "200ms")
    #expect(early.code == 1)
    #expect(early.errors.contains("are left"))

    receiver.behave { _ in nil }
    let flush = try await work.tool.run("flush", "m.yaml", "--deadline", "60s")
    #expect(flush.code == 0, "\(flush.errors)")
    #expect(flush.output.contains("webhook: sent "))
    #expect(kept(end.stream).subtracting(receiver.seen) == [])
    #expect(tried.isSubset(of: Set(receiver.taken.map(\.id))))
    #expect(left(work) == [])
    let again = try await work.tool.run("flush", "m.yaml", "--json")
    #expect(again.code == 0 && again.output.contains(#""sent":0"#))
  }

  @Test func `a receiver that is not there yet gets everything once it is, and slows no download meanwhile`()
    async throws
  {
    let receiver = Receiver()
    let first = try LoopbackServer { _ in .status(204) }
    let port = first.port
    first.stop()
    let late = Guarded<LoopbackServer?>(nil)
    let work = try Workplace { request in
      // Connections to the receiver are refused until the files are nearly through.
      if request.path == "/small/50" {
        late.withLock { $0 = try? LoopbackServer(port: port) { receiver.answer($0) } }
      }
      return .ok(Workplace.body(request.path))
    }
    var tool = work.tool
    tool.environment["HOOK"] = Self.secret
    try work.manifest(
      (0..<60).map { "/small/\($0)" }, "secrets: { HOOK: {} }\nlimits: { connections: 1 }",
      more: """
        sinks:
          - webhook:
              { url: "http://127.0.0.1:\(port)/hook", secret: "${secret.HOOK}", waits: [20ms], batch: { events: 9, wait: 10ms } }
        """)
    let end = try await tool.start(["run", "m.yaml"]).end()
    expectEnd(end, 0)
    #expect(late.withLock { $0 } != nil)
    #expect(kept(end.stream).subtracting(receiver.seen) == [])
    #expect(Set(receiver.taken.map(\.id)).count == receiver.taken.count)
    #expect(left(work) == [])
    late.withLock { $0 }?.stop()
  }

  @Test func `a receiver that never answers does not hold up the downloads`() async throws {
    let receiver = Receiver()
    receiver.behave { _ in .silence }
    let work = try Workplace { request in
      request.path == "/hook"
        ? receiver.answer(request) : .ok(Workplace.body(request.path)).delayed(by: .milliseconds(20))
    }
    var tool = work.tool
    tool.environment["HOOK"] = Self.secret
    /// How long it takes until the last item has ended, in milliseconds.
    func time(_ sinks: String) async throws -> Double {
      try work.manifest(
        (0..<100).map { "/small/\($0)" }, "secrets: { HOOK: {} }\nlimits: { connections: 2 }", more: sinks)
      let end = try await tool.start(["run", "m.yaml", "--fresh"]).end()
      expectEnd(end, 0)
      return end.stream.lines.filter { $0.asMap?["type"]?.asString == "item.end" }
        .compactMap { $0.asMap?["ms"]?.asDouble }.max() ?? 0
    }
    let hook = """
      sinks:
        - webhook: { url: "\(work.server.url)/hook", secret: "${secret.HOOK}", drain: 10ms, batch: { events: 5, wait: 10ms } }
      """
    // Each beside one without, since the machine may be busy with something else; one fair pair is enough. The network
    // is what takes the time, also under a sanitizer; what it costs otherwise is measured by `make bench`. Had anything
    // waited for the receiver, it would take many times as long.
    var pairs: [(bare: Double, hooked: Double)] = []
    while pairs.count < 4, !pairs.contains(where: { $0.hooked <= $0.bare * 1.3 }) {
      pairs.append((bare: try await time(""), hooked: try await time(hook)))
    }
    #expect(pairs.contains { $0.hooked <= $0.bare * 1.3 }, "\(pairs)")
  }

  @Test func `a required receiver that takes nothing fails the run with 4`() async throws {
    let receiver = Receiver()
    receiver.behave { _ in .status(500) }
    let work = try workplace(receiver, "drain: 200ms", count: 3, beside: "required: true")
    let end = try await work.tool.run("run", "m.yaml")
    expectEnd(end, 4)
    #expect(work.files().count == 3)
    receiver.behave { _ in nil }
    #expect(try await work.tool.run("flush", "m.yaml", "--deadline", "60s").code == 0)
    #expect(kept(end.stream).subtracting(receiver.seen) == [])
  }

  @Test func `what a receiver refuses is put aside, and the rest goes on`() async throws {
    let receiver = Receiver()
    receiver.behave { $0 <= 3 ? .status(400) : nil }
    let work = try workplace(receiver, "batch: { events: 5, wait: 10ms }", count: 20)
    let end = try await work.tool.run("run", "m.yaml")
    expectEnd(end, 0)
    let letters = try work.read(".imgflow/m/spool/webhook/dead-letters.ndjson").split(separator: "\n")
    #expect(letters.count == 1)
    let letter = try #require(try JSONReader.read(Array(letters[0].utf8)).asMap)
    let put = Set(Receiver.events(Array((letter["body"]?.asString ?? "").utf8)).map(Receiver.name))
    #expect(kept(end.stream).subtracting(receiver.seen).subtracting(put) == [])
    #expect(left(work) == [])
  }

  @Test func `a filter holds for the receiver, and the secret is nowhere to be read`() async throws {
    let receiver = Receiver()
    receiver.behave { _ in .status(500) }
    let work = try workplace(receiver, "drain: 100ms, format: native", count: 3, beside: "events: [item.end]")
    let end = try await work.tool.run("run", "m.yaml", "-vv")
    #expect(!end.errors.contains("MfKQ9r8") && !end.output.contains("MfKQ9r8"))
    for name in work.files(".imgflow") where !name.contains("sqlite") {
      #expect(
        !String(decoding: try SmallFiles.read(work.place.file(".imgflow/\(name)")), as: UTF8.self).contains("MfKQ9r8"))
    }
    receiver.behave { _ in nil }
    #expect(try await work.tool.run("flush", "m.yaml", "--deadline", "60s").code == 0)
    let types = receiver.taken.flatMap(\.events).compactMap { $0.asMap?["type"]?.asString }
    #expect(types == ["stream.start", "item.end", "item.end", "item.end", "run.end"])
  }

  @Test(
    .enabled(if: Python.isThere, "`tools/python-checks` has made no Python environment"),
    arguments: ["standard", "cloudevents"])
  func `the public libraries take the signatures and the bodies`(format: String) async throws {
    let receiver = Receiver()
    let work = try workplace(receiver, "format: \(format), batch: { events: 9 }", count: 20)
    let end = try await work.tool.run("run", "m.yaml")
    expectEnd(end, 0)
    let lines = receiver.requests.map { request in
      var writer = JSONWriter()
      let headers = Fields(
        names: request.headers.map { $0.name.lowercased() }, values: request.headers.map { .string($0.value) })
      writer.value(["headers": .map(headers), "body": .string(String(decoding: request.body, as: UTF8.self))])
      return writer.text + "\n"
    }
    try work.write("requests.ndjson", lines.joined())
    let checked = try await Python.run("verify_webhooks.py", [Self.secret], input: "requests.ndjson", in: work)
    #expect(checked.code == 0, "\(checked.errors)")
    #expect(Int(checked.output.filter(\.isNumber)) == receiver.taken.reduce(0) { $0 + $1.events.count })
  }
}
