import FlowBase
import FlowTesting
import Glibc
import Testing

/// Sources that are asked from the middle after a run was cut off.
@Suite(.serialized) struct CursorTests {
  private static let program = """
    import json, sys
    init = None
    def say(**m):
        print(json.dumps(m), flush=True)
    for line in sys.stdin:
        m = json.loads(line)
        if m["t"] == "init":
            init = m["config"]
            say(t="ready", v=1)
        elif m["t"] == "pull":
            with open(init["log"], "a") as log:
                log.write(f"{m['cursor']}\\n")
            start = int((m["cursor"] or "p0")[1:])
            stop = min(start + 10, 60)
            say(t="items", cursor=f"p{stop}", end=stop == 60, items=[
                {"url": f"{init['base']}/item/{n}", "key": f"n{n}", "row": {"n": n}} for n in range(start, stop)])
        elif m["t"] == "ping":
            say(t="pong", n=m["n"])

    """

  /// A source of sixty items in pages of ten, whose last five come slowly when they are asked for first.
  private func place(_ source: (Workplace) throws -> String) throws -> Workplace {
    let late = Guarded<Set<String>>(["55", "56", "57", "58", "59"])
    let work = try Workplace { request in
      let body = LoopbackServer.Response.ok(Workplace.body(request.path))
      let isLate = late.withLock { $0.remove(String(request.path.suffix(2))) != nil }
      return isLate ? body.delayed(by: .milliseconds(1500)) : body
    }
    try work.write(
      "m.yaml",
      """
      imgflow: 1
      plugins: [paged]
      limits: { connections: 2 }
      state: { durability: process }
      hosts: { 127.0.0.1: { allow: true, connections: 2 } }
      sources:
        - id: list
          \(try source(work))
      stages:
        - fetch
        - store: "${item.key}.bin"
        - report: { path: index.csv, columns: [key, sha256] }
      """)
    return work
  }

  private func writePlugin(_ work: Workplace) throws -> String {
    try SmallFiles.makeFolder(work.place.file("paged"))
    try work.write("paged/main.py", Self.program)
    try work.write(
      "paged/plugin.yaml",
      """
      imgflow_plugin: 1
      name: acme.paged
      version: 1.0.0
      run: [python3, main.py]
      ops:
        acme.paged: { kind: source, config: { type: object, properties: { base: { type: string }, log: { type: string } } } }
      permissions: { write: [workdir, \(work.place.path)] }
      """)
    return "acme.paged: { base: \"\(work.server.url)\", log: \"\(work.place.file("log"))\" }"
  }

  /// A run that is killed when it has told the end of 56 items, seconds after the 55th: by then the journal has a place in
  /// the source.
  private func killed(_ work: Workplace) async throws {
    let run = try work.tool.start(["run", "m.yaml", "--json"])
    let seen = Guarded(0)
    run.output.watch { line in
      guard line.contains("\"type\":\"item.end\"") else { return }
      let isLast = seen.withLock { count in
        count += 1
        return count == 56
      }
      if isLast { run.signal(SIGKILL) }
    }
    #expect(await run.end().code == 137)
  }

  private func expectWhole(_ end: ToolEnd, _ work: Workplace) throws {
    expectEnd(end, 0)
    #expect(end.stream.count("ok") == 60 && end.stream.count("total") == 60)
    #expect(end.stream.all("source.end").first?["items"] == 60)
    let indexes = end.stream.lines.filter { $0.asMap?["type"] == "item.end" }.compactMap { $0.asMap?["index"]?.asInt }
    #expect(indexes.sorted() == Array(1...60))
    // The report is of all items, also of those that were not asked for again.
    let rows = try work.read("out/index.csv").split(whereSeparator: \.isNewline)
    #expect(rows.count == 61 && rows[1].contains("n0,") && rows[60].contains("n59,"), "\(rows)")
    #expect(work.files().count == 61)
  }

  @Test func `a plugin's source is asked for the rest alone after a run that was killed`() async throws {
    let work = try place(writePlugin)
    try await killed(work)
    let first = try work.read("log").split(separator: "\n")
    #expect(first.first == "None")
    try SmallFiles.replace(work.place.file("log"), [])
    let end = try await work.tool.run("run", "m.yaml", "--json")
    try expectWhole(end, work)
    let second = try work.read("log").split(separator: "\n").map(String.init)
    let start = try #require(second.first.flatMap { Int($0.dropFirst()) }, "\(second)")
    #expect(start >= 10 && start <= 50 && start % 10 == 0, "\(second)")
    #expect(end.errors.contains("behind \(start) items that are done") || end.output.contains("behind \(start) items"))
    // A run that came to its end is followed by one that looks at everything.
    try SmallFiles.replace(work.place.file("log"), [])
    let third = try await work.tool.run("run", "m.yaml", "--json")
    let anew = third.stream.lines.filter {
      $0.asMap?["type"] == "item.end" && $0.asMap?["data"]?.asMap?["cached"] != true
    }
    #expect(third.stream.count("cached") == 60, "\(anew)")
    #expect(try work.read("log").hasPrefix("None\n"))
  }

  @Test func `where something that was done is gone, the source is asked from its beginning`() async throws {
    let work = try place(writePlugin)
    try await killed(work)
    try FileSystem.remove(work.place.file("out/n0.bin"))
    try SmallFiles.replace(work.place.file("log"), [])
    try expectWhole(try await work.tool.run("run", "m.yaml", "--json"), work)
    #expect(try work.read("log").hasPrefix("None\n"))
  }

  @Test func `a script's source gets the cursor that an item of it has named`() async throws {
    let work = try place { work in
      try SmallFiles.makeFolder(work.place.file("paged"))
      _ = try writePlugin(work)
      try work.write(
        "list.lua",
        """
        function items(ctx)
          local from = ctx.cursor or 0
          print("from " .. from)
          for n = from, 59 do
            coroutine.yield({ url = ctx.args.base .. "/item/" .. n, key = "n" .. n, cursor = n - n % 10 })
          end
        end
        """)
      return "script: { file: list.lua, args: { base: \"\(work.server.url)\" } }"
    }
    try await killed(work)
    let end = try await work.tool.run("run", "m.yaml", "--json")
    try expectWhole(end, work)
    let said = end.stream.all("log").compactMap { $0["message"]?.asString }.first { $0.contains("list.lua: from") }
    let start = try #require(said.flatMap { Int($0.split(separator: " ").last ?? "") }, "\(end.output)")
    #expect(start >= 10 && start <= 50 && start % 10 == 0)
  }
}
