import FlowBase
import FlowTesting
import Testing

/// `imgflow ctl` on parts of a run, and with new limits.
@Suite(.serialized) struct SteeringTests {
  private static let body = [UInt8](repeating: UInt8(ascii: "x"), count: 100_000)

  @Test func `a pause at once keeps what has come, and the transfer goes on from there`() async throws {
    let work = try Workplace { request in
      var response = LoopbackServer.Response.ok(Self.body).header("ETag", "\"v1\"").header("Accept-Ranges", "bytes")
      if let range = request.header("Range"), let from = Int(range.dropFirst("bytes=".count).dropLast()) {
        response = .ok(Array(Self.body[from...])).header("ETag", "\"v1\"")
        response.status = 206
        return response.header("Content-Range", "bytes \(from)-\(Self.body.count - 1)/\(Self.body.count)")
      }
      return response.dripping(100, every: .milliseconds(20))
    }
    try work.manifest(["/large"], fetch: "fetch: {}\n    timeout: 300s")
    let run = try work.tool.start(["run", "m.yaml"])
    _ = await run.output.line { line in
      guard line.contains("\"item.progress\""), let value = try? JSONReader.read(Array(line.utf8)) else { return false }
      return (value.asMap?["data"]?.asMap?["bytes"]?.asInt ?? 0) > 0
    }
    try expectCode(await work.tool.run("ctl", "last", "pause", "--now"), 0)
    try expectCode(await work.tool.run("ctl", "last", "resume"), 0)
    let end = await run.end()
    expectEnd(end, 0)
    #expect(try SmallFiles.read(work.place.file("out/large.bin")) == Self.body)
    let asked = work.server.requests
    #expect(asked.count == 2)
    let range = asked.last?.header("Range") ?? ""
    #expect(range.hasPrefix("bytes=") && range != "bytes=0-")
    // The requests that were made are the attempts that are told, and none of them failed.
    #expect(end.stream.all("item.end").first?["attempts"]?.asInt == 2)
    #expect(end.stream.all("item.retry").isEmpty)
  }

  @Test func `what a pause at once has stopped is not at work`() async throws {
    let latch = Latch()
    let work = try Workplace { request in
      latch.hold()
      return .ok(Self.body)
    }
    try work.manifest(["/large"], fetch: "fetch: {}\n    timeout: 300s")
    let run = try work.tool.start(["run", "m.yaml"])
    _ = await run.output.line { $0.contains("\"item.start\"") }
    try expectCode(await work.tool.run("ctl", "last", "pause", "--now"), 0)
    _ = await run.output.line { $0.contains("\"run.state\"") && $0.contains("\"to\":\"paused\"") }
    let progress = await run.output.line { $0.contains("\"run.progress\"") } ?? ""
    #expect(progress.contains("\"stages\":{}"), "\(progress)")
    latch.release(2)
    try expectCode(await work.tool.run("ctl", "last", "resume"), 0)
    expectEnd(await run.end(), 0)
  }

  @Test(arguments: ["--source urls", "--stage fetch", "--host 127.0.0.1", "--item urls/slow-1"])
  func `a part of a run is paused and goes on`(part: String) async throws {
    let latch = Latch()
    let work = try Workplace { request in
      if request.path == "/slow/0" { latch.hold() }
      return .ok(Workplace.body(request.path))
    }
    try work.manifest((0..<3).map { "/slow/\($0)" }, "limits: { connections: 1 }")
    let run = try work.tool.start(["run", "m.yaml"])
    _ = await run.output.line { $0.contains("\"item.start\"") }
    let words = part.split(separator: " ").map(String.init)
    let paused = try await work.tool.start(["ctl", "last", "pause"] + words).end()
    #expect(paused.code == 0, "\(paused.errors)")
    #expect(try await work.tool.start(["ctl", "last", "pause"] + words).end().code == 1)
    latch.release()
    _ = await run.output.line { $0.contains("\"item.progress\"") && $0.contains("urls/slow-0") }
    #expect(!work.server.requests.contains { $0.path == "/slow/1" })
    #expect(try await work.tool.start(["ctl", "last", "resume"] + words).end().code == 0)
    expectEnd(await run.end(), 0)
    #expect(work.files().count == 3)
  }

  @Test func `what there is not cannot be steered, and no two parts at once`() async throws {
    let latch = Latch()
    let work = try Workplace { request in
      latch.hold()
      return .ok(Workplace.body(request.path))
    }
    try work.manifest(["/slow/0"])
    let run = try work.tool.start(["run", "m.yaml"])
    _ = await run.output.line { $0.contains("\"item.start\"") }
    for words in [["--source", "nobody"], ["--stage", "nobody"], ["--item", "nobody"]] {
      let refused = try await work.tool.start(["ctl", "last", "pause"] + words).end()
      #expect(refused.code == 1 && refused.errors.contains("nobody"))
    }
    try expectCode(await work.tool.run("ctl", "last", "pause", "--source", "urls", "--stage", "fetch"), 2)
    try expectCode(await work.tool.run("ctl", "last", "drain", "--now"), 2)
    try expectCode(await work.tool.run("ctl", "last", "set"), 2)
    try expectCode(await work.tool.run("ctl", "last", "set", "connections=none"), 1)
    latch.release(5)
    expectEnd(await run.end(), 0)
  }

  @Test(arguments: ["drain", "cancel"])
  func `a source that is ended leaves the rest to the next run`(verb: String) async throws {
    let latch = Latch()
    let work = try Workplace { request in
      latch.hold()
      return .ok(Workplace.body(request.path))
    }
    try work.manifest((0..<4).map { "/slow/\($0)" }, "limits: { connections: 1 }")
    let run = try work.tool.start(["run", "m.yaml"])
    _ = await run.output.line { $0.contains("\"item.start\"") }
    try expectCode(await work.tool.run("ctl", "last", verb, "--source", "urls"), 0)
    latch.release(20)
    let end = await run.end()
    expectEnd(end, 130)
    #expect(end.stream.result == "cancelled")
    #expect(end.stream.items("ok").count == (verb == "drain" ? 1 : 0))
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    #expect(work.files().count == 4)
  }

  @Test func `limits change while a run goes`() async throws {
    let latch = Latch()
    let arrived = Guarded(0)
    let work = try Workplace { request in
      arrived.withLock { $0 += 1 }
      latch.hold()
      return .ok(Workplace.body(request.path))
    }
    try work.manifest((0..<6).map { "/slow/\($0)" }, "limits: { connections: 1 }")
    let run = try work.tool.start(["run", "m.yaml"])
    _ = await run.output.line { $0.contains("\"item.start\"") }
    try expectCode(await work.tool.run("ctl", "last", "set", "limits.connections=4"), 0)
    // Four items are under way at once now, though nothing has ended.
    _ = await run.output.line { $0.contains("\"item.start\"") && $0.contains("urls/slow-3") }
    let words = ["ctl", "last", "set", "bandwidth=1MB/s", "hosts.127.0.0.1.rate=1000/s", "--json"]
    let set = try await work.tool.start(words).end()
    #expect(set.code == 0 && set.output.split(separator: "\n").count == 2, "\(set.errors)")
    latch.release(20)
    let end = await run.end()
    expectEnd(end, 0)
    #expect(end.stream.all("control").compactMap { $0["verb"]?.asString } == ["set", "set", "set"])
  }

  @Test func `paused time counts towards no time-out`() async throws {
    // Three seconds of body against limits of one and a half.
    let work = try Workplace { _ in
      .ok([UInt8](repeating: 1, count: 6000)).dripping(100, every: .milliseconds(50))
    }
    try work.manifest(
      ["/slow/0"], fetch: "fetch: {}\n    timeout: 1500ms\n    deadline: 1500ms\n    retry: { attempts: 1 }")
    let run = try work.tool.start(["run", "m.yaml", "--deadline", "2s"])
    _ = await run.output.line { $0.contains("\"item.start\"") }
    try expectCode(await work.tool.run("ctl", "last", "pause"), 0)
    _ = await run.output.line { line in
      guard line.contains("\"item.progress\""), let value = try? JSONReader.read(Array(line.utf8)) else { return false }
      return (value.asMap?["data"]?.asMap?["bytes"]?.asInt ?? 0) >= 3600
    }
    try expectCode(await work.tool.run("ctl", "last", "resume"), 0)
    expectEnd(await run.end(), 0)
  }
}
