import FlowBase
import FlowTesting
import Testing

/// `lock`, `run --locked`, `--frozen`, `verify` and `cache`, by the built program.
@Suite(.serialized) struct LockTests {
  private let work: Workplace
  private let version = Guarded("1")

  init() throws {
    let version = version
    work = try Workplace { request in
      request.path == "/v" ? .ok("version \(version.withLock { $0 })\n") : .ok(Workplace.body(request.path))
    }
  }

  private func write(_ paths: [String] = ["/small/a", "/v"], cache: Bool = false) throws {
    try work.manifest(paths, cache ? "state: { cache: ./cache }" : "")
  }

  @Test func `a lock is written once, and then the same run is locked`() async throws {
    try write()
    let made = try await work.tool.run("lock", "m.yaml")
    #expect(made.code == 0, "\(made.errors)")
    #expect(made.output.contains("locked 2 items") && made.output.contains("2 fetched"))
    let text = try work.read("m.yaml.lock")
    #expect(text.hasPrefix("{\"imgflow_lock\":1}\n{\"source\":\"urls\",\"key\":\"small-a\",\"url\":\""))
    #expect(work.files() == [] && work.files(".imgflow/m/locking") == [])
    expectEnd(try await work.tool.run("run", "m.yaml", "--locked"), 0)
    let asked = work.server.requests.count
    // What the lock and the journal know is asked of nobody.
    expectEnd(try await work.tool.run("run", "m.yaml", "--locked"), 0)
    #expect(try await work.tool.run("lock", "m.yaml").code == 0)
    #expect(try work.read("m.yaml.lock") == text)
    #expect(work.server.requests.count == asked)
    let key = try await work.tool.run("cache", "key", "m.yaml")
    #expect(key.output.count == 65 && key.output == Digest.sha256(of: text).hex + "\n")
  }

  @Test func `what differs from the lock is refused, and said in words`() async throws {
    try write()
    #expect(try await work.tool.run("lock", "m.yaml").code == 0)
    version.withLock { $0 = "2" }
    try write(["/v", "/small/new"])
    let end = try await work.tool.run("run", "m.yaml", "--locked")
    expectEnd(end, 3)
    #expect(work.files() == [])
    #expect(end.errors.contains("3 differences to m.yaml.lock"))
    for words in ["+ urls/small-new", "- urls/small-a", "~ urls/v  digest: locked sha256-"] {
      #expect(end.errors.contains(words), "\(end.errors)")
    }
    // Without being asked for, a lock counts in CI alone.
    var tool = work.tool
    tool.environment["CI"] = "true"
    expectEnd(try await tool.run("run", "m.yaml"), 3)
    expectEnd(try await tool.run("run", "m.yaml", "--no-lock"), 0)
    // Files that came without the lock are held against it as well.
    expectEnd(try await work.tool.run("run", "m.yaml", "--locked"), 3)
  }

  @Test func `some items are renewed, the others stay as they are locked`() async throws {
    try write()
    #expect(try await work.tool.run("lock", "m.yaml").code == 0)
    let before = try work.read("m.yaml.lock").split(separator: "\n")
    version.withLock { $0 = "2" }
    #expect(try await work.tool.run("lock", "m.yaml", "--update", "small-*").code == 0)
    #expect(try work.read("m.yaml.lock").split(separator: "\n") == before)
    let renewed = try await work.tool.run("lock", "m.yaml", "--update", "urls/v")
    #expect(renewed.output.contains("~ urls/v"))
    let after = try work.read("m.yaml.lock").split(separator: "\n")
    #expect(after[1] == before[1] && after[2] != before[2])
    expectEnd(try await work.tool.run("run", "m.yaml", "--locked"), 0)
    #expect(try await work.tool.run("lock", "m.yaml", "v").code == 2)
  }

  @Test func `a frozen run asks nobody, and takes everything out of the content store`() async throws {
    try write(cache: true)
    let missing = try await work.tool.run("run", "m.yaml", "--frozen")
    expectEnd(missing, 3)
    #expect(try await work.tool.run("lock", "m.yaml").code == 0)
    let asked = work.server.requests.count
    let end = try await work.tool.run("run", "m.yaml", "--frozen")
    expectEnd(end, 0)
    #expect(work.files().count == 2)
    #expect(work.server.requests.count == asked)
    #expect(end.stream.all("item.end").allSatisfy { $0["attempts"]?.asInt == 0 })
    // Another project with the same store, and a store that has lost a file.
    try FileSystem.removeTree(work.place.file(".imgflow"))
    try FileSystem.removeTree(work.place.file("out"))
    let pruned = try await work.tool.run("cache", "prune", "m.yaml", "--max-size", "0B", "--keep-lock")
    #expect(pruned.output.contains("removed 0 files"), "\(pruned.output)\(pruned.errors)")
    expectEnd(try await work.tool.run("run", "m.yaml", "--frozen"), 0)
    try FileSystem.removeTree(work.place.file(".imgflow"))
    #expect(try await work.tool.run("cache", "prune", "m.yaml", "--max-size", "0B").output.contains("removed 2 files"))
    let lost = try await work.tool.run("run", "m.yaml", "--frozen")
    expectEnd(lost, 3)
    #expect(lost.output.contains("cache.missing"))
    #expect(work.server.requests.count == asked)
  }

  @Test func `verify lists what was altered or deleted, and the next run mends only that`() async throws {
    try write(["/small/a", "/small/b", "/small/c"])
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    #expect(try await work.tool.run("verify", "m.yaml").code == 0)
    let path = work.place.file("out/small-a.bin")
    var bytes = try SmallFiles.read(path)
    bytes[3] ^= 1
    let file = try FileSystem.open(path, .write)
    try file.write(bytes)
    try FileSystem.remove(work.place.file("out/small-b.bin"))
    let wrong = try await work.tool.run("verify", "m.yaml")
    #expect(wrong.code == 3)
    #expect(wrong.output.contains("altered  small-a.bin") && wrong.output.contains("missing  small-b.bin"))
    let asked = work.server.requests.count
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    #expect(Set(work.server.requests[asked...].map(\.path)) == ["/small/a", "/small/b"])
    #expect(try await work.tool.run("verify", "m.yaml").code == 0)
  }

  @Test func `verify looks at what an item had before it failed, and at what stands for others`() async throws {
    let fails = Guarded(false)
    let work = try Workplace { request in
      if request.path == "/a" { return fails.withLock { $0 } ? .status(404) : .ok("other") }
      return .ok("same")
    }
    try work.manifest(["/a", "/b", "/c"], fetch: "fetch\n  - dedupe")
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    #expect(work.files() == ["a.bin", "b.bin"])
    // One fails from now on; and what another was dropped for is listed no more.
    fails.withLock { $0 = true }
    try FileSystem.remove(work.place.file("out/a.bin"))
    try work.manifest(["/a", "/c"], fetch: "fetch\n  - dedupe")
    expectEnd(try await work.tool.run("run", "m.yaml"), 1)
    #expect(try await work.tool.run("verify", "m.yaml").output.contains("2 files: 0 altered, 1 missing"))
    try work.write("out/b.bin", "some")
    let gone = try await work.tool.run("verify", "m.yaml")
    #expect(gone.code == 3, "\(gone.output)")
    #expect(gone.output.contains("altered  b.bin") && gone.output.contains("missing  a.bin"), "\(gone.output)")
  }

  @Test func `a lock that a merge has torn is said so, and nothing is fetched`() async throws {
    try write()
    try work.write("m.yaml.lock", "{\"imgflow_lock\":1}\n<<<<<<< ours\n")
    let end = try await work.tool.run("run", "m.yaml", "--locked")
    expectEnd(end, 2)
    #expect(end.errors.contains("m.yaml.lock:2:"))
    #expect(work.server.requests.isEmpty)
  }

  @Test func `a changed stage runs again without a download where the bytes are kept`() async throws {
    try work.manifest(["/small/a"], "state: { cache: ./cache }", fetch: "fetch", path: "one.bin")
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    try FileSystem.remove(work.place.file("out/one.bin"))
    try work.manifest(["/small/a"], "state: { cache: ./cache }", fetch: "fetch", path: "two.bin")
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    #expect(work.server.requests.count == 1)
    #expect(work.files() == ["two.bin"])
  }

  @Test(arguments: ["", "fetch, "])
  func `what stages make of items, with addresses of their own, is locked with them`(page: String) async throws {
    try work.write("rules.lua", "function item(item) return { { key = 'v', url = '\(work.server.url)/v' } } end")
    try work.write(
      "m.yaml",
      """
      imgflow: 1
      output: { dir: ./out }
      sources: [{ urls: [{ url: "\(work.server.url)/small/a", key: a }] }]
      stages: [\(page){ script: rules.lua }, { id: second, fetch: {} }, { store: v.bin }]
      """)
    #expect(try await work.tool.run("lock", "m.yaml").code == 0)
    let names = try work.read("m.yaml.lock").split(separator: "\n").dropFirst().map { $0.contains("\"key\":\"a/v\"") }
    #expect(names == (page.isEmpty ? [true] : [false, true]))
    expectEnd(try await work.tool.run("run", "m.yaml", "--locked"), 0)
    expectEnd(try await work.tool.run("run", "m.yaml", "--locked"), 0)
    let lock = try work.read("m.yaml.lock")
    // Files that came without the lock are held against it.
    version.withLock { $0 = "2" }
    expectEnd(try await work.tool.run("run", "m.yaml", "--fresh", "--no-lock"), 0)
    let end = try await work.tool.run("run", "m.yaml", "--locked")
    expectEnd(end, 3)
    #expect(end.errors.contains("~ urls/a/v  digest: locked sha256-"), "\(end.errors)")
    // A lock is written anew of what there is now.
    #expect(try await work.tool.run("lock", "m.yaml", "--update").code == 0)
    #expect(try work.read("m.yaml.lock") != lock)
    expectEnd(try await work.tool.run("run", "m.yaml", "--locked"), 0)
    #expect(work.files() == ["v.bin"])
  }

  @Test func `a lock is no reason to fetch again, also where rows are read`() async throws {
    func manifest(_ place: String) throws {
      try work.write(
        "m.yaml",
        """
        imgflow: 1
        output: { dir: ./out }
        sources: [{ urls: [{ url: "\(work.server.url)/small/a", key: a, row: { title: one } }] }]
        stages: [fetch, { store: "\(place)-${row.title}.bin" }]
        """)
    }
    try manifest("x")
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    #expect(try await work.tool.run("lock", "m.yaml").code == 0)
    let asked = work.server.requests.count
    try manifest("y")
    expectEnd(try await work.tool.run("run", "m.yaml", "--locked"), 0)
    #expect(work.files().contains("y-one.bin"))
    #expect(work.server.requests.count == asked)
  }
}
