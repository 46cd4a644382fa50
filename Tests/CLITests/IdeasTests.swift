import FlowBase
import FlowTesting
import Testing

/// The ideas that the program grew from, each shown by the program itself.
///
/// Progress and pauses: `ControlTests`; drains and what goes on afterwards: `SignalTests`.
@Suite(.serialized) struct IdeasTests {
  @Test func `no more operations of a stage run at once than it allows`() async throws {
    let load = Guarded((now: 0, most: 0))
    let work = try Workplace { request in
      load.withLock { load in
        load.now += 1
        load.most = max(load.most, load.now)
      }
      defer { load.withLock { $0.now -= 1 } }
      return .ok(Workplace.body(request.path))
    }
    try work.manifest(
      (0..<40).map { "/small/\($0)" }, "hosts: { '*': { connections: 40 } }", fetch: "fetch: {}\n    concurrency: 7")
    expectEnd(try await work.tool.run("run", "m.yaml"), 0)
    #expect(load.withLock { $0.most } <= 7)
    #expect(work.files().count == 40)
  }

  @Test func `a second queue starts when the first has emptied, and a failed download never reaches it`() async throws {
    let work = try Workplace()
    try work.manifest(
      ["/small/a", "/none", "/small/b"],
      fetch: "fetch\n  - set: { tone: gray }\n    id: tone\n    after: fetch")
    let end = try await work.tool.run("run", "m.yaml")
    expectEnd(end, 1)
    let stages = end.stream.lines.compactMap { line -> String? in
      guard let map = line.asMap, let type = map["type"]?.asString, type.hasPrefix("stage.") else { return nil }
      return "\(type) \(map["data"]?.asMap?["stage"]?.asString ?? "")"
    }
    let first = stages.firstIndex(of: "stage.end fetch")
    let second = stages.firstIndex(of: "stage.start tone")
    #expect(first != nil && second != nil)
    if let first, let second { #expect(first < second) }
    let tone = end.stream.all("stage.end").first { $0["stage"]?.asString == "tone" }
    #expect(tone?["ok"]?.asInt == 2)
    #expect(work.files() == ["small-a.bin", "small-b.bin"])
  }

  @Test func `equal items are fetched once, and each gets its file`() async throws {
    let work = try Workplace { request in .ok(Workplace.body(request.path)).delayed(by: .milliseconds(200)) }
    let rows = (0..<4).map { "      - { url: \"\(work.server.url)/small/same\", key: k\($0) }" }
    try work.write(
      "m.yaml",
      """
      imgflow: 1
      sources:
        - urls:
      \(rows.joined(separator: "\n"))
      stages:
        - fetch
        - store: "${item.key}.bin"
      """)
    let end = try await work.tool.run("run", "m.yaml")
    expectEnd(end, 0)
    #expect(work.server.requests.count == 1)
    #expect(end.stream.all("item.end").filter { $0["shared"]?.asBool == true }.count == 3)
    for name in work.files() {
      #expect(try SmallFiles.read(work.place.file("out/\(name)")) == Workplace.body("/small/same"))
    }
    #expect(work.files().count == 4)
  }

  @Test func `progress rises to 1 for each item, with its place, the total and its address`() async throws {
    let work = try Workplace(["/big": [.generated(60_000).dripping(4000, every: .milliseconds(60))]])
    try work.manifest(["/big"])
    let end = try await work.tool.run("run", "m.yaml")
    expectEnd(end, 0)
    let ratios = end.stream.all("item.progress").compactMap { $0["ratio"]?.asDouble }
    #expect(!ratios.isEmpty && ratios == ratios.sorted() && ratios.allSatisfy { (0...1).contains($0) })
    #expect(
      end.stream.all("item.end").first?["ratio"]?.asDouble == 1
        || end.stream.all("item.end").first?["ratio"]?.asInt == 1)
    for line in end.stream.lines where line.asMap?["type"]?.asString == "item.end" {
      #expect(line.asMap?["index"]?.asInt == 1)
      #expect(line.asMap?["url"]?.asString == work.server.url + "/big")
    }
  }

  @Test func `a list of addresses is built from names, one at a time with a wait between, and a failure stops nobody`()
    async throws
  {
    let work = try Workplace()
    try work.write(
      "m.yaml",
      """
      imgflow: 1
      sources:
        - template: { url: "\(work.server.url)/small/${for.name}", key: "${for.name}", for: { name: [sun, moon, star] } }
        - \(work.server.url)/none
      stages:
        - fetch: {}
          concurrency: 1
          interval: 150ms
        - store: "${item.key}.bin"
      """)
    let end = try await work.tool.run("run", "m.yaml", "-v")
    expectEnd(end, 1)
    // By the run's own clock: on the way to the server a request may be held up longer than the next.
    let starts = end.stream.lines.filter { $0.asMap?["type"]?.asString == "item.start" }
      .compactMap { $0.asMap?["ms"]?.asDouble }
    #expect(starts.count == 4 && work.server.requests.count == 4)
    for (earlier, later) in zip(starts, starts.dropFirst()) { #expect(later - earlier >= 150) }
    #expect(work.files() == ["moon.bin", "star.bin", "sun.bin"])
  }
}

/// What may be reached, and where files may go; secrets: `CanaryTests`.
@Suite(.serialized) struct TrustTests {
  @Test func `an address of this machine from a list is refused unless it is allowed`() async throws {
    let work = try Workplace()
    try work.write("list.csv", "url,key\n\(work.server.url)/small/a,a\n")
    let manifest = { (hosts: String) in
      "imgflow: 1\n\(hosts)sources:\n  - file: { path: list.csv, url: \"${row.url}\", key: \"${row.key}\" }\n"
        + "stages:\n  - fetch\n  - store: \"${item.key}.bin\"\n"
    }
    try work.write("m.yaml", manifest(""))
    let refused = try await work.tool.run("run", "m.yaml")
    expectEnd(refused, 1)
    #expect(refused.output.contains("url.blocked"))
    #expect(work.server.requests.isEmpty)
    expectEnd(try await work.tool.run("run", "m.yaml", "--allow-private"), 0)
    try work.write("n.yaml", manifest("hosts: { 127.0.0.1: { allow: true } }\n"))
    expectEnd(try await work.tool.run("run", "n.yaml", "-o", "other"), 0)
  }

  @Test func `no name leaves the output`() async throws {
    let work = try Workplace { _ in .ok("x") }
    let names = ["..%2f..%2fup", "%2e%2e", "a%00b", ".hidden", "%5c%5cshare", "con%0d%0alf"]
    try work.manifest(names.map { "/\($0)" }, path: "${item.name}")
    let end = try await work.tool.run("run", "m.yaml")
    #expect(end.code == end.stream.exit)
    #expect(work.place.names.sorted() == [".imgflow", "m.yaml", "out"])
    for name in work.files() { #expect(!name.hasPrefix(".") && !name.contains("\\") && !name.contains("/")) }
  }
}
