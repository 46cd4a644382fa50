import FlowBase
import FlowTesting
import Glibc
import Testing

/// What `imgflow runs` lists, beside what `imgflow status` says of the same runs.
@Suite(.serialized) struct RunListTests {
  private func list(_ work: Workplace, _ words: String...) async throws -> [Fields] {
    let end = try await work.tool.start(["runs", "--json"] + words).end()
    try expectCode(end, 0)
    return (try JSONReader.read(Array(end.output.utf8)).asMap?["runs"]?.asList ?? []).compactMap(\.asMap)
  }

  @Test func `a run that was cut off is counted as status counts it, until a later run has seen its items`()
    async throws
  {
    let latch = Latch()
    let work = try Workplace { request in
      if request.path == "/slow" { latch.hold() }
      return request.path == "/none" ? .status(404) : .ok(Workplace.body(request.path))
    }
    try work.manifest((0..<5).map { "/small/\($0)" } + ["/none", "/slow"])
    let run = try work.tool.start(["run", "m.yaml"])
    for key in (0..<5).map({ "small-\($0)" }) + ["none"] {
      _ = await run.output.line { $0.contains("\"item.end\"") && $0.contains("\"urls/\(key)\"") }
    }
    let underWay = try await work.tool.run("runs")
    #expect(underWay.output.contains("  running  m.yaml  5 ok, 1 failed\n"), "\(underWay.output)")
    run.signal(SIGKILL)
    #expect(await run.end().code == 137)

    let cutOff = try await work.tool.run("runs")
    #expect(cutOff.output.contains("  cut off  m.yaml  5 ok, 1 failed\n"), "\(cutOff.output)")
    let status = try await work.tool.run("status", "--json")
    let items = try #require(try JSONReader.read(Array(status.output.utf8)).asMap?["items"]?.asMap)
    let fields = try #require(try await list(work).first)
    #expect(fields["state"] == "cut off" && fields["ended"] == .null)
    for name in ["ok", "failed", "filtered", "cancelled"] { #expect(fields[name] == items[name], "\(name)") }
    #expect(items["ok"] == 5 && items["failed"] == 1)

    latch.release(10)
    #expect(try await work.tool.run("run", "m.yaml").code == 1)
    let both = try await list(work)
    #expect(both.map { $0["ok"] } == [6, nil] && both.map { $0["failed"] } == [1, nil])
    let lines = try await work.tool.run("runs").output.split(separator: "\n")
    #expect(lines.first?.hasSuffix("  failure  m.yaml  6 ok, 1 failed") == true, "\(lines)")
    // Nothing is known any more of what the first run alone has done, and no count says so.
    #expect(lines.last?.hasSuffix("  cut off  m.yaml") == true, "\(lines)")
  }

  @Test func `what went wrong with a run itself is told again later`() async throws {
    let work = try Workplace()
    try work.write(
      "m.yaml", "imgflow: 1\nsources: [{ file: { path: missing.txt } }]\nstages: [fetch, store]\n")
    #expect(try await work.tool.run("run", "m.yaml").code == 6)
    let words = "source `file`: cannot read missing.txt: No such file or directory"
    let told = try await work.tool.run("status").output
    #expect(told.contains("  why     \(words)\n"), "\(told)")
    let json = try await work.tool.run("status", "--json").output
    #expect(try JSONReader.read(Array(json.utf8)).asMap?["why"] == .list([.string(words)]))
    // A run that went well has nothing to explain.
    try work.write("missing.txt", "")
    #expect(try await work.tool.run("run", "m.yaml").code == 0)
    #expect(try await !work.tool.run("status").output.contains("why"))
  }

  @Test func `a manifest's path, an id or the beginning of some limits the list`() async throws {
    let work = try Workplace()
    try work.manifest(["/small/a"])
    try work.write("n.yaml", try work.read("m.yaml"))
    for name in ["m.yaml", "n.yaml", "m.yaml"] { expectEnd(try await work.tool.run("run", name), 0) }
    let all = try await list(work)
    #expect(all.map { $0["manifest"] } == ["m.yaml", "n.yaml", "m.yaml"])
    #expect(try await list(work, "m.yaml") == [all[0], all[2]])
    #expect(try await list(work, work.place.file("n.yaml")) == [all[1]])
    #expect(try await list(work, "last") == [all[0]])
    let id = try #require(all[2]["id"]?.asString)
    #expect(try await list(work, id.lowercased()) == [all[2]])
    // The ids of one day begin alike.
    #expect(try await list(work, String(id.prefix(3))) == all)
    for (name, words) in [("other.yaml", "was not run yet"), ("ZZZ", "no run `ZZZ`")] {
      let end = try await work.tool.run("runs", name)
      #expect(end.code == 1 && end.output.isEmpty && end.errors.contains(words), "\(end.output)\(end.errors)")
    }
    #expect(try await work.tool.run("runs", "m.yaml").output.split(separator: "\n").count == 2)
    #expect(try await work.tool.run("completion", "zsh").output.contains("'1::RUN:_files -g \"*.(yaml|yml)\"'"))
  }
}
