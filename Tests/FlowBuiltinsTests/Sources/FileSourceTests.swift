import FlowBase
import FlowBuiltins
import FlowExpressions
import FlowParts
import FlowTesting
import Testing

/// A folder of its own under the system's place for temporary files.
func freshFolder() throws -> String { try TempPlace.untilExit() }

/// Every item of a source, asked for in small batches; a fault that ends it is thrown.
func items(_ part: SourcePart, _ entries: [Config.Entry], in folder: String = "/nowhere") async throws -> [SourceItem] {
  var reader = try await part.make().open(in: SourceContext(id: "s", config: Config(entries), folder: folder))
  var all: [SourceItem] = []
  while true {
    let batch = try await reader.next(upTo: 3)
    #expect(batch.count <= 3)
    if batch.isEmpty { return all }
    all += batch
  }
}

func template(_ name: String, _ text: String, _ type: FieldType) throws -> Config.Entry {
  Config.Entry(name, .template(try Template(parsing: text, style: type == .url ? .url : .plain), type))
}

struct FileSourceTests {
  private func write(_ text: String, to name: String) throws -> String {
    let folder = try freshFolder()
    try FileSystem.replace(folder + "/" + name, with: Array(text.utf8))
    return folder
  }

  private func read(_ text: String, as name: String, _ more: [Config.Entry] = []) async throws -> [SourceItem] {
    let folder = try write(text, to: name)
    return try await items(FileSource.part, [.init("path", .value(.string(name)))] + more, in: folder)
  }

  @Test func `rows before one that cannot be read are given out first`() async throws {
    let folder = try write("url\nhttps://a/1\nhttps://a/2\n\"https://a/3\n", to: "list.csv")
    var reader = try await FileSource.part.make().open(
      in: SourceContext(id: "s", config: Config([.init("path", .value(.string("list.csv")))]), folder: folder))
    #expect(try await reader.next(upTo: 10).map(\.url) == ["https://a/1", "https://a/2"])
    for _ in 0..<2 {
      await #expect(throws: Fault.self) { try await reader.next(upTo: 10) }
    }
  }

  @Test func `lines of a text are addresses`() async throws {
    let found = try await read("https://a/1\n# no\n\nhttps://a/2\n", as: "list.txt")
    #expect(found.map(\.url) == ["https://a/1", "https://a/2"])
    #expect(found.map(\.key) == [nil, nil])
  }

  @Test func `a table's column url is the address where nothing else is said`() async throws {
    let found = try await read("url,n\nhttps://a/1,1\n,2\nhttps://a/3\nhttps://a/4,4\n", as: "list.csv")
    #expect(found.map(\.url) == ["https://a/1", nil, nil, "https://a/4"])
    #expect(found[1].fault?.message == "list.csv:3: the row has no address: its column `url` is empty or missing")
    #expect(found[2].fault?.code == "record.cells")
    #expect(found[3].row == ["url": "https://a/4", "n": "4"])
  }

  @Test func `templates are evaluated for each row`() async throws {
    let found = try await read(
      "id,file name,w\n7,a b,10\n8,c/d,x\n9,,5\n", as: "t.csv",
      [
        try template("url", "https://h/${row[\"file name\"]}.png", .url), try template("key", "${row.id}", .string),
        .init("types", .value(.map(["w": "integer"]))),
      ])
    #expect(found[0].url == "https://h/a%20b.png")
    #expect(found[0].key == "7")
    #expect(found[0].row["w"] == 10)
    #expect(found[1].fault?.message == "t.csv:3: the column `w` is `x`, not a whole number")
    #expect(found[2].url == "https://h/.png")
  }

  @Test func `objects keep their types, and a missing one has no address`() async throws {
    let found = try await read(
      "{\"a\":{\"u\":\"https://h/1\"},\"n\":1}\n{\"n\":2}\n{oops\n", as: "x.jsonl",
      [try template("url", "${row.a.u}", .url)])
    #expect(found.map(\.url) == ["https://h/1", nil, nil])
    #expect(found[0].row["n"] == 1)
    #expect(found[1].fault?.message == "x.jsonl:2: the row has no address: `${row.a.u}` gave an empty text")
    #expect(found[2].fault?.message.hasPrefix("x.jsonl:3:2: a name in double quotes was expected") == true)
  }

  private func fault(_ text: String, as name: String, _ more: [Config.Entry] = []) async throws -> Fault? {
    do {
      _ = try await read(text, as: name, more)
      return nil
    } catch let fault as Fault { return fault }
  }

  @Test func `columns that are not there are told before the first item`() async throws {
    let near = try await fault("ide,avatar\n1,2\n", as: "p.csv", [try template("url", "${row.avatr}", .url)])
    #expect(near?.code == "source.column")
    #expect(near?.kind == .config)
    #expect(near?.message == "p.csv has no column `avatr`; did you mean `avatar`?")
    let none = try await fault("id,avatar\n1,2\n", as: "p.csv")
    #expect(
      none?.message
        == "p.csv has no column `url`; it has `id`, `avatar` (name the one with the addresses: `url: \"${row.NAME}\"`)")
  }

  @Test func `the format comes from the name or from the manifest`() async throws {
    #expect(try await read("https://a/1\n", as: "urls").map(\.url) == ["https://a/1"])
    #expect(try await fault("x", as: "list.xlsx")?.message.contains("add `format:` txt, csv, tsv, jsonl") == true)
    let tsv = try await read("url\tb\nhttps://a/1\t2\n", as: "list.dat", [.init("format", .value("tsv"))])
    #expect(tsv.map(\.url) == ["https://a/1"])
    let bare = try await read("https://a/1,2\n", as: "l.csv", [.init("header", .value(["url", "n"]))])
    #expect(bare.first?.row["n"] == "2")
    let nameless = try await read(
      "https://a/1,2\n", as: "l.csv", [.init("header", .value(false)), try template("url", "${row.c1}", .url)])
    #expect(nameless.first?.url == "https://a/1")
  }

  @Test func `a file that is not there is told by its name in the manifest`() async throws {
    let fault = await #expect(throws: Fault.self) {
      _ = try await items(FileSource.part, [.init("path", .value("data/none.csv"))])
    }
    #expect(fault?.code == "disk.missing")
    #expect(fault?.message == "cannot read data/none.csv: No such file or directory")
  }
}
