import FlowBase
import FlowEvents
import FlowPlan
import FlowRun
import FlowTesting
import Testing

/// Stages and sources whose work somebody else has written: Lua scripts and programs.
@Suite struct ProgramStageTests {
  private func scene(_ script: String = "") throws -> Scene {
    let scene = try Scene()
    try SmallFiles.replace(scene.place.file("rules.lua"), Array(script.utf8))
    return scene
  }

  private let two = """
    sources:
      - urls: [{ url: "$URL/one", key: one, row: { title: One } }, { url: "$URL/two", key: two, row: { title: Two } }]
    stages:
      - fetch

    """

  // MARK: Lua

  @Test func `A script sets fields, which later stages read`() async throws {
    let scene = try scene("function item(item) return { title = item.row.title:upper(), n = item.bytes + 1 } end")
    let trial = try await scene.run(
      two + "  - script: { file: rules.lua, sets: { title: string, n: integer } }\n"
        + "  - store: \"${item.title}-${item.n}\"\n")
    #expect(trial.exit == .done)
    #expect(scene.outputs == ["ONE-14", "TWO-14"])
  }

  @Test func `Fields that a script does not declare are taken on trust`() async throws {
    let scene = try scene("function item(item) return { title = item.key .. '!' } end")
    let trial = try await scene.run(two + "  - script: rules.lua\n  - store: \"${item.title}\"\n")
    #expect(trial.exit == .done)
    #expect(scene.outputs == ["one!", "two!"])
  }

  @Test func `A script drops items, with its reason`() async throws {
    let scene = try scene("function item(item) return item.key == 'one', 'not wanted' end")
    let trial = try await scene.run(two + "  - script: rules.lua\n  - store: \"${item.key}\"\n")
    #expect(trial.end("two")?.status == .filtered)
    #expect(trial.end("two")?.reason == "script: not wanted")
    #expect(scene.outputs == ["one"])
  }

  @Test func `A script gives an item its name, from arguments of the manifest`() async throws {
    let scene = try scene("function name(item, args) return args.prefix .. item.row.title:lower() .. '.txt' end")
    let trial = try await scene.run(
      two + "  - script: { file: rules.lua, function: name, args: { prefix: x- } }\n  - store\n")
    #expect(trial.exit == .done)
    #expect(scene.outputs == ["x-one", "x-two"])
  }

  @Test func `A script makes items, with the bytes of their parent or with addresses of their own`() async throws {
    let scene = try scene(
      """
      function item(item)
        return { { key = 'copy', width = 1 }, { key = 'more', url = item.url .. '/more' } }
      end
      """)
    let trial = try await scene.run(
      """
      sources:
        - urls: [{ url: "$URL/one", key: one }]
      stages:
        - script: rules.lua
        - fetch
        - store: "${item.key | slug}"
      """)
    #expect(trial.exit == .done)
    #expect(scene.output("one-more") == "bytes of /one/more")
    #expect(scene.output("one-copy") == "bytes of /one")
    #expect(trial.items.total == 3)
  }

  @Test func `An error of a script fails its item, with file and line`() async throws {
    let scene = try scene("function item(item)\n  if item.key == 'two' then error('odd') end\nend")
    let trial = try await scene.run(two + "  - script: rules.lua\n  - store: \"${item.key}\"\n")
    #expect(trial.end("one")?.status == .ok)
    #expect(trial.end("two")?.error?.fault.code == "script.error")
    #expect(trial.end("two")?.error?.fault.message == "rules.lua:2: odd")
  }

  @Test func `A script that has changed makes results stale, one that has not leaves them`() async throws {
    let scene = try scene("function item(item) return { title = 'a' .. item.key } end")
    let manifest = two + "  - script: rules.lua\n  - store: \"${item.title}\"\n"
    try await scene.run(manifest)
    #expect(try await scene.run(manifest).items.cached == 2)
    try SmallFiles.replace(
      scene.place.file("rules.lua"), Array("function item(item) return { title = 'b' .. item.key } end".utf8))
    let third = try await scene.run(manifest)
    #expect(third.items.cached == 0)
    #expect(scene.output("bone") == "bytes of /one")
  }

  @Test(arguments: [
    ("rules.lua", "rules.lua has no function `item`"), ("broken.lua", "broken.lua:1: unexpected symbol near '='"),
    ("missing.lua", "No such file"),
  ])
  func `What is wrong with a script is found before anything is fetched`(file: String, message: String) throws {
    let scene = try scene("function other() end")
    try SmallFiles.replace(scene.place.file("broken.lua"), Array("x = = 1".utf8))
    let found = scene.problems(two + "  - script: \(file)\n")
    #expect(found.map(\.code) == ["E0130"])
    #expect(found.first?.message.contains(message) == true, "\(found)")
    #expect(scene.problems(two + "  - script: { file: rules.lua, function: other }\n") == [])
  }

  @Test(arguments: [
    ("{ file: missing.lua }", ["E0130"]), ("{ file: missing.lua, nothing: 1 }", ["E0103"]),
    ("{ file: missing.lua, function: [] }", ["E0110"]),
  ])
  func `A part is asked about its configuration once all of it can be read`(config: String, codes: [String]) throws {
    let scene = try scene("")
    #expect(scene.problems(two + "  - script: \(config)\n").map(\.code) == codes)
  }

  @Test func `A script is a source, and items stream from it`() async throws {
    let scene = try scene(
      """
      function items(ctx)
        for n = 1, ctx.args.count do
          coroutine.yield({ url = ctx.args.base .. '/' .. n, key = 'k' .. n, half = n / 2 })
        end
      end
      """)
    let trial = try await scene.run(
      """
      sources:
        - script: { file: rules.lua, args: { count: 3000, base: "$URL" } }
          where: row.half < 3
      stages:
        - fetch
        - store: "${item.key}"
      """, inputs: { $0.allowsPrivate = true })
    #expect(trial.exit == .done)
    #expect(scene.outputs == ["k1", "k2", "k3", "k4", "k5"])
  }

  @Test func `A source whose script fails in the middle ends the run as failed`() async throws {
    let scene = try scene("function items(ctx)\ncoroutine.yield('http://127.0.0.1:1/a')\nerror('gone')\nend")
    let trial = try await scene.run("sources:\n  - script: rules.lua\nstages:\n  - filter: false\n")
    #expect(trial.exit == .failed)
    #expect(trial.log.contains { $0.contains("rules.lua:3: gone") })
  }

  // MARK: Programs

  @Test func `A program works on an item's file, and what it writes are the item's bytes from then on`() async throws {
    let scene = try scene()
    let trial = try await scene.run(
      two + """
          - exec: [sh, -c, "tr a-z A-Z <\\"$1\\" >\\"$2\\"", sh, "${item.path}", "${out.path}.txt"]
          - store: "${item.key}-${item.bytes}"
        """)
    #expect(trial.exit == .done, "\(trial.log)")
    #expect(scene.output("one-13") == "BYTES OF /ONE")
    #expect(scene.output("two-13") == "BYTES OF /TWO")
  }

  @Test func `A program gets words as they are, its folder, and no variables but those it is given`() async throws {
    let scene = try scene()
    try SmallFiles.makeFolder(scene.place.file("work"))
    let trial = try await scene.run(
      two + """
          - exec:
              argv: [sh, -c, "pwd >\\"$1\\"; printf '%s|' \\"$2\\" >>\\"$1\\"; env | cut -d= -f1 | sort | tr '\\\\n' ' ' >>\\"$1\\"", sh, "${out.path}", "${item.key} $(id) ; '"]
              env: { COLOUR: red }
              cwd: work
          - store: "${item.key}"
        """)
    #expect(trial.exit == .done, "\(trial.log)")
    let lines = scene.output("one")?.split(separator: "\n").map(String.init) ?? []
    #expect(lines.first?.hasSuffix("/work") == true)
    #expect(lines.last?.hasPrefix("one $(id) ; '|COLOUR ") == true)
    let names = Set(lines.last?.split(separator: "|").last?.split(separator: " ").map(String.init) ?? [])
    #expect(
      names.isSubset(of: ["COLOUR", "HOME", "LANG", "OLDPWD", "PATH", "PWD", "SHLVL", "TMPDIR", "_"]), "\(names)")
  }

  @Test func `A program that fails fails its item, with the last that it said`() async throws {
    let scene = try scene()
    let trial = try await scene.run(
      two + "  - exec: [sh, -c, \"echo first >&2; echo no good >&2; exit 3\"]\n")
    let fault = trial.end("one")?.error?.fault
    #expect(fault?.code == "exec.failed")
    #expect(fault?.message == "`sh` exited with 3: first\nno good")
    let killed = try await scene.run(two + "  - exec: [sh, -c, \"kill -9 $$\"]\n")
    #expect(killed.end("one")?.error?.fault.message == "`sh` was ended by signal 9 (SIGKILL)")
  }

  @Test func `A program that writes nothing, or too much, fails its item`() async throws {
    let scene = try scene()
    let nothing = try await scene.run(two + "  - exec: [\"true\", \"${out.path}\"]\n")
    #expect(nothing.end("one")?.error?.fault.code == "exec.output")
    let link = try await scene.run(two + "  - exec: [ln, -s, /etc/passwd, \"${out.path}\"]\n")
    #expect(link.end("one")?.error?.fault.code == "path.escapes")
    let folder = try await scene.run(two + "  - exec: [mkdir, \"${out.path}\"]\n")
    #expect(folder.end("one")?.error?.fault.code == "program.output")
  }

  @Test func `A program that is not there is a fault of the configuration, and stops the run`() async throws {
    let scene = try scene()
    let trial = try await scene.run(two + "  - exec: [no-such-program-here]\n")
    #expect(trial.exit == .usage)
    #expect(trial.ends.values.contains { $0.error?.fault.code == "config.exec" })
  }

  @Test func `A program that takes too long is ended with all that it has started`() async throws {
    let scene = try scene()
    let trial = try await scene.run(
      """
      sources:
        - urls: [{ url: "$URL/one", key: one }]
      stages:
        - exec: [sh, -c, "sleep 1000 & echo $! >pid; wait"]
          timeout: 300ms
          retry: { attempts: 1 }
      """)
    #expect(trial.end("one")?.error?.fault.code == "net.timeout.total")
    let text = String(decoding: try SmallFiles.read(scene.place.file("pid")), as: UTF8.self)
    let sleeper = try #require(Int(text.filter(\.isNumber)))
    // A process that has ended and that nobody has waited for counts as ended.
    let state = (try? SmallFiles.read("/proc/\(sleeper)/stat")).map { String(decoding: $0, as: UTF8.self) }
    #expect(state == nil || state?.contains(") Z ") == true, "\(state ?? "")")
  }

  @Test func `A program runs once at the end, with the figures of the run`() async throws {
    let scene = try scene()
    let trial = try await scene.run(
      two + """
          - store: "${item.key}"
          - id: publish
            exec: [sh, -c, "echo $1 $2 >done", sh, "${run.ok}", "${output.dir}"]
            needs: store
            per: run
        """)
    #expect(trial.exit == .done)
    let text = String(decoding: try SmallFiles.read(scene.place.file("done")), as: UTF8.self)
    #expect(text == "2 \(scene.place.file("out"))\n")
  }
}
