import FlowBase
import FlowTesting
import Testing

/// Why something runs again, what a state that cannot be used says, and how few descriptors are enough.
@Suite(.serialized) struct StateTests {
  @Test func `what has changed is named by its key, its values and its line, by plan and by status`() async throws {
    let work = try PictureTests.place(["one.png": Painter.photo("one")])
    func write(_ sigma: String, note: String = "") throws {
      try work.write(
        "catalog.yaml",
        PictureTests.manifest(
          """
            # remarks and order of keys change nothing \(note)
            - id: soft
              blur: { sigma: \(sigma) }
            - store: "${item.key}.png"
          """))
    }
    try write("0.5")
    #expect(try await work.tool.run("plan", "catalog.yaml", "--why", "one").output.hasPrefix("directory/one: new\n"))
    expectEnd(try await work.tool.run("run", "catalog.yaml"), 0)
    try write("0.5", note: "at all")
    let same = try await work.tool.run("plan", "catalog.yaml", "--why", "directory/one")
    #expect(same.output == "directory/one: nothing to do, what it depends on has not changed\n")
    #expect(try await work.tool.run("plan", "catalog.yaml", "--exit-code").code == 0)

    try write("0.75")
    let sentence = "config changed: sigma 0.5 -> 0.75  (catalog.yaml:9)"
    let why = try await work.tool.run("plan", "catalog.yaml", "--why", "directory/one")
    #expect(why.output.hasPrefix("directory/one: \(sentence)\n"), "\(why.output)")
    let status = try await work.tool.run("status", "last", "directory/one")
    #expect(status.output.contains("next    it would run: \(sentence)\n"), "\(status.output)\(status.errors)")
    let plan = try await work.tool.run("plan", "catalog.yaml", "--exit-code")
    #expect(plan.code == 1 && plan.output.contains("  1  \(sentence)\n"), "\(plan.output)")
    expectEnd(try await work.tool.run("run", "catalog.yaml"), 0)
    try FileSystem.remove(work.place.file("out/one.png"))
    #expect(
      try await work.tool.run("plan", "catalog.yaml", "--why", "one").output.hasPrefix(
        "directory/one: output missing\n"))
  }

  @Test func `a gate that would hold back more bytes than there is room for is warned of beforehand`() async throws {
    let work = try Workplace()
    let rows = (0..<4).map { "      - { url: \"\(work.server.url)/small/\($0)\", size: 400 }" }
    func plan(_ room: String) async throws -> String {
      try work.write(
        "m.yaml",
        """
        imgflow: 1
        limits: { temp: \(room) }
        sources:
          - urls:
        \(rows.joined(separator: "\n"))
        stages:
          - fetch
          - store: "${item.name}"
            after: fetch
        """)
      return try await work.tool.run("plan", "m.yaml").output
    }
    let warning = "warning: all items wait before `store`, 1.60 kB at least, and `limits.temp` is 1.50 kB (disk.budget)"
    let tight = try await plan("1500B")
    #expect(tight.contains(warning), "\(tight)")
    #expect(try await work.tool.run("plan", "m.yaml", "--json").output.contains("disk.budget"))
    #expect(!(try await plan("2kB")).contains("warning"))
    #expect(work.server.requests.isEmpty)
  }

  @Test func `a journal that is cut off, or of a newer version, is refused in words and left as it is`() async throws {
    let work = try Workplace()
    try work.manifest((0..<5).map { "/small/\($0)" })
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    let path = work.place.file(".imgflow/m/journal.sqlite")
    let whole = try SmallFiles.read(path)
    var newer = whole
    // `user_version` in the head of a SQLite file.
    newer[63] = 99
    let damages = [
      ("state.damaged", Array(whole.prefix(whole.count / 2)), "move its folder away"),
      ("state.damaged", [UInt8](repeating: 0, count: whole.count), "move its folder away"),
      ("state.newer", newer, "use that version, or another state directory"),
    ]
    for (code, bytes, remedy) in damages {
      try SmallFiles.replace(path, bytes)
      let asked = work.server.requests.count
      let end = try await work.tool.run("run", "m.yaml")
      expectEnd(end, 6)
      #expect(end.errors.contains(code) && end.errors.contains(path) && end.errors.contains(remedy), "\(end.errors)")
      #expect(work.server.requests.count == asked && work.files().count == 5)
      for command in [["status", "m.yaml"], ["plan", "m.yaml"], ["verify", "m.yaml"], ["lock", "m.yaml"]] {
        let said = try await work.tool.start(command).end()
        #expect(said.code != 0 && said.errors.contains(remedy), "\(command): \(said.output)\(said.errors)")
      }
      #expect(try SmallFiles.read(path) == bytes)
    }
    // What the words advise works: everything begins anew beside it, or goes on with the copy.
    try SmallFiles.replace(path, whole)
    let healed = try await work.tool.run("run", "m.yaml")
    expectEnd(healed, 0)
    #expect(healed.stream.count("cached") == 5)
  }

  @Test func `with few descriptors and many connections asked for, everything arrives`() async throws {
    let servers = try (0..<12).map { _ in
      try LoopbackServer { .ok(Workplace.body($0.path)).delayed(by: .milliseconds(20)) }
    }
    let work = try Workplace()
    let rows = (0..<240).map { "      - { url: \"\(servers[$0 % 12].url)/\($0)\", key: \"k\($0)\" }" }
    try work.write(
      "m.yaml",
      """
      imgflow: 1
      limits: { connections: 200 }
      hosts: { "*": { connections: 200 } }
      sources:
        - urls:
      \(rows.joined(separator: "\n"))
      stages: [fetch, { store: "${item.key}.bin" }]
      """)
    var tool = work.tool
    tool.program = ["/bin/sh", "-c", "ulimit -n 64; exec \"$0\" \"$@\"", Tool.path]
    let end = try await tool.start(["run", "m.yaml"]).end()
    expectEnd(end, 0)
    #expect(work.files().count == 240 && !end.output.contains("item.retry"), "\(end.errors)")
  }
}
