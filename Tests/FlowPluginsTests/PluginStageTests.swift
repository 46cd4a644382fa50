@testable import FlowPlugins
import FlowBase
import FlowEvents
import FlowParts
import FlowTesting
import Testing

/// Plugins that do what they should.
@Suite(.timeLimit(.minutes(2))) struct PluginStageTests {
  private func held(_ bytes: String) -> Content { .bytes(Array(bytes.utf8)) }

  @Test func `A plugin sees the item and its file, sets fields and gives new bytes`() async throws {
    let bench = try Workbench(
      """
      text = open(m["in"]["path"]).read()
      open(os.path.join(m["out"]["dir"], "new.txt"), "w").write(text.upper() + str(init["config"]["margin"]))
      ok(m, out=[{"path": "new.txt", "media": "text/plain"}], set={"n": m["item"]["width"] + 1, "other": 3})
      """, config: ["margin": 0.25])
    let result = try await bench.run(content: held("bytes"), fields: ["width": 7, "media": "text/plain"])
    guard case .file(let file)? = result.content else {
      Issue.record("there must be new bytes")
      return
    }
    #expect(String(decoding: try SmallFiles.read(file.path), as: UTF8.self) == "BYTES0.25")
    #expect(result.fields["n"] == 8)
    #expect(result.fields["other"] == nil)
    #expect(result.fields["bytes"] == 9)
    #expect(result.fields["media"] == "text/plain")
    #expect(result.fields["sha256"] == .string(Digest.sha256(of: Array("BYTES0.25".utf8)).hex))
    await bench.close()
    #expect(bench.services.temporaryNames.count == 1, "\(bench.services.temporaryNames)")
  }

  @Test func `An item can be dropped, refused, or made into several`() async throws {
    let bench = try Workbench(
      """
      k = m["key"]
      if k == "drop":
          say({"t": "result", "id": m["id"], "status": "drop", "reason": "twin"})
      elif k == "bad":
          say({"t": "result", "id": m["id"], "status": "error", "code": "image.no_face", "message": "nobody"})
      elif k == "busy":
          say({"t": "result", "id": m["id"], "status": "error", "code": "model.overloaded", "message": "later"})
      else:
          for n in "ab":
              open(os.path.join(m["out"]["dir"], n + ".txt"), "w").write(n)
          say({"t": "result", "id": m["id"], "status": "many", "items": [
              {"key": n, "out": {"path": n + ".txt"}, "set": {"n": 1}} for n in "ab"]})
      """)
    guard case .drop("twin") = try await bench.run("drop").verdict else {
      Issue.record("it must be dropped")
      return
    }
    await #expect(throws: Fault("image.no_face", .permanent, "nobody")) { try await bench.run("bad") }
    await #expect(throws: Fault("model.overloaded", .transient, "later")) { try await bench.run("busy") }
    guard case .many(let items) = try await bench.run("many").verdict else {
      Issue.record("there must be many")
      return
    }
    #expect(items.map(\.key) == ["a", "b"])
    #expect(items.map { $0.fields["name"] } == ["a.txt", "b.txt"])
    await bench.close()
  }

  @Test func `Many items are under way at once, and answers come in any order`() async throws {
    let bench = try Workbench(
      """
      if len(seen) == 4:
          for earlier in reversed(seen):
              ok(earlier, set={"n": len(seen)})
          seen.clear()
      """, limits: "{ window: 4 }")
    let results = await bench.all((0..<8).map(String.init))
    #expect(results.values.allSatisfy { $0 == "4" }, "\(results)")
    #expect(bench.starts == 1)
    await bench.close()
  }

  @Test func `Several processes share the work where one is not enough`() async throws {
    let bench = try Workbench(
      """
      # The first process answers once the second has its item.
      sign = os.path.join(os.path.dirname(init["workdir"]), "second")
      if init["instance"] == 1:
          open(sign, "w").close()
      while not os.path.exists(sign):
          time.sleep(0.005)
      ok(m, set={"n": init["instance"]})
      """, limits: "{ instances: 2, window: 1 }", more: "permissions: { write: [workdir, /tmp] }")
    let results = await bench.all(["a", "b"])
    #expect(Set(results.values) == ["0", "1"], "\(results)")
    await bench.close()
  }

  @Test func `A file of this machine is worked on where it lies`() async throws {
    let bench = try Workbench("ok(m, set={\"text\": open(m[\"in\"][\"path\"]).read() + m[\"in\"][\"media\"]})")
    try SmallFiles.replace(bench.services.place.file("here.txt"), Array("here ".utf8))
    let result = try await bench.run(fields: ["path": .string(bench.services.place.file("here.txt"))])
    #expect(result.fields["text"] == "here text/plain")
    #expect(result.content == nil)
    await bench.close()
  }

  @Test func `Progress and log lines are passed on, and stderr is the log`() async throws {
    let bench = try Workbench(
      """
      say({"t": "progress", "id": m["id"], "ratio": 0.5})
      say({"t": "log", "id": m["id"], "level": "warn", "message": "low light"})
      say({"t": "weather", "wind": 3})
      print("a word", file=sys.stderr, flush=True)
      ok(m)
      """)
    _ = try await bench.run()
    await bench.close()
    #expect(bench.services.log.contains("warn: test.op: low light"))
    #expect(bench.services.log.contains("info: test.plugin: a word"), "\(bench.services.log)")
  }

  @Test func `A process of one item gets a line and gives a line`() async throws {
    let bench = try Workbench(
      "pass",
      prelude: """
        m = json.loads(sys.stdin.readline())
        open(os.path.join(m["out"]["dir"], "o"), "w").write(m["op"] + str(m["config"]["margin"]))
        print("noise")
        ok(m, out=[{"path": "o"}], set={"n": 4})
        sys.exit(0)
        """, more: "mode: oneshot", config: ["margin": 0.5])
    let result = try await bench.run(content: held("x"))
    #expect(result.fields["n"] == 4)
    #expect(result.fields["bytes"] == 10)
    #expect(bench.noises == ["noise"])
  }

  @Test func `A plugin may write in its work directory and nowhere else, and reaches no network`() async throws {
    let bench = try Workbench(
      """
      def tried(f):
          try:
              f()
              return "yes"
          except OSError as e:
              return "no"
      import socket, tempfile
      text = " ".join([
          tried(lambda: open(os.path.join(init["workdir"], "x"), "w").write("x")),
          tried(lambda: tempfile.TemporaryFile().write(b"x")),
          tried(lambda: open("beside", "w").write("x")),
          tried(lambda: open("/tmp/imgflow-test-escape", "w").write("x")),
          tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM)),
          tried(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)),
          tried(lambda: open("/dev/null", "w").write("x")),
      ])
      ok(m, set={"text": text})
      """)
    let writes = Confinement.canBoundWrites ? "no no" : "yes yes"
    #expect(try await bench.run().fields["text"] == .string("yes yes \(writes) no yes yes"))
    await bench.close()
  }

  @Test func `A plugin has a session and a group of its own, no new privileges and no core dumps`() async throws {
    let bench = try Workbench(
      """
      import resource
      facts = dict(line.split(":", 1) for line in open("/proc/self/status"))
      ok(m, set={"text": " ".join(map(str, [
          os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid(), facts["NoNewPrivs"].strip(),
          resource.getrlimit(resource.RLIMIT_CORE)[0]]))})
      """)
    #expect(try await bench.run().fields["text"] == "True True 1 0")
    await bench.close()
  }

  @Test func `A plugin gets few variables, and memory only up to its limit`() async throws {
    let bench = try Workbench(
      """
      try:
          big = bytearray(600 << 20)
          big = "got it"
      except MemoryError:
          big = "refused"
      ok(m, set={"text": big + " " + " ".join(sorted(os.environ))})
      """, limits: "{ memory: 200MB }")
    let text = try await bench.run().fields["text"]?.text ?? ""
    #expect(text.hasPrefix("refused "))
    // What starts Python may add variables of its own; of ours there are no others.
    let names = Set(text.split(separator: " ").dropFirst().map(String.init))
    let ours = names.intersection(ProcessFacts.environment.keys).filter { !$0.contains("PYENV") }
    #expect(ours.isSubset(of: ["HOME", "LANG", "LC_CTYPE", "PATH", "PWD", "SHLVL", "TMPDIR", "_"]), "\(ours)")
    await bench.close()
  }

  @Test func `An item finds its folder empty, whatever the item before has done with its own`() async throws {
    let bench = try Workbench(
      """
      d, k = m["out"]["dir"], m["key"]
      found = os.listdir(d)
      if k == "hidden":
          open(os.path.join(d, ".x"), "w").close()
      elif k == "deep":
          os.makedirs(os.path.join(d, "a/b"))
      elif k == "bytes":
          open(os.path.join(d, "x"), "w").write("x")
          ok(m, out=[{"path": "x"}], set={"text": d})
          continue
      elif k == "bad":
          say({"t": "result", "id": m["id"], "status": "error", "code": "acme.bad"})
          continue
      ok(m, set={"n": len(found), "text": d})
      """, limits: "{ window: 1 }")
    func folder(_ key: String) async throws -> String {
      let fields = try await bench.run(key).fields
      #expect(fields["n"] ?? 0 == 0, "\(key)")
      return fields["text"]?.text ?? ""
    }
    let first = try await folder("a")
    #expect(try await folder("b") == first)
    #expect(try await folder("hidden") == first)
    let second = try await folder("c")
    #expect(second != first)
    #expect(try await folder("deep") == second)
    let third = try await folder("bytes")
    #expect(third != second)
    let fourth = try await folder("d")
    #expect(fourth != third)
    #expect(await bench.code("bad") == "acme.bad")
    #expect(try await folder("e") != fourth)
    await bench.close()
  }

  @Test func `What a process wrote for an item before it fell is not there for the next one`() async throws {
    let bench = try Workbench(
      """
      found = os.listdir(m["out"]["dir"])
      sign = os.path.join(os.path.dirname(init["workdir"]), "fallen")
      if not os.path.exists(sign):
          open(sign, "w").close()
          open(os.path.join(m["out"]["dir"], "half"), "w").close()
          os._exit(1)
      ok(m, set={"n": len(found)})
      """, more: "permissions: { write: [workdir, /tmp] }")
    #expect(try await bench.run().fields["n"] == 0)
    #expect(bench.crashes.count == 1)
    await bench.close()
  }

  @Test func `Without a task a plugin gives the same, and what must be read first is left to one`() async throws {
    let bench = try Workbench(
      """
      k = m["key"]
      if k == "bad":
          say({"t": "result", "id": m["id"], "status": "error", "code": "acme.bad", "message": "no"})
      elif k != "slow":
          open(os.path.join(m["out"]["dir"], "x"), "w").write(k)
          ok(m, set={"n": 5}, **({"out": [{"path": "x"}]} if k == "bytes" else {}))
      """,
      prelude: "cancelled = lambda m: say({\"t\": \"result\", \"id\": m[\"id\"], \"status\": \"cancelled\"})")
    #expect(try await bench.prompt("plain").get().fields["n"] == 5)
    guard case .file(let file)? = try await bench.prompt("bytes").get().content else {
      Issue.record("there must be bytes")
      return
    }
    #expect(try SmallFiles.read(file.path) == Array("bytes".utf8))
    #expect(await bench.prompt("bad").code == "acme.bad")
    #expect(await bench.prompt("slow", cancels: true).code == "cancelled.user")
    #expect(try bench.begins(content: held("in memory")) == false)
    let path = bench.services.place.file("here")
    try SmallFiles.create(path, [])
    #expect(try bench.begins(fields: ["path": .string(path)]) == false)
    await bench.close()
  }
}

extension Result where Failure == Fault {
  fileprivate var code: String? { if case .failure(let fault) = self { fault.code } else { nil } }
}
