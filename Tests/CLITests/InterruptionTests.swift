import FlowBase
import FlowTesting
import Glibc
import Testing

/// Runs that are interrupted at random, clocks that jump, and outputs that cannot be written.
@Suite(.serialized) struct InterruptionTests {
  private static let count = 40

  @Test func `however often a run is interrupted, the last one heals`() async throws {
    let seen = Guarded(0)
    let fatal = Guarded((request: Int.max, signal: SIGKILL))
    let running = Guarded<ToolRun?>(nil)
    let work = try Workplace { request in
      let number = seen.withLock { count in
        count += 1
        return count
      }
      let due = fatal.withLock { $0 }
      if number == due.request { running.withLock { $0 }?.signal(due.signal) }
      return .ok(Workplace.body(request.path))
    }
    try work.manifest((0..<Self.count).map { "/small/\($0)" })
    let turns = ProcessFacts.environment["CRASH_STEP"] == "1" ? 100 : 12
    var announced: Set<String> = []
    for turn in 0..<turns {
      // Every turn asks for a few items more, so that each is interrupted while it has something to do.
      if turn % 10 == 0 {
        try? FileSystem.removeTree(work.place.file("out"))
        try? FileSystem.removeTree(work.place.file(".imgflow"))
        announced = []
      }
      let signal = [SIGKILL, SIGINT, SIGTERM, SIGHUP, SIGKILL][turn % 5]
      let before = seen.withLock { $0 }
      fatal.withLock { $0 = (before + 1 + turn * 7 % 11, signal) }
      let run = try work.tool.start(["run", "m.yaml", "--grace", "200ms"])
      running.withLock { $0 = run }
      let end = await run.end()
      #expect([0, 129, 130, 137, 143].contains(end.code), "\(end.code): \(end.errors)")
      let asked = work.server.requests[before...].map { "urls/" + Workplace.key($0.path) }
      #expect(announced.isDisjoint(with: asked), "turn \(turn) asks again for what was announced")
      announced.formUnion(end.stream.items("ok"))
      for name in work.files() where name.hasSuffix(".bin") {
        let number = name.dropFirst("small-".count).prefix { $0.isNumber }
        #expect(try SmallFiles.read(work.place.file("out/\(name)")) == Workplace.body("/small/\(number)"))
      }
    }
    fatal.withLock { $0.request = .max }
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    #expect(work.files().count == Self.count)
    #expect(work.files(".imgflow/m/tmp") == [])
  }

  @Test(
    .enabled(if: FakeTime.library != nil && CrashLibrary.isUsable), arguments: ["-400d x1", "+0 x4000", "+3y x0.01"])
  func `a clock that is wrong, or runs at another pace, changes no order and no limit`(offset: String) async throws {
    let work = try Workplace()
    try work.manifest((0..<20).map { "/small/\($0)" }, fetch: "fetch: {}\n    timeout: 30s")
    var tool = work.tool
    tool.environment["LD_PRELOAD"] = FakeTime.library
    tool.environment["FAKETIME"] = offset
    // Wall time alone: what the program measures by is the other clock, and that never jumps.
    tool.environment["FAKETIME_DONT_FAKE_MONOTONIC"] = "1"
    tool.environment["DONT_FAKE_MONOTONIC"] = "1"
    expectEnd(try await tool.run("run", "m.yaml", "--deadline", "5m"), 0)
    #expect(work.files().count == 20)
    let next = try await work.tool.run("run", "m.yaml")
    expectEnd(next, 0)
    #expect(next.stream.count("cached") == 20)
    #expect(try await work.tool.run("runs").output.split(separator: "\n").count == 2)
  }

  @Test func `two runs of one manifest: the second says who holds it, or waits`() async throws {
    let latch = Latch()
    let work = try Workplace { request in
      latch.hold()
      return .ok(Workplace.body(request.path))
    }
    try work.manifest(["/slow/0"])
    let first = try work.tool.start(["run", "m.yaml"])
    _ = await first.output.line { $0.contains("\"item.start\"") }
    let second = try await work.tool.run("run", "m.yaml")
    expectEnd(second, 75)
    #expect(second.errors.contains("state.locked") && second.errors.contains("process"))
    let third = try work.tool.start(["run", "m.yaml", "--wait-lock"])
    latch.release(5)
    expectEnd(await first.end(), 0)
    expectEnd(await third.end(), 0)
    // Who was killed holds nothing.
    let killed = try work.tool.start(["run", "m.yaml", "--fresh"])
    _ = await killed.output.line { $0.contains("\"item.start\"") }
    killed.signal(SIGKILL)
    _ = await killed.end()
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
  }
}

/// The library that shows a program another time, from Debian's `faketime`.
enum FakeTime {
  static let library = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"]
    .map { $0 + "/faketime/libfaketime.so.1" }.first { SmallFiles.exists($0) }
}
