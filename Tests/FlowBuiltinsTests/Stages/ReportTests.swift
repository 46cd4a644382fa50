import FlowBase
import FlowBuiltins
import FlowParts
import FlowTesting
import Testing

/// Hands out members that are there already, a few at a time.
private struct Members: GatheringReader {
  var rest: [Gathering.Member]

  mutating func next(upTo count: Int) async throws -> [Gathering.Member] {
    let page = rest.prefix(min(count, 3))
    rest.removeFirst(page.count)
    return Array(page)
  }
}

@Suite struct ReportTests {
  private func member(
    _ key: String, _ fields: Fields = [:], row: Fields = [:], outputs: [OutputFact] = [], status: String = "ok",
    fault: Fault? = nil
  ) -> Gathering.Member {
    var item = Item(source: "file", key: key, index: 1, url: "https://example.com/\(key)?sig=s3cret")
    item.fields = fields
    item.row = row
    return Gathering.Member(
      leg: Leg(item: item), stage: "store", status: status, outputs: outputs, fault: fault)
  }

  private func report(_ members: [Gathering.Member], _ config: [String: Value]) async throws -> String {
    let bench = try Bench(Report.part)
    let gathering = Gathering(
      group: nil, count: members.count, members: { Members(rest: members.filter { $0.status == "ok" }) },
      everything: { Members(rest: members) })
    let context = StageContext(
      stage: "index", config: Config(config.map { Config.Entry($0.key, .value($0.value)) }), attempt: 1,
      services: bench.services)
    let result = try await bench.stage.gather(gathering, in: context)
    return try text(bench, result.outputs.first?.path ?? "")
  }

  @Test func `Cells are quoted as RFC 4180 says, and rows end in CRLF`() async throws {
    let members = [
      member("a", ["title": "plain"]), member("b", ["title": "with, comma"]), member("c", ["title": "a \"quote\""]),
      member("d", ["title": "two\nlines"]), member("e", ["title": .null]), member("f", ["title": " padded"]),
    ]
    let text = try await report(members, ["path": "index.csv", "columns": ["key", "title"]])
    #expect(
      text == "key,title\r\na,plain\r\nb,\"with, comma\"\r\nc,\"a \"\"quote\"\"\"\r\nd,\"two\nlines\"\r\ne,\r\n"
        + "f,\" padded\"\r\n")
  }

  @Test func `A row an output, with the output's own facts; a sidecar has no row`() async throws {
    let small = OutputFact(path: "a/64.webp", bytes: 10, sha256: "aa", media: "image/webp", width: 64, height: 48)
    let large = OutputFact(path: "a/256.webp", bytes: 99, sha256: "bb", media: "image/webp")
    let side = OutputFact(path: "a/64.webp.json", bytes: 7, sha256: "cc", media: "application/json")
    let text = try await report(
      [member("a", ["width": 1000, "bytes": 5000], outputs: [small, side, large]), member("b", ["bytes": 7])],
      ["path": "index.csv", "columns": ["key", "path", "bytes", "width", "sha256"]])
    #expect(text == "key,path,bytes,width,sha256\r\na,a/64.webp,10,64,aa\r\na,a/256.webp,99,1000,bb\r\nb,,7,,\r\n")
  }

  @Test func `Bytes that nobody has stored have no path, unless they are a local file`() async throws {
    var fetched = member("a")
    fetched.leg = Leg(item: fetched.leg.item, fields: ["path": "/state/tmp/x-1", "bytes": 7])
    var local = member("b", ["path": "in/b.png"])
    local.leg = Leg(item: local.leg.item, fields: ["path": "in/b.png"])
    let text = try await report([fetched, local], ["path": "index.csv", "columns": ["key", "path", "bytes"]])
    #expect(text == "key,path,bytes\r\na,,7\r\nb,in/b.png,\r\n")
  }

  @Test func `All items come with status and error, and addresses without their secrets`() async throws {
    let failed = member("b", status: "failed", fault: Fault("http.404", .permanent, "not found"))
    let text = try await report(
      [member("a"), failed], ["path": "index.csv", "columns": ["key", "url"], "include": "all"])
    #expect(
      text == "key,url,status,error\r\na,https://example.com/a?sig=***,ok,\r\n"
        + "b,https://example.com/b?sig=***,failed,http.404\r\n")
  }

  @Test func `JSON lines keep types, and columns may name rows`() async throws {
    let text = try await report(
      [member("a", ["bytes": 5], row: ["Image URL": "x", "n": 2.5, "a.b": true])],
      ["path": "index.jsonl", "columns": ["key", "bytes", "row.n", "row.Image URL", "row.a.b", "nothing"]])
    #expect(
      text == "{\"key\":\"a\",\"bytes\":5,\"row.n\":2.5,\"row.Image URL\":\"x\",\"row.a.b\":true,\"nothing\":null}\n")
  }

  @Test func `Nothing gathered is a table of its names alone`() async throws {
    #expect(try await report([], ["path": "index.csv", "columns": ["key"]]) == "key\r\n")
  }

  @Test func `A column that is empty in its only cell is no empty line`() async throws {
    #expect(
      try await report([member("a", ["t": ""])], ["path": "index.csv", "columns": ["t"]]) == "t\r\n\"\"\r\n")
  }
}
