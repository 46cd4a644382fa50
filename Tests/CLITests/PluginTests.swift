import FlowBase
import FlowTesting
import Testing

/// Plugins from the outside: the real program, real processes, whole runs.
@Suite(.serialized, .timeLimit(.minutes(5))) struct PluginTests {
  /// Writes a plugin with the kit that `plugin new` gives, and a program of its own.
  private func write(_ work: Workplace, _ folder: String, ops: String, program: String, more: String = "") async throws
  {
    let end = try await work.tool.run("plugin", "new", "--lang", "python", folder)
    #expect(end.code == 0, "\(end.errors)")
    try work.write(
      "\(folder)/plugin.yaml",
      "imgflow_plugin: 1\nname: \(folder)\nversion: 2.1.0\nsummary: Of the tests\nrun: [python3, main.py]\nops:\n"
        + "\(ops)\n\(more)\n")
    try work.write("\(folder)/main.py", program)
  }

  private let loud = """
    from imgflow_plugin import serve
    import os
    def work(item, init):
        text = open(item["in"]["path"]).read()
        if "poison" in item["key"]:
            os._exit(9)
        open(os.path.join(item["out"]["dir"], "loud.txt"), "w").write(text.upper() * init["config"]["times"])
        return {"out": [{"path": "loud.txt"}], "set": {"letters": len(text)}}
    serve(work)

    """
  private let loudOp = """
      acme.loud:
        kind: stage
        gives: { set: { letters: integer } }
        config: { type: object, properties: { times: { type: integer, minimum: 1, default: 1 } } }
    """

  @Test func `a stage of a plugin takes part like any other, and its poison harms one item`() async throws {
    let work = try Workplace()
    try await write(work, "acme.loud", ops: loudOp, program: loud)
    try work.manifest(
      ["/small/a", "/small/poison", "/small/c"], "plugins: [acme.loud]",
      fetch: "fetch\n  - acme.loud: { times: 2 }\n  - filter: item.letters > 10")
    let end = try await work.tool.run("run", "m.yaml")
    expectEnd(end, 1)
    #expect(end.stream.items("ok").sorted() == ["urls/small-a", "urls/small-c"])
    #expect(end.stream.items("failed") == ["urls/small-poison"])
    #expect(try work.read("out/small-a.bin").hasPrefix("/SMALL/A\n"))
    #expect(end.stream.all("plugin.start").first?["plugin"] == "acme.loud")
    #expect(end.stream.all("plugin.crash").first?["code"] == 9)
    let again = try await work.tool.run("run", "m.yaml")
    #expect(again.stream.count("cached") == 2)
  }

  @Test func `validate and plan know a plugin without running it, and say what it may do`() async throws {
    let work = try Workplace()
    try await write(
      work, "acme.loud", ops: loudOp, program: "raise SystemExit('never run me')",
      more: "permissions: { network: true }")
    try work.manifest(["/small/a"], "plugins: [acme.loud]", fetch: "fetch\n  - acme.loud: { times: 2 }")
    let clean = try await work.tool.run("validate", "m.yaml")
    #expect(clean.code == 0, "\(clean.output)\(clean.errors)")
    #expect((clean.output + clean.errors).contains("plugin acme.loud 2.1.0 (network; writes in workdir"))
    let plan = try await work.tool.run("plan", "m.yaml")
    #expect(plan.output.contains("plugin acme.loud 2.1.0: network, writes in workdir"))
    let explained = try await Tool(in: work.place.path, environment: ["IMGFLOW_PLUGIN_PATH": work.place.path])
      .run("explain", "acme.loud")
    #expect(explained.code == 0 && explained.output.contains("times"), "\(explained.output)")
    for (entry, code) in [
      ("acme.loud: { time: 2 }", "E0103"), ("acme.loud: { times: two }", "E0110"), ("acme.load", "E0108"),
      ("acme.loud\n  - filter: item.lettres > 1", "E0214"),
    ] {
      try work.manifest(["/small/a"], "plugins: [acme.loud]", fetch: "fetch\n  - \(entry)")
      let wrong = try await work.tool.run("validate", "m.yaml")
      #expect(wrong.code == 2 && (wrong.output + wrong.errors).contains("[\(code)]"), "\(wrong.output)\(wrong.errors)")
    }
    try work.manifest(["/small/a"], "plugins: [nowhere]", fetch: "fetch\n  - acme.loud")
    #expect(try await work.tool.run("validate", "m.yaml").code == 2)
  }

  @Test func `what a plugin makes of each group goes below the output under its own path`() async throws {
    let work = try Workplace()
    try await write(
      work, "acme.index", ops: "  acme.index: { kind: stage, per: [group, run] }",
      program: """
        from imgflow_plugin import serve
        import json, os
        def work(item, init):
            members = [json.loads(line) for line in open(item["in"]["path"])]
            group = item["item"].get("group", "all")
            os.makedirs(os.path.join(item["out"]["dir"], "lists"))
            with open(os.path.join(item["out"]["dir"], f"lists/{group}.txt"), "w") as out:
                for member in members:
                    out.write(f"{member['key']} {open(member['outputs'][0]['path']).read().split()[0]}\\n")
            if group == "even":
                open(os.path.join(item["out"]["dir"], "extra.json"), "w").write("{}")
                return {"out": [{"path": f"lists/{group}.txt"}, {"path": "extra.json", "media": "application/json"}]}
            return {"out": [{"path": f"lists/{group}.txt", "media": "text/plain"}]}
        serve(work)

        """)
    let rows = (1...4).map { "n\($0),\(work.server.url)/small/\($0),\($0 % 2 == 0 ? "even" : "odd")" }
    try work.write("list.csv", "key,url,kind\n" + rows.joined(separator: "\n") + "\n")
    try work.write(
      "m.yaml",
      """
      imgflow: 1
      plugins: [acme.index]
      sources: [{ file: { path: list.csv, key: "${row.key}" } }]
      stages:
        - fetch
        - store: "${item.key}.txt"
        - acme.index
          per: { group: row.kind }
        - id: whole
          acme.index: {}
          needs: store
          per: run
      """.replacing("  - acme.index\n", with: "  - acme.index: {}\n"))
    let end = try await work.tool.run("run", "m.yaml", "--json", "--allow-private")
    expectEnd(end, 0)
    #expect(
      work.files() == [
        "extra.json", "lists/all.txt", "lists/even.txt", "lists/odd.txt", "n1.txt", "n2.txt", "n3.txt", "n4.txt",
      ])
    #expect(try work.read("out/lists/even.txt") == "file/n2 /small/2\nfile/n4 /small/4\n")
    let even = end.stream.all("barrier.end").first { $0["group"] == "even" }
    #expect(even?["outputs"]?.asList?.count == 2)
    let again = try await work.tool.run("run", "m.yaml", "--json", "--allow-private")
    #expect(again.stream.all("plugin.start").isEmpty && again.stream.count("cached") == 4)
  }

  @Test func `a plugin's configuration takes variables and axes, and a process has one`() async throws {
    let work = try Workplace()
    try await write(
      work, "acme.say",
      ops: "  acme.say: { kind: stage, gives: { set: { said: string } }, config: { type: object, "
        + "properties: { words: { type: string }, n: { type: integer } } } }",
      program: """
        from imgflow_plugin import serve
        serve(lambda item, init: {"set": {"said": f"{init['config']['words']} {init['config']['n'] + 1}"}})

        """)
    try work.manifest(
      ["/small/a", "/small/b"], "plugins: [acme.say]\nvars: { greeting: hello }",
      fetch: """
        fetch
          - acme.say: { words: "${vars.greeting} ${matrix.w}", n: "${matrix.n}" }
            matrix: { w: [x, y], n: [1] }
          - write: { path: "${item.key}-${matrix.w}.txt", text: "${item.said}" }
        """, path: "${item.key}-${matrix.w}.bin")
    let end = try await work.tool.run("run", "m.yaml")
    expectEnd(end, 0)
    #expect(try work.read("out/small-a-x.txt").hasPrefix("hello x 2"))
    #expect(try work.read("out/small-b-y.txt").hasPrefix("hello y 2"))
    // A process for each configuration, not for each item.
    #expect(end.stream.all("plugin.start").count == 2)
  }

  @Test func `a source and a sink of plugins begin and end a run`() async throws {
    let work = try Workplace()
    try await write(
      work, "acme.ends",
      ops: "  acme.count: { kind: source, config: { type: object, properties: { base: { type: string } } } }\n"
        + "  acme.tell: { kind: sink }",
      program: """
        import json, sys
        init = None
        def say(**m):
            print(json.dumps(m), flush=True)
        for line in sys.stdin:
            m = json.loads(line)
            if m["t"] == "init":
                init = m
                say(t="ready", v=1)
            elif m["t"] == "pull":
                start = m["cursor"] or 0
                stop = min(start + 2, 7)
                say(t="items", cursor=stop, end=stop == 7, items=[
                    {"url": f"{init['config']['base']}/small/{n}", "key": f"n{n}", "row": {"n": n}}
                    for n in range(start, stop)])
            elif m["t"] == "events":
                say(t="ack", batch=m["batch"])
            elif m["t"] == "drain":
                say(t="bye")

        """)
    try work.write(
      "m.yaml",
      """
      imgflow: 1
      plugins: [acme.ends]
      sources:
        - acme.count: { base: "\(work.server.url)" }
          where: row.n != 3
      stages:
        - fetch
        - store: "${item.key}.txt"
      sinks:
        - acme.tell
      """)
    let end = try await work.tool.run("run", "m.yaml", "--json", "--allow-private")
    expectEnd(end, 0)
    #expect(end.stream.items("ok").sorted() == [0, 1, 2, 4, 5, 6].map { "count/n\($0)" })
    #expect(end.stream.all("sink.error").isEmpty)
  }

  @Test func `a sink that does not take a batch gets it again, and the order stays`() async throws {
    let work = try Workplace()
    try await write(
      work, "acme.list",
      ops: "  acme.list: { kind: sink, config: { type: object, properties: { path: { type: string } } } }",
      program: """
        import json, sys
        path, refused = None, set()
        def say(**m):
            print(json.dumps(m), flush=True)
        for line in sys.stdin:
            m = json.loads(line)
            if m["t"] == "init":
                path = m["config"]["path"]
                say(t="ready", v=1)
            elif m["t"] == "events":
                first = m["events"][0]["seq"]
                if first not in refused:
                    refused.add(first)
                    say(t="nack", batch=m["batch"], **{"class": "transient", "retry_after_ms": 20})
                    continue
                with open(path, "a") as out:
                    for event in m["events"]:
                        out.write(f"{event['seq']} {event['type']}\\n")
                say(t="ack", batch=m["batch"])
            elif m["t"] == "drain":
                say(t="bye")

        """, more: "permissions: { write: [workdir, \(work.place.path)] }")
    try work.manifest(
      (0..<30).map { "/small/\($0)" }, "plugins: [acme.list]",
      more: "sinks:\n  - acme.list: { path: \"\(work.place.file("taken"))\" }\n    required: true")
    let end = try await work.tool.run("run", "m.yaml", "--json")
    expectEnd(end, 0)
    let taken = try work.read("taken").split(separator: "\n").map { $0.split(separator: " ") }
    let numbers = taken.compactMap { $0.first.flatMap { Int($0) } }
    #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
    #expect(taken.count { $0.last == "item.end" } == 30)
    #expect(taken.first?.last == "stream.start" && taken.last?.last == "run.end")
  }

  @Test func `a sink that falls is given up with its last words, and the run goes on`() async throws {
    let work = try Workplace()
    try await write(
      work, "acme.fall", ops: "  acme.fall: { kind: sink }",
      program: """
        import os, sys
        for line in sys.stdin:
            if '"t":"init"' in line:
                print('{"t":"ready","v":1}', flush=True)
            elif '"t":"events"' in line:
                print("there is no room left", file=sys.stderr, flush=True)
                os._exit(4)

        """)
    try work.manifest(["/small/a"], "plugins: [acme.fall]", more: "sinks: [acme.fall]")
    let end = try await work.tool.run("run", "m.yaml", "--json")
    expectEnd(end, 0)
    #expect(end.stream.items("ok") == ["urls/small-a"])
    #expect(
      end.errors.contains("exited with 4") && end.errors.contains("it wrote: there is no room left"), "\(end.errors)")
  }

  @Test func `what is said is recorded, and said again it is answered the same`() async throws {
    let work = try Workplace()
    try await write(work, "acme.loud", ops: loudOp, program: loud)
    // What is replayed reads the same files: those of the state directory are gone after a run.
    try SmallFiles.makeFolder(work.place.file("in"))
    try work.write("in/a.txt", "hello")
    try work.write(
      "d.yaml",
      """
      imgflow: 1
      plugins: [acme.loud]
      sources: [{ directory: { path: in, glob: "*.txt" } }]
      stages: [acme.loud, store]
      """)
    let program = loud.replacing("item[\"in\"][\"path\"]", with: "item[\"item\"][\"path\"]")
    try work.write("acme.loud/main.py", program)
    let end = try await work.tool.run("run", "d.yaml", "--record", "talk.ndjson")
    expectEnd(end, 0)
    let replayed = try await work.tool.run("plugin", "replay", "talk.ndjson")
    #expect(replayed.code == 0, "\(replayed.output)\(replayed.errors)")
    try work.write("acme.loud/main.py", program.replacing("len(text)", with: "1"))
    let changed = try await work.tool.run("plugin", "replay", "talk.ndjson")
    #expect(changed.code == 1 && changed.output.contains("1 are not what they were"), "\(changed.output)")
  }

  @Test func `the check of a plugin that hangs ends, and says where it hangs`() async throws {
    let work = try Workplace()
    let ready = """
      import json, sys, time
      for line in sys.stdin:
          m = json.loads(line)
          if m["t"] == "init":
              print('{"t":"ready","v":1}', flush=True)
          elif m["t"] == "ping":
              print(json.dumps({"t": "pong", "n": m["n"]}), flush=True)
          elif m["t"] == "item":
              time.sleep(3600)

      """
    for (program, words) in [
      ("import time\ntime.sleep(3600)\n", "says that it is ready"), (ready, "answers an item"),
    ] {
      try await write(
        work, "acme.slow\(words.count)", ops: "  acme.slow: { kind: stage }", program: program,
        more: "limits: { start: 2s, item: 2s }")
      let end = try await work.tool.run("plugin", "check", "acme.slow\(words.count)")
      #expect(end.code == 1)
      #expect(end.output.contains("nothing came for 2s"), "\(end.output)")
      #expect(end.output.contains("since the plugin hangs where it \(words); mend that"), "\(end.output)")
    }
  }

  @Test(arguments: ["python", "sh"])
  func `a new plugin passes its test and the check, and is never written over`(language: String) async throws {
    let work = try Workplace()
    let made = try await work.tool.run("plugin", "new", "--lang", language, "acme.first")
    #expect(made.code == 0, "\(made.errors)")
    for verb in ["test", "check"] {
      let end = try await work.tool.run("plugin", verb, "acme.first")
      #expect(end.code == 0, "\(end.output)\(end.errors)")
      #expect(end.output.contains("went well"))
    }
    let measured = try await work.tool.run("plugin", "bench", "acme.first", "--items", "3", "--json")
    #expect(measured.code == 0 && measured.output.contains("\"items\":3"), "\(measured.output)\(measured.errors)")
    #expect(try await work.tool.run("plugin", "new", "--lang", language, "acme.first").code == 1)
    try work.write(
      "acme.first/tests/first.yaml", "input: first.txt\nexpect: { status: ok, set: { size_in_bytes: 7 } }\n")
    let wrong = try await work.tool.run("plugin", "test", "acme.first")
    #expect(wrong.code == 1)
    #expect(wrong.output.contains("`size_in_bytes` is `6`, not `7`"))
  }

  @Test func `a stage in Swift, written as those in the box are, is a plugin like any other`() async throws {
    let work = try Workplace()
    let example = PathText.currentFolder + "/examples/swift/acme.tint"
    for name in ["plugin.yaml", "tests/hello.txt", "tests/plain.yaml", "tests/framed.yaml", "tests/framed.txt"] {
      let copy = work.place.file("acme.tint/" + name)
      try SmallFiles.makeFolder(PathText.parent(of: copy))
      try SmallFiles.create(copy, try SmallFiles.read(PathText.join(example, name)))
    }
    let program = PathText.join(PathText.parent(of: Tool.path), "tint")
    try FileSystem.makeLink(work.place.file("acme.tint/tint"), to: program)
    for verb in ["test", "check"] {
      let end = try await work.tool.run("plugin", verb, "acme.tint")
      #expect(end.code == 0, "\(end.output)\(end.errors)")
    }
    try work.manifest(
      ["/small/a", "/small/b"], "plugins: [acme.tint]",
      fetch: "fetch\n  - acme.tint: { frame: \"|\" }\n  - filter: item.length == 360")
    let end = try await work.tool.run("run", "m.yaml")
    expectEnd(end, 0)
    #expect(try work.read("out/small-a.bin") == "|" + String(decoding: Workplace.body("/small/a"), as: UTF8.self) + "|")
    #expect(end.stream.all("plugin.start").count == 1)
  }
}
