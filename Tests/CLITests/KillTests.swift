import FlowBase
import FlowTesting
import Glibc
import Testing

/// Runs that are killed in the middle: at a request, or at a line of their stream.
@Suite(.serialized) struct KillTests {
  private static let count = 100

  @Test(arguments: 0..<7)
  func `a run that is killed leaves no wrong byte, and the next one does the rest`(turn: Int) async throws {
    let extra = turn % 3 == 2 ? "limits: { connections: 40 }\nhosts: { '*': { connections: 40 } }" : ""
    try await kill(turn, extra, fetch: "fetch", perItem: 1)
  }

  @Test(arguments: 0..<6)
  func `a run of several legs an item that is killed loses nothing that it has announced`(turn: Int) async throws {
    let write = "set: { size: \"${matrix.w}\" }\n    matrix: { w: [1, 2] }"
    try await kill(
      turn, "", fetch: "fetch\n  - \(write)", path: "${item.key}-${matrix.w}.bin", perItem: 2)
  }

  private func kill(
    _ turn: Int, _ extra: String, fetch: String, path: String = "${item.key}.bin", perItem: Int
  ) async throws {
    let running = Guarded<ToolRun?>(nil)
    let seen = Guarded(0)
    let isSignalled = Guarded(false)
    let fatal = 3 + turn * 13
    // Even turns die while a request is answered, odd ones as soon as a line of the stream has come. A run may be
    // through before anybody has read its lines: what it asks for last is never answered.
    let work = try Workplace { request in
      let number = seen.withLock { count in
        count += 1
        return count
      }
      if turn % 2 == 0, number >= fatal { running.withLock { $0 }?.signal(SIGKILL) }
      if turn % 2 == 1, number == Self.count, !isSignalled.withLock({ $0 }) { return .silence }
      return .ok(Workplace.body(request.path))
    }
    try work.manifest((0..<Self.count).map { "/small/\($0)" }, extra, fetch: fetch, path: path)
    let run = try work.tool.start(["run", "m.yaml"])
    running.withLock { $0 = run }
    if turn % 2 == 1 {
      let lines = Guarded(0)
      let kind = turn % 4 == 1 ? "\"output\"" : "\"item.end\""
      run.output.watch { line in
        guard line.contains(kind) else { return }
        let isFatal = lines.withLock { count in
          count += 1
          return count == fatal
        }
        guard isFatal else { return }
        run.signal(SIGKILL)
        isSignalled.withLock { $0 = true }
      }
    }
    let killed = await run.end()
    #expect(killed.code == 137)
    try expectRightBytes(work, perItem: perItem)
    let announced = killed.stream.items("ok")
    let before = work.server.requests.count

    let next = try await work.tool.run("run", "m.yaml")
    expectEnd(next, 0)
    try expectRightBytes(work, perItem: perItem)
    #expect(work.files().count == Self.count * perItem)
    #expect(work.files(".imgflow/m/tmp") == [])
    let asked = Set(work.server.requests[before...].map { Workplace.key($0.path) })
    for item in announced { #expect(!asked.contains(String(item.dropFirst("urls/".count)))) }
  }

  private func expectRightBytes(_ work: Workplace, perItem: Int) throws {
    for name in work.files() {
      let number = name.dropFirst("small-".count).prefix { $0.isNumber }
      #expect(try SmallFiles.read(work.place.file("out/\(name)")) == Workplace.body("/small/\(number)"), "\(name)")
    }
  }
}
