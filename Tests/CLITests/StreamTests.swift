import FlowBase
import FlowTesting
import Glibc
import Testing

@Suite(.serialized) struct StreamTests {
  @Test func `an item says why there is work for it`() async throws {
    let work = try Workplace()
    func why(_ words: String...) async throws -> [String] {
      let end = try await work.tool.start(["run", "m.yaml"] + words).end()
      return end.stream.lines.compactMap { line in
        guard let map = line.asMap, map["type"]?.asString == "item.start" else { return nil }
        return "\(map["item"]?.asString ?? ""): \(map["data"]?.asMap?["why"]?.asString ?? "-")"
      }.sorted()
    }
    try work.manifest(["/small/a", "/none"])
    #expect(try await why() == ["urls/none: new", "urls/small-a: new"])
    #expect(try await why() == ["urls/none: failed last time (http.404)", "urls/small-a: -"])
    try work.manifest(["/small/a"], fetch: "fetch: { max_bytes: 1MB }")
    #expect(try await why() == ["urls/small-a: config changed"])
    try FileSystem.remove(work.place.file("out/small-a.bin"))
    #expect(try await why() == ["urls/small-a: output missing or altered"])
    #expect(try await why("--fresh") == ["urls/small-a: --fresh"])
  }

  @Test func `without a terminal the stream goes to standard output, and words do not`() async throws {
    let work = try Workplace()
    try work.manifest(["/small/a"])
    let end = try await work.tool.run("run", "m.yaml")
    expectEnd(end, 0)
    #expect(end.errors.contains("1 of 1 ok"))
  }

  @Test func `the stream goes where it is told to`() async throws {
    let work = try Workplace()
    try work.manifest(["/small/a"])
    let nowhere = try await work.tool.run("run", "m.yaml", "--events", "none")
    #expect(nowhere.code == 0 && nowhere.output.isEmpty)
    let path = try await work.tool.run("run", "m.yaml", "--events", "logs/e.ndjson")
    #expect(path.output.isEmpty)
    var tool = work.tool
    tool.files = [3: work.place.file("three.ndjson")]
    let three = try await tool.run("run", "m.yaml", "--events", "fd:3")
    #expect(three.output.isEmpty)
    for name in ["logs/e.ndjson", "three.ndjson"] {
      let stream = Stream(try work.read(name))
      #expect(stream.problems == [])
      #expect(stream.exit == 0)
    }
  }

  @Test func `a manifest's own streams stay, filtered, and two never mix on standard output`() async throws {
    let work = try Workplace()
    try work.manifest(
      ["/small/a", "/small/b"],
      """
      sinks:
        - { id: short, ndjson: { to: stdout }, events: ["run.*", item.end] }
        - { id: whole, ndjson: whole.ndjson }
      """)
    let short = try await work.tool.run("run", "m.yaml")
    expectEnd(short, 0)
    let known: Set = ["stream.start", "run.start", "run.state", "run.progress", "item.end", "run.end"]
    #expect(known.isSuperset(of: short.stream.types))
    let whole = Stream(try work.read("whole.ndjson"))
    #expect(whole.problems == [] && whole.types.contains("source.end"))
    let asked = try await work.tool.run("run", "m.yaml", "--json")
    expectEnd(asked, 0)
    #expect(asked.stream.types.filter { $0 == "stream.start" }.count == 1)
    #expect(asked.stream.types.contains("source.end"))
  }

  @Test func `a stream that cannot be written is named, and the run goes on`() async throws {
    let work = try Workplace()
    try work.manifest(["/small/a"])
    let full = try await work.tool.run("run", "m.yaml", "--events", "/dev/full", "-q")
    #expect(full.code == 0)
    #expect(full.errors.contains("`events`"))
    #expect(work.files() == ["small-a.bin"])
  }

  @Test func `a descriptor that nobody opened is a usage error, and no file of the run takes its number`() async throws
  {
    let work = try Workplace()
    try work.manifest(["/small/a"])
    for number in 3...9 {
      // The tests themselves may leave it open: the shell closes it.
      let closed = try await Pipeline.run(work.tool, "run m.yaml --events fd:\(number) \(number)>&-")
      #expect(closed.code == 2)
      #expect(closed.errors.contains("fd:\(number) is not open for writing"))
    }
    #expect(work.server.requests.isEmpty && work.files().isEmpty)
  }

  @Test func `a manifest that is wrong ends the streams that it names itself`() async throws {
    let work = try Workplace()
    try work.manifest(
      ["/small/a"],
      """
      fail_if: run.nonsense > 3
      sinks:
        - { id: whole, ndjson: whole.ndjson }
        - { id: ends, ndjson: ends.ndjson, events: [run.end] }
        - { id: broken, ndjson: { too: broken.ndjson } }
      """)
    let end = try await work.tool.run("run", "m.yaml", "--events", "none")
    #expect(end.code == 2)
    let whole = Stream(try work.read("whole.ndjson"))
    #expect(whole.problems == [] && whole.exit == 2)
    #expect(whole.types == ["stream.start", "diagnostic", "diagnostic", "run.end"])
    #expect(Stream(try work.read("ends.ndjson")).types == ["stream.start", "run.end"])
    #expect(!SmallFiles.exists(work.place.file("broken.ndjson")))
    #expect(work.server.requests.isEmpty)
  }

  @Test func `a required stream on standard output stays the only one there`() async throws {
    let work = try Workplace()
    try work.manifest(
      ["/small/a"], "sinks: [{ ndjson: { to: stdout }, events: [run.end], required: true }]")
    let asked = try await work.tool.run("run", "m.yaml", "--json")
    expectEnd(asked, 0)
    #expect(asked.stream.types.filter { $0 == "stream.start" }.count == 1)
    #expect(asked.stream.types.contains("item.end"))
  }

  @Test(arguments: [
    (Tool.Target.closed, Tool.Target.captured, Tool.Target.captured),
    (.file("/dev/null"), .closed, .captured), (.file("/dev/null"), .captured, .closed), (.closed, .closed, .closed),
    (.file("/dev/null"), .file("/dev/full"), .file("/dev/full")),
  ])
  func `closed and full standard streams harm neither the run nor its files`(
    input: Tool.Target, output: Tool.Target, errors: Tool.Target
  ) async throws {
    let work = try Workplace()
    try work.manifest(["/small/a", "/small/b"])
    var tool = work.tool
    (tool.input, tool.output, tool.errors) = (input, output, errors)
    let end = try await tool.run("run", "m.yaml")
    #expect(end.code == 0)
    for name in ["a", "b"] {
      #expect(
        try work.read("out/small-\(name).bin") == String(decoding: Workplace.body("/small/\(name)"), as: UTF8.self))
    }
    // The state is whole: a second run finds everything done.
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    #expect(work.server.requests.count == 2)
  }

  @Test func `a reader that leaves ends its stream and not the run`() async throws {
    let work = try Workplace()
    try work.manifest((0..<40).map { "/small/\($0)" })
    var tool = work.tool
    tool.output = .captured
    let end = try await Pipeline.run(tool, "run m.yaml | head -n 1")
    #expect(end.output.contains("\"stream.start\""))
    #expect(end.errors.contains("40 of 40 ok"))
    #expect(!end.errors.contains("did not get everything"))
    #expect(work.files().count == 40)
  }

  @Test func `a reader that never reads does not keep the items from arriving, and a signal ends the wait`()
    async throws
  {
    let work = try Workplace()
    try work.manifest((0..<300).map { "/small/\($0)" })
    var tool = work.tool
    tool.output = .unread
    let run = try tool.start(["run", "m.yaml"])
    #expect(await run.errors.line { $0.contains("300 of 300 ok") } != nil)
    #expect(work.files().count == 300)
    run.signal(SIGINT)
    #expect(await run.end(within: .seconds(20)).code == 130)
  }

  @Test func `progress is as loud as asked for`() async throws {
    let work = try Workplace()
    try work.manifest(["/small/a"])
    for words in [["--progress", "none"], ["-q"]] {
      let end = try await work.tool.start(["run", "m.yaml", "--fresh"] + words).end()
      #expect(end.code == 0 && end.errors.isEmpty)
    }
    for style in ["plain", "auto"] {
      let end = try await work.tool.run("run", "m.yaml", "--fresh", "--progress", style)
      #expect(end.errors.contains("1 of 1 ok"))
      #expect(!end.errors.contains("\u{1B}["))
    }
    let words = try await work.tool.run("validate", "m.yaml", "--color", "always")
    #expect(words.code == 0)
  }
}

/// The program as a part of a shell's line.
enum Pipeline {
  static func run(_ tool: Tool, _ line: String) async throws -> ToolEnd {
    var shell = tool
    shell.program = ["/bin/sh", "-c", "'\(Tool.path)' \(line)"]
    return try await shell.start([]).end()
  }
}
