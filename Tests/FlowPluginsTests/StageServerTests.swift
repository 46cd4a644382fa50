import FlowBase
import FlowParts
import FlowTesting
import Glibc
import Testing

@testable import FlowPlugins

/// Repeats an item's text, as a stage that knows nothing of plugins.
private struct Echo: Stage {
  static let part = StagePart(
    PartSpec(
      name: "test.echo", role: .stage, summary: "Repeats.",
      fields: [FieldSpec("times", .integer(1...9), default: "2", "How often.")], example: "")
  ) { Echo() }

  func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    switch leg.item.key {
    case "drop": return StageResult(.drop(reason: "not wanted"))
    case "many": return StageResult(.many([MadeItem(key: "a", content: .bytes([65]), fields: ["n": 1])]))
    case "bad": throw Fault("echo.bad", .transient, "no good")
    case "slow":
      while true {
        try Task.checkCancellation()
        await Task.yield()
      }
    default: break
    }
    guard case .file(let file)? = leg.content else { throw Fault("echo.empty", .permanent, "there is nothing") }
    let text = try SmallFiles.read(file.path)
    let partial = try context.services.makePartial()
    for _ in 0..<(context.config.int("times") ?? 0) { try partial.write(contentsOf: text) }
    context.services.log(.warn, "echoed")
    return StageResult(
      content: .file(try partial.finish()), fields: ["width": leg.axes["w"] ?? .null, "media": "text/x"])
  }
}

@Suite struct StageServerTests {
  /// A server whose input and output are pipes.
  private final class Line: Sendable {
    let place: TempPlace
    private let input: Guarded<Descriptor?>
    let output: Descriptor
    let task: Task<Void, Never>
    private let rest = Guarded<[UInt8]>([])

    init() throws {
      place = try TempPlace()
      var ends: [[Int32]] = []
      for _ in 0..<2 {
        var pair: [Int32] = [0, 0]
        try #require(unsafe pipe(&pair) == 0)
        ends.append(pair)
      }
      input = Guarded(Descriptor(ends[0][1]))
      output = Descriptor(ends[1][0])
      let (asked, answered) = (Descriptor(ends[0][0]), Descriptor(ends[1][1]))
      task = Task { await StageServer([Echo.part]).serve(asked, answered) }
    }

    func say(_ line: String) throws { try input.withLock { $0 }?.write(Array((line + "\n").utf8)) }

    /// Nothing more is said.
    func end() async {
      input.withLock { $0 = nil }
      await task.value
    }

    /// The next message; waited for on a thread of its own, since the server needs those of the tests.
    func hear() async throws -> Fields {
      try await withCheckedContinuation { continuation in
        WorkerThread.start("listener") { [self] in continuation.resume(returning: Result { try listen() }) }
      }.get()
    }

    private func listen() throws -> Fields {
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let line = rest.withLock { rest -> [UInt8]? in
          guard let end = rest.firstIndex(of: 0x0A) else { return nil }
          defer { rest.removeFirst(end + 1) }
          return Array(rest[..<end])
        }
        if let line { return try JSONReader.read(line).asMap ?? [:] }
        let count = try output.read(into: &buffer)
        if count == 0 { throw Fault("test.end", .permanent, "the server said no more") }
        rest.withLock { $0 += buffer[..<count] }
      }
    }

    func begin(_ config: String = "{}") throws {
      try say(
        "{\"t\":\"init\",\"v\":[1],\"run\":\"r\",\"op\":\"test.echo\",\"config\":\(config),\"workdir\":\"\(place.path)\"}"
      )
    }
  }

  @Test(.timeLimit(.minutes(1))) func `a stage in Swift is served as any plugin is`() async throws {
    let line = try Line()
    try line.begin("{\"times\":3}")
    #expect(try await line.hear()["t"] == "ready")
    try SmallFiles.makeFolder(line.place.file("o"))
    try SmallFiles.replace(line.place.file("in"), Array("ab".utf8))
    try line.say("{\"t\":\"weather\"}")
    try line.say("{\"t\":\"ping\",\"n\":7}")
    #expect(try await line.hear() == ["t": "pong", "n": 7])
    try line.say(
      "{\"t\":\"item\",\"id\":4,\"key\":\"k\",\"in\":{\"path\":\"\(line.place.file("in"))\",\"bytes\":2},"
        + "\"out\":{\"dir\":\"\(line.place.file("o"))\"},\"item\":{\"matrix\":{\"w\":64}}}")
    #expect(try await line.hear()["t"] == "log")
    let result = try await line.hear()
    #expect(result["id"] == 4 && result["status"] == "ok" && result["set"]?.asMap?["width"] == 64)
    #expect(result["out"] == [["path": "out", "media": "text/x"]])
    #expect(try SmallFiles.read(line.place.file("o/out")) == Array("ababab".utf8))
    try line.say("{\"t\":\"drain\"}")
    #expect(try await line.hear()["t"] == "bye")
    await line.end()
  }

  @Test(.timeLimit(.minutes(1))) func `items are dropped, refused, multiplied and cancelled`() async throws {
    let line = try Line()
    try line.begin()
    _ = try await line.hear()
    for (id, key) in ["drop", "bad", "many"].enumerated() {
      try line.say(
        "{\"t\":\"item\",\"id\":\(id),\"key\":\"\(key)\",\"in\":null,\"out\":{\"dir\":\"\(line.place.path)\"},\"item\":{}}"
      )
    }
    var answers: [Int: Fields] = [:]
    for _ in 0..<3 {
      let answer = try await line.hear()
      answers[answer["id"]?.asInt ?? -1] = answer
    }
    #expect(answers[0]?["status"] == "drop" && answers[0]?["reason"] == "not wanted")
    #expect(answers[1]?["code"] == "echo.bad" && answers[1]?["class"] == "transient")
    #expect(answers[2]?["items"]?.asList?.count == 1)
    #expect(try SmallFiles.read(line.place.file("out-1")) == [65])
    try line.say("{\"t\":\"item\",\"id\":9,\"key\":\"slow\",\"in\":null,\"out\":{\"dir\":\"/\"},\"item\":{}}")
    try line.say("{\"t\":\"cancel\",\"id\":9}")
    #expect(try await line.hear() == ["t": "result", "id": 9, "status": "cancelled"])
    await line.end()
  }

  @Test(.timeLimit(.minutes(1))) func `a configuration that does not fit is refused with its key`() async throws {
    let line = try Line()
    try line.begin("{\"times\":99}")
    let refusal = try await line.hear()
    #expect(refusal["t"] == "error" && refusal["code"] == "config.invalid" && refusal["field"] == "/times")
    await line.end()
  }
}
