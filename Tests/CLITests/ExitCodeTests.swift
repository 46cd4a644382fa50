import FlowBase
import FlowTesting
import Testing

@Suite(.serialized) struct ExitCodeTests {
  @Test func `a run in which everything arrives ends with 0, and a second one asks for nothing`() async throws {
    let work = try Workplace()
    try work.manifest(["/small/a", "/small/b"])
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    #expect(work.files() == ["small-a.bin", "small-b.bin"])
    let again = try await work.tool.run("run", "m.yaml")
    expectEnd(again, 0)
    #expect(again.stream.count("cached") == 2)
    #expect(work.server.requests.count == 2)
  }

  @Test func `a failure that will stay makes it 1, one that may pass makes it 5, both make it 1`() async throws {
    let work = try Workplace(["/broken": [.status(500)]])
    let fetch = "fetch: {}\n    retry: { attempts: 2, backoff: 1ms..2ms }"
    try work.manifest(["/small/a", "/none"], fetch: fetch)
    expectEnd(try await work.tool.run("run", "m.yaml"), 1)
    try work.manifest(["/small/a", "/broken"], fetch: fetch)
    expectEnd(try await work.tool.run("run", "m.yaml"), 5)
    try work.manifest(["/none", "/broken"], fetch: fetch)
    expectEnd(try await work.tool.run("run", "m.yaml"), 1)
  }

  @Test func `a policy can forgive failures and can forbid emptiness`() async throws {
    let work = try Workplace()
    try work.manifest(["/small/a", "/none"], "fail_if: run.failed > 1")
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    try work.write("empty.csv", "url\n")
    try work.write(
      "e.yaml",
      "imgflow: 1\nsources:\n  - file: { path: empty.csv, url: \"${row.url}\" }\nstages:\n  - fetch\n"
        + "fail_if: run.items == 0\n")
    let end = try await work.tool.run("run", "e.yaml")
    #expect(end.code == 1)
  }

  @Test(arguments: [
    (["run", "m.yaml", "--frsh"], "--fresh"), (["run", "none.yaml"], "none.yaml"), (["run", "bad.yaml"], "fetsh"),
    (["run", "m.yaml", "--only", "nope"], "nope"), (["run", "m.yaml", "--set", "limits.connexions=4"], "connections"),
    (["run", "m.yaml", "--profile", "ci"], "profile"), (["run", "m.yaml", "--class", "transient"], "--failed"),
    (["run", "m.yaml", "-C", "nowhere"], "nowhere"), (["run", "m.yaml", "--events"], "--events"),
    (["run", "m.yaml", "--summary-file", "nowhere/s.json"], "nowhere"),
  ])
  func `a wrong command line or manifest is 2, says so, and ends its stream`(words: [String], hint: String) async throws
  {
    let work = try Workplace()
    try work.manifest(["/small/a"])
    try work.write("bad.yaml", "imgflow: 1\nsources: [\"\(work.server.url)/small/a\"]\nstages: [fetsh]\n")
    let end = try await work.tool.start(words).end()
    expectEnd(end, 2)
    #expect(end.stream.types == ["stream.start", "diagnostic", "run.end"])
    #expect(end.errors.contains(hint))
    #expect(work.server.requests.isEmpty)
    #expect(!SmallFiles.exists(work.place.file("out")))
  }

  @Test func `a wrong command line that names another place ends the stream there`() async throws {
    let work = try Workplace()
    try work.manifest(["/small/a"])
    let end = try await work.tool.run("run", "m.yaml", "--events", "e.ndjson", "--class", "quota")
    #expect(end.code == 2)
    #expect(end.output.isEmpty)
    let stream = Stream(try work.read("e.ndjson"))
    #expect(stream.types == ["stream.start", "diagnostic", "run.end"])
    #expect(stream.exit == 2)
  }

  @Test func `a required sink that cannot deliver makes it 4 and is named, another harms nothing`() async throws {
    let work = try Workplace()
    try work.manifest(["/small/a"], "sinks:\n  - { ndjson: { to: /dev/full }, required: true, id: strict }")
    let strict = try await work.tool.run("run", "m.yaml")
    expectEnd(strict, 4)
    #expect(strict.errors.contains("`strict`"))
    try work.manifest(["/small/b"], "sinks:\n  - { ndjson: { to: /dev/full }, id: loose }")
    let loose = try await work.tool.run("run", "m.yaml")
    expectEnd(loose, 0)
    #expect(loose.errors.contains("`loose`"))
  }

  @Test func `a required sink weighs more than failed items`() async throws {
    let work = try Workplace()
    try work.manifest(["/none"], "sinks:\n  - { ndjson: { to: /dev/full }, required: true }")
    expectEnd(try await work.tool.run("run", "m.yaml"), 4)
  }

  @Test func `an output that cannot be written is 6, before anything is asked for`() async throws {
    let work = try Workplace()
    try work.manifest(["/small/a"])
    expectEnd(try await work.tool.run("run", "m.yaml", "-o", "/proc/nowhere"), 6)
    #expect(work.server.requests.isEmpty)
  }

  @Test func `a deadline is 124, and weighs more than failed items`() async throws {
    let work = try Workplace(["/stuck": [.silence]])
    try work.manifest(["/none", "/stuck"])
    let end = try await work.tool.run("run", "m.yaml", "--deadline", "300ms")
    expectEnd(end, 124)
    #expect(end.stream.result == "timeout")
    #expect(end.stream.items("cancelled").count == 1)
  }

  @Test func `a state that another run holds is 75, or is waited for`() async throws {
    let work = try Workplace(["/slow": [.generated(6000).dripping(100, every: .milliseconds(50))]])
    try work.manifest(["/slow"])
    let first = try work.tool.start(["run", "m.yaml"])
    _ = await first.output.line { $0.contains("\"item.start\"") }
    let second = try await work.tool.run("run", "m.yaml")
    expectEnd(second, 75)
    #expect(second.errors.contains("--wait-lock"))
    let third = try await work.tool.run("run", "m.yaml", "--wait-lock")
    expectEnd(third, 0)
    #expect(third.stream.count("cached") == 1)
    expectEnd(await first.end(), 0)
    #expect(work.server.requests.count == 1)
  }

  @Test func `stop_if cancels the rest and makes it 1`() async throws {
    let work = try Workplace()
    try work.manifest(
      (0..<30).map { "/none/\($0)" }, "stop_if: run.failed >= 3\nlimits: { connections: 1 }")
    let end = try await work.tool.run("run", "m.yaml")
    expectEnd(end, 1)
    #expect(end.stream.items("cancelled").count >= 20)
  }
}
