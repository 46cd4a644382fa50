@testable import FlowPlugins
import FlowBase
import FlowEvents
import FlowParts
import FlowTesting
import Testing

/// Plugins that do what they should not: the run goes on, and says what happened.
@Suite(.timeLimit(.minutes(2))) struct MisbehaviourTests {
  @Test func `Noise is cut off or counted, and the answers still count`() async throws {
    let bench = try Workbench(
      """
      out.write("working on it\\n")
      out.write("glued" + chr(0x1e))
      ok(m, set={"n": 1})
      """)
    #expect(try await bench.run().fields["n"] == 1)
    #expect(bench.noises == ["working on it", "glued"])
    await bench.close()
  }

  @Test func `Too much noise ends the stage`() async throws {
    let bench = try Workbench("out.write(\"x\\n\" * 101)\nout.flush()")
    #expect(await bench.code() == "plugin.noise")
    #expect(await bench.code() == "plugin.noise")
    await bench.close()
  }

  @Test func `Half lines wait for their rest, and lines of a mebibyte go through`() async throws {
    let bench = try Workbench(
      """
      text = json.dumps({"t": "result", "id": m["id"], "status": "ok", "set": {"text": "x" * ((1 << 20) - 200)}})
      out.write(text[:100]); out.flush(); time.sleep(0.02); out.write(text[100:]); out.flush(); time.sleep(0.02)
      out.write("\\n"); out.flush()
      """)
    #expect(try await bench.run().fields["text"]?.text.utf8.count == (1 << 20) - 200)
    await bench.close()
  }

  @Test func `Answers to what nobody asked, and second answers, are noise`() async throws {
    let bench = try Workbench("ok({\"id\": 4711})\nok(m, set={\"n\": 1})\nok(m, set={\"n\": 2})")
    #expect(try await bench.run().fields["n"] == 1)
    #expect(try await bench.run().fields["n"] == 1)
    await bench.close()
    #expect(bench.noises.count == 4, "\(bench.noises)")
  }

  @Test func `A crash with items in flight harms only the one that causes it`() async throws {
    let bench = try Workbench(
      """
      if m["key"] == "poison":
          print("about to fall", file=sys.stderr, flush=True)
          os._exit(3)
      time.sleep(0.005)
      ok(m, set={"n": 1})
      """, limits: "{ window: 4 }")
    let results = await bench.all((0..<20).map(String.init) + ["poison"])
    #expect(results["poison"] == "plugin.crashed")
    #expect(results.values.count { $0 == "1" } == 20, "\(results)")
    #expect((2...3).contains(bench.crashes.count))
    #expect(bench.crashes.first?.code == 3)
    #expect(bench.crashes.first?.stderr == "about to fall")
    await bench.close()
  }

  @Test func `A plugin that never works is given up`() async throws {
    let bench = try Workbench("pass", prelude: "sys.exit(1)")
    #expect(await bench.code() == "plugin.crash_loop")
    #expect(bench.crashes.count == 5)
    #expect(await bench.code() == "plugin.crash_loop")
    await bench.close()
  }

  @Test func `A program that is not there is told of at once`() async throws {
    let bench = try Workbench("pass", launcher: nil)
    var plugin = bench.plugin
    plugin.run = ["no-such-program-here"]
    let stage = PluginStage(plugin, plugin.ops[0], PluginSurroundings())
    let context = StageContext(stage: "op", config: Config(), attempt: 1, services: bench.services)
    let leg = Leg(item: Item(source: "s", key: "k", index: 1, url: nil))
    await #expect(throws: Fault.self) { try await stage.run(leg, in: context) }
    await stage.close()
  }

  @Test func `Silence at the start, and a configuration that is refused, end the stage with the reason`() async throws {
    let silent = try Workbench("pass", prelude: "silent = True", limits: "{ start: 300ms }")
    #expect(await silent.code() == "plugin.start")
    await silent.close()
    let refusing = try Workbench(
      "pass",
      prelude: """
        greeting = {"t": "error", "fatal": True, "code": "config.invalid", "field": "/margin", "message": "too wide"}
        """)
    await #expect(throws: Fault("config.plugin", .config, "test.op: too wide (/margin)")) { try await refusing.run() }
    await refusing.close()
  }

  @Test func `Late work is cancelled, and its process ended where it does not listen`() async throws {
    let listening = try Workbench(
      "if m[\"key\"] != \"hang\": ok(m, set={\"n\": 1})",
      prelude: "cancelled = lambda m: say({\"t\": \"result\", \"id\": m[\"id\"], \"status\": \"cancelled\"})",
      limits: "{ item: 300ms }",
      times: { $0.grace = .seconds(20) })
    let heard = await listening.all(["hang", "a", "b"])
    #expect(heard["hang"] != "1" && heard["a"] == "1" && heard["b"] == "1", "\(heard)")
    #expect(listening.starts == 1)
    await listening.close()
    let deaf = try Workbench(
      """
      if m["key"] == "hang":
          signal.signal(signal.SIGTERM, signal.SIG_IGN)
          while True: time.sleep(1)
      ok(m, set={"n": 1})
      """, limits: "{ item: 300ms, window: 1 }")
    let results = await deaf.all(["hang", "a", "b"])
    #expect(results == ["hang": "plugin.timeout", "a": "1", "b": "1"])
    #expect(deaf.crashes.isEmpty)
    await deaf.close()
  }

  @Test func `Work that is cancelled from outside ends, and the process goes on`() async throws {
    let bench = try Workbench(
      "if m[\"key\"] != \"hang\": ok(m, set={\"n\": 1})",
      prelude: "cancelled = lambda m: say({\"t\": \"result\", \"id\": m[\"id\"], \"status\": \"cancelled\"})",
      times: { $0.grace = .seconds(20) })
    let task = Task { await bench.code("hang") }
    #expect(try await bench.run("a").fields["n"] == 1)
    task.cancel()
    #expect(await task.value == "cancelled.user")
    #expect(try await bench.run("b").fields["n"] == 1)
    #expect(bench.starts == 1)
    await bench.close()
  }

  @Test func `What a plugin has forked goes with it, and it goes although it ignores its end of input`() async throws {
    let bench = try Workbench(
      """
      child = os.fork()
      if child == 0:
          signal.signal(signal.SIGTERM, signal.SIG_IGN)
          while True: time.sleep(1)
      ok(m, set={"n": child})
      """,
      prelude: """
        stays = True
        import atexit
        def stay():
            while True: time.sleep(1)
        atexit.register(stay)
        """)
    let child = try await bench.run().fields["n"]?.asInt ?? 0
    #expect(child > 0)
    await bench.close()
    let state = (try? SmallFiles.read("/proc/\(child)/stat")).map { String(decoding: $0, as: UTF8.self) }
    #expect(state == nil || state?.contains(") Z ") == true, "\(state ?? "")")
  }

  @Test(arguments: [
    ("../../escape", "path.escapes"), ("/etc/passwd", "path.escapes"), ("link", "path.escapes"),
    ("missing", "program.output"), ("folder", "program.output"), ("pipe", "program.output"),
  ])
  func `Outputs that are none of its own are refused`(path: String, code: String) async throws {
    let bench = try Workbench(
      """
      d = m["out"]["dir"]
      os.symlink("/etc/passwd", os.path.join(d, "link"))
      os.mkdir(os.path.join(d, "folder"))
      os.mkfifo(os.path.join(d, "pipe"))
      ok(m, out=[{"path": m["key"]}])
      """)
    #expect(await bench.code(path) == code)
    await bench.close()
  }

  @Test func `Results that say nothing, and fields of another type, fail their item`() async throws {
    let bench = try Workbench(
      """
      if m["key"] == "odd":
          say({"t": "result", "id": m["id"], "status": "maybe"})
      elif m["key"] == "type":
          ok(m, set={"n": "four"})
      elif m["key"] == "ours":
          say({"t": "result", "id": m["id"], "status": "error", "code": "internal.bug", "class": "config"})
      else:
          say({"t": "result", "id": m["id"]})
      """)
    #expect(await bench.code("odd") == "plugin.protocol")
    #expect(await bench.code("type") == "plugin.protocol")
    #expect(await bench.code("none") == "plugin.protocol")
    #expect(await bench.code("ours") == "plugin.error")
    await bench.close()
  }

  @Test func `What has gone into a session of its own goes too, and holds nothing up`() async throws {
    let bench = try Workbench(
      """
      # Twice forked, so that it is nobody's child, with the pipes still in its hands.
      if os.fork() == 0:
          os.setsid()
          if os.fork() == 0:
              signal.signal(signal.SIGHUP, signal.SIG_IGN)
              open(os.path.join(init["workdir"], "child"), "w").write(str(os.getpid()))
              while True: time.sleep(1)
          os._exit(0)
      path = os.path.join(init["workdir"], "child")
      while not (os.path.exists(path) and open(path).read()): time.sleep(0.005)
      ok(m, set={"n": int(open(path).read())})
      """)
    let child = try await bench.run().fields["n"]?.asInt ?? 0
    #expect(SmallFiles.exists("/proc/\(child)"))
    await bench.close()
    let state = (try? SmallFiles.read("/proc/\(child)/stat")).map { String(decoding: $0, as: UTF8.self) }
    #expect(state == nil || state?.contains(") Z ") == true, "\(state ?? "")")
  }

  @Test func `Another version of the protocol, and answers before the handshake, come to nothing`() async throws {
    let newer = try Workbench("ok(m)", prelude: "greeting = {\"t\": \"ready\", \"v\": 2}")
    #expect(await newer.code() == "plugin.start")
    await newer.close()
    let early = try Workbench("ok(m, set={\"n\": 1})", prelude: "ok({\"id\": 1}, set={\"n\": 9})")
    #expect(try await early.run().fields["n"] == 1)
    #expect(early.noises.count == 1)
    await early.close()
  }

  @Test func `A flood on standard error costs its words and not the item`() async throws {
    let bench = try Workbench(
      """
      for number in range(3000):
          print("word", number, file=sys.stderr)
      sys.stderr.write("x" * 300000)
      sys.stderr.flush()
      if m["key"] == "fall":
          print("\\nlast words", file=sys.stderr, flush=True)
          os._exit(1)
      ok(m, set={"n": 1})
      """)
    #expect(try await bench.run().fields["n"] == 1)
    #expect(await bench.code("fall") == "plugin.crashed")
    await bench.close()
    let lines = bench.services.log.filter { $0.hasPrefix("info: test.plugin: ") }
    #expect(lines.count > 1000 && lines.allSatisfy { $0.utf8.count < 2100 }, "\(lines.count)")
    let words = bench.crashes.first?.stderr ?? ""
    #expect(words.hasSuffix("last words") && words.utf8.count <= 32768)
  }

  @Test func `A plugin that stops reading harms only what it holds`() async throws {
    // More than a pipe takes: what is not read stays with us, and others go on.
    let bench = try Workbench(
      """
      if m["key"].startswith("stop"):
          signal.signal(signal.SIGTERM, signal.SIG_IGN)
          while True: time.sleep(1)
      ok(m, set={"n": 1})
      """, limits: "{ item: 1500ms, window: 2 }")
    let other = try Workbench("ok(m, set={\"n\": 1})")
    let big = Fields(names: ["text"], values: [.string(String(repeating: "x", count: 200_000))])
    let stopped = Task { try await bench.run("stop", fields: big) }
    let waiting = Task { try await bench.run("a", fields: big) }
    for _ in 0..<20 { #expect(try await other.run().fields["n"] == 1) }
    await #expect(throws: Fault.self) { try await stopped.value }
    _ = try? await waiting.value
    #expect(try await bench.run("b").fields["n"] == 1)
    await bench.close()
    await other.close()
  }

  @Test func `A plugin that removes its work directory harms no item that does without`() async throws {
    let bench = try Workbench(
      """
      import shutil
      shutil.rmtree(init["workdir"], ignore_errors=True)
      ok(m, set={"n": len(os.listdir(m["out"]["dir"])) if os.path.exists(m["out"]["dir"]) else -1})
      """, limits: "{ window: 1 }")
    for _ in 0..<3 { #expect(try await bench.run().fields["n"] == -1) }
    await bench.close()
  }

  @Test func `A work directory that cannot be mended fails the item, and the process goes on`() async throws {
    let bench = try Workbench(
      """
      import shutil
      w = init["workdir"]
      if m["key"] == "break":
          shutil.rmtree(w, ignore_errors=True)
          open(w, "w").close()
      ok(m, set={"n": 1})
      """, limits: "{ window: 1 }", more: "permissions: { write: [workdir, /tmp] }")
    #expect(try await bench.run("break").fields["n"] == 1)
    #expect(await bench.code("a") != nil)
    #expect(await bench.code("b") != nil)
    #expect(bench.crashes.isEmpty && bench.starts == 1)
    await bench.close()
  }

  @Test func `What a process of one item leaves behind goes with it`() async throws {
    let bench = try Workbench(
      "pass",
      prelude: """
        m = json.loads(sys.stdin.readline())
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.write(writing, str(os.getpid()).encode())
                while True: time.sleep(1)
            os._exit(0)
        ok(m, set={"n": int(os.read(reading, 20))})
        sys.exit(0)
        """, more: "mode: oneshot")
    let child = try await bench.run().fields["n"]?.asInt ?? 0
    #expect(child > 0)
    let state = (try? SmallFiles.read("/proc/\(child)/stat")).map { String(decoding: $0, as: UTF8.self) }
    #expect(state == nil || state?.contains(") Z ") == true, "\(state ?? "")")
    await bench.close()
  }
}
