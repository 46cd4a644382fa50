import FlowBase
import FlowTesting
import Testing

@Suite(.serialized) struct ControlTests {
  /// Items whose answers the latch holds, one request at a time.
  private func held(_ count: Int, by latch: Latch) throws -> Workplace {
    let work = try Workplace { request in
      latch.hold()
      return .ok(Workplace.body(request.path))
    }
    try work.manifest((0..<count).map { "/slow/\($0)" }, "limits: { connections: 1 }")
    return work
  }

  @Test func `a run is paused, resumed and cancelled, and then goes on where it was`() async throws {
    let latch = Latch()
    let work = try held(4, by: latch)
    let run = try work.tool.start(["run", "m.yaml"])
    _ = await run.output.line { $0.contains("\"item.start\"") }
    try expectCode(await work.tool.run("ctl", "last", "resume"), 1)
    try expectCode(await work.tool.run("ctl", "pause"), 0)
    let refused = try await work.tool.run("ctl", "last", "pause")
    #expect(refused.code == 1)
    #expect(refused.errors.contains("control.refused"))
    let status = try await work.tool.run("status")
    #expect(status.code == 0 && status.output.contains("running"))
    try expectCode(await work.tool.run("ctl", "m.yaml", "resume"), 0)
    latch.release()
    _ = await run.output.line { $0.contains("\"item.end\"") }
    try expectCode(await work.tool.run("ctl", "last", "cancel", "--json"), 0)
    let end = await run.end()
    expectEnd(end, 130)
    #expect(end.stream.result == "cancelled")
    let moves = end.stream.all("run.state").compactMap { $0["to"]?.asString }
    #expect(moves.prefix(3) == ["active", "paused", "active"])
    #expect(moves.last == "done")
    #expect(end.stream.all("control").count == 5)
    let over = try await work.tool.run("ctl", "last", "pause")
    #expect(over.code == 1)
    latch.release(10)
    let next = try await work.tool.run("run", "m.yaml")
    expectEnd(next, 0)
    #expect((next.stream.count("cached") ?? 0) >= 1)
    #expect(work.files().count == 4)
  }

  @Test func `one item is cancelled, and the others arrive`() async throws {
    let latch = Latch()
    let work = try held(2, by: latch)
    let run = try work.tool.start(["run", "m.yaml"])
    _ = await run.output.line { $0.contains("\"item.start\"") }
    try expectCode(await work.tool.run("ctl", "last", "cancel", "--item", "urls/nobody"), 1)
    try expectCode(await work.tool.run("ctl", "last", "cancel", "--item", "urls/slow-0"), 0)
    latch.release(10)
    let end = await run.end()
    #expect(end.stream.items("cancelled") == ["urls/slow-0"])
    #expect(end.stream.items("ok") == ["urls/slow-1"])
    #expect(end.stream.problems == [])
    #expect(end.code == end.stream.exit)
    #expect(work.files() == ["slow-1.bin"])
  }

  @Test func `a drained run finishes what it has begun`() async throws {
    let latch = Latch()
    let work = try held(4, by: latch)
    let run = try work.tool.start(["run", "m.yaml"])
    _ = await run.output.line { $0.contains("\"item.start\"") }
    try expectCode(await work.tool.run("ctl", "last", "drain"), 0)
    latch.release(10)
    let end = await run.end()
    expectEnd(end, 130)
    #expect(end.stream.items("ok").count >= 1)
    #expect(end.stream.items("ok").count < 4)
  }

  @Test func `runs and items are found again`() async throws {
    let work = try Workplace()
    try work.manifest(["/small/a", "/none"])
    #expect(try await work.tool.run("status").code == 1)
    let end = try await work.tool.run("run", "m.yaml")
    #expect(end.code == 1)
    let runs = try await work.tool.run("runs", "--json")
    let list = try JSONReader.read(Array(runs.output.utf8)).asMap?["runs"]?.asList ?? []
    #expect(list.count == 1)
    let id = list.first?.asMap?["id"]?.asString ?? ""
    #expect(end.output.contains("\"run\":\"\(id)\""))
    let told = try await work.tool.run("status", id).output
    #expect(told.contains("http.404") && told.contains("such as urls/"))
    let item = try await work.tool.run("status", "last", "urls/small-a")
    #expect(item.output.contains("small-a.bin"))
    #expect(try await work.tool.run("status", "last", "urls/nobody").code == 1)
    #expect(try await work.tool.run("status", "ZZZ").code == 1)
  }
}
