import FlowBase
import FlowParts
import FlowTesting
import Testing

@testable import FlowBuiltins

/// Archives taken apart, also hostile ones.
@Suite struct UnpackTests {
  /// A member of a tar archive as a test makes it.
  struct Member {
    var path: String
    var body = ""
    /// `0` a file, `1` a hard link, `2` a symbolic link, `5` a folder.
    var type: Character = "0"
    var target = ""
    /// What the header says of the size; nil is the truth.
    var size: Int?
  }

  /// A tar archive.
  private func tar(_ members: [Member]) -> [UInt8] {
    var archive: [UInt8] = []
    for member in members {
      var header = [UInt8](repeating: 0, count: 512)
      func put(_ text: String, _ place: Int) {
        for (offset, byte) in text.utf8.enumerated() { header[place + offset] = byte }
      }
      func octal(_ number: Int, _ width: Int) -> String {
        let digits = String(number, radix: 8)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
      }
      put(member.path, 0)
      put("0000644", 100)
      put(octal(member.size ?? member.body.utf8.count, 11), 124)
      put("00000000000", 136)
      put("        ", 148)
      put(String(member.type), 156)
      put(member.target, 157)
      put("ustar", 257)
      put("00", 263)
      put(octal(header.reduce(0) { $0 + Int($1) }, 6), 148)
      header[154] = 0
      archive += header + Array(member.body.utf8)
      archive += [UInt8](repeating: 0, count: (512 - member.body.utf8.count % 512) % 512)
    }
    return archive + [UInt8](repeating: 0, count: 1024)
  }

  /// A zip archive of one member that is not packed, whose name is marked as UTF-8.
  private func zip(_ name: String, _ body: String) -> [UInt8] {
    func little(_ number: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(number >> (8 * $0) & 0xFF) } }
    var check: UInt32 = .max
    for byte in body.utf8 {
      check ^= UInt32(byte)
      for _ in 0..<8 { check = check >> 1 ^ (check & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
    let (name, body) = (Array(name.utf8), Array(body.utf8))
    let facts =
      little(20, 2) + little(0x0800, 2) + little(0, 6) + little(Int(~check), 4) + little(body.count, 4)
      + little(body.count, 4) + little(name.count, 2) + little(0, 2)
    let local = Array("PK\u{3}\u{4}".utf8) + facts + name + body
    let central = Array("PK\u{1}\u{2}".utf8) + little(20, 2) + facts + little(0, 14) + name
    return local + central + Array("PK\u{5}\u{6}".utf8) + little(0, 4) + little(1, 2) + little(1, 2)
      + little(central.count, 4) + little(local.count, 4) + little(0, 2)
  }

  @Test func `names beyond ASCII come out as they are`() async throws {
    let (result, _) = try await run(zip("fotos/café ☕.txt", "body"))
    #expect(items(result).map(\.key) == ["fotos/café ☕.txt"])
  }

  private func run(_ archive: [UInt8], _ config: [String: Value] = [:]) async throws -> (StageResult, ScratchServices) {
    let services = try ScratchServices()
    let item = Item(source: "urls", key: "a", index: 1, url: "https://x.org/a.tar")
    var entries: [Config.Entry] = [
      Config.Entry("max_members", .value(10)), Config.Entry("max_bytes", .value(1000)),
    ]
    for (name, value) in config {
      entries.removeAll { $0.name == name }
      entries.append(Config.Entry(name, .value(value)))
    }
    let context = StageContext(stage: "unpack", config: Config(entries), attempt: 1, services: services)
    return (try await Unpack().run(Leg(item: item, content: .bytes(archive)), in: context), services)
  }

  private func items(_ result: StageResult) -> [MadeItem] {
    if case .many(let items) = result.verdict { items } else { [] }
  }

  @Test func `Members become items, and folders, links and devices do not`() async throws {
    let (result, services) = try await run(
      tar([
        Member(path: "a/", type: "5"), Member(path: "./a/one.txt", body: "one"), Member(path: "two.txt", body: "two"),
        Member(path: "link", type: "2", target: "/etc/passwd"), Member(path: "hard", type: "1", target: "two.txt"),
        Member(path: "device", type: "3"),
      ]))
    let made = items(result)
    #expect(made.map(\.key) == ["a/one.txt", "two.txt"])
    #expect(made.map { $0.fields["name"] } == ["one.txt", "two.txt"])
    #expect(made.first?.fields["sha256"]?.asString == Digest.sha256(of: "one").hex)
    #expect(services.temporaryNames.count >= 2)
  }

  /// `a/one.txt` and `two.txt` in every form, as the system's own programs pack them.
  private static let packed: [String: String] = [
    "zip":
      "UEsDBBQACAAIAAAAIVAAAAAAAAAAAAMAAAAJACAAYS9vbmUudHh0VVQNAAcA4QteAOELXlqkAWt1eAsAAQQAAAAABAAAAADLz0sF"
      + "AFBLBwjxhmx6BQAAAAMAAABQSwMEFAAIAAgAAAAhUAAAAAAAAAAAAwAAAAcAIAB0d28udHh0VVQNAAcA4QteAOELXlqkAWt1eAsA"
      + "AQQAAAAABAAAAAArKc8HAFBLBwhmisoRBQAAAAMAAABQSwECFAMUAAgACAAAACFQ8YZsegUAAAADAAAACQAgAAAAAAAAAAAApIEA"
      + "AAAAYS9vbmUudHh0VVQNAAcA4QteAOELXlqkAWt1eAsAAQQAAAAABAAAAABQSwECFAMUAAgACAAAACFQZorKEQUAAAADAAAABwAg"
      + "AAAAAAAAAAAApIFcAAAAdHdvLnR4dFVUDQAHAOELXgDhC15apAFrdXgLAAEEAAAAAAQAAAAAUEsFBgAAAAACAAIArAAAALYAAAAA"
      + "AA==",
    "7z":
      "N3q8ryccAAMCgQwziAAAAAAAAAAhAAAAAAAAACXWDnMAN5uI1KrpaZo8Ov/9ocAAAACBMweuD87ysgwHyEOAg4Fb/6x2z3g/Dlvd"
      + "8045N8NYnelZyYc1I25VpBvljjz8WUVWo60lAat1atxZkK9EHriyXc5Aln/YcLGWvp7unz4eOOAP/ve6GLd8VDXH1iwHRoj9db3w"
      + "kvzT69WzuEKZNp+Go//87TAAFwYQAQl4AAcLAQABIwMBAQVdAACAAAyAngoB0PQmAQAA",
    "tar.gz":
      "H4sICFqkAWsAA3gudGFyAO3TMQ6AIAwFUI7CCbQIlPMwuEqiNXp8y+LAqMHGpG/pQNJ80vw8lmUe6CTTDwBgCLZO1s7KW+cRpoQQ"
      + "+AEcpBiNhY6ZbvtGeeUob/e0n/sJvr50BCWIjtK5/Y/6H1H7/wm+v3QEpZRSAi6dythQAAwAAA==",
    "tar.bz2":
      "QlpoOTFBWSZTWXOJHkwAAGhbkNEAQAH/hACgYgGewAQAABggAJQFVNTQmmmhoep6gbSCSU0eoDQAaAOSGKD7biZDiZkhYEhwIICk"
      + "RWGIwQJtWefq9kglihJkhJcohKtb2LyUmiE0O6bimwaxWfVcuXxVpKVHt2flvlGyyzDezdoc0n8XckU4UJBziR5M",
    "tar.xz":
      "/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4Av/AGVdADCLyecjtNjASOkTypYOAWXVaeINT7nI4Mnt6WPyctxBjgCJ9l8zKiMULOd1"
      + "IeKU4QjgW8LP/fDPK9nxlZzboAwsp0tcNNxsuygHD2UhUbEGBXJILs/BPnAARB/UNL8LMOs36ggAAAAAACC/8/vcQgsDAAGBAYAY"
      + "AADjfrXUscRn+wIAAAAABFla",
    "tar.zst":
      "KLUv/WQAC4UDAOQDYS9vbmUudHh0ADAwMDY0NCAwMDAzIDEzNjAyNzYwNDAwIDAxMDc1NQAgMAB1c3RhcgAwb25ldHdvNTZ0d28R"
      + "AP1zFdAH6iADKmqAfAYOIE8TCVQoMAEwD+QmBUAD2BDgN0gGAHLAagGOlcDcBJCpkFc+",
  ]

  @Test(arguments: ["zip", "7z", "tar.gz", "tar.bz2", "tar.xz", "tar.zst"])
  func `Every form is taken apart, and cut off anywhere it fails`(form: String) async throws {
    let archive = try #require(Base64.decode(Self.packed[form] ?? ""))
    let (result, services) = try await run(archive)
    #expect(items(result).map(\.key) == ["a/one.txt", "two.txt"])
    #expect(items(result).map { $0.fields["sha256"]?.asString } == ["one", "two"].map { Digest.sha256(of: $0).hex })
    _ = services
    for count in [10, archive.count / 2, archive.count - archive.count / 4] {
      await #expect("\(form), \(count) bytes") { _ = try await run(Array(archive.prefix(count))) } throws: {
        ["archive.corrupt", "archive.too_large"].contains(($0 as? Fault)?.code)
      }
    }
  }

  @Test func `Members go below a folder as they are, where one is named`() async throws {
    let (result, services) = try await run(
      tar([Member(path: "a/one.txt", body: "one"), Member(path: "b/two.md", body: "two")]),
      ["path": "tree", "match": ["**/*.txt"]])
    #expect(result.outputs.map(\.path) == ["tree/a/one.txt"])
    #expect(try SmallFiles.read(services.place.file("out/tree/a/one.txt")) == Array("one".utf8))
  }

  @Test(arguments: ["../evil", "/etc/evil", "a/../../evil", "..\\evil", ".."])
  func `A member that leads out fails the item`(path: String) async throws {
    await #expect {
      _ = try await run(tar([Member(path: "fine", body: "x"), Member(path: path, body: "x")]))
    } throws: {
      ($0 as? Fault)?.code == "path.escapes"
    }
  }

  @Test func `What is larger than it may be fails, also where its header lies`() async throws {
    let large = Member(path: "a", body: String(repeating: "x", count: 600))
    await #expect { _ = try await run(tar([large, Member(path: "b", body: large.body)])) } throws: {
      ($0 as? Fault)?.code == "archive.too_large"
    }
    let many = (0..<11).map { Member(path: "f\($0)", body: "x") }
    await #expect { _ = try await run(tar(many)) } throws: { ($0 as? Fault)?.code == "archive.too_large" }
    await #expect { _ = try await run(tar([Member(path: "a", body: "x", size: 1 << 30)])) } throws: {
      ($0 as? Fault)?.code == "archive.too_large"
    }
  }

  @Test func `Twins, torn archives and other files fail`() async throws {
    let twins = tar([Member(path: "a/B", body: "x"), Member(path: "A/b", body: "y")])
    await #expect { _ = try await run(twins) } throws: { ($0 as? Fault)?.code == "path.collision" }
    let torn = Array(tar([Member(path: "a", body: String(repeating: "x", count: 900))]).prefix(700))
    await #expect { _ = try await run(torn) } throws: { ($0 as? Fault)?.code == "archive.corrupt" }
    await #expect { _ = try await run(Array("no archive".utf8)) } throws: { ($0 as? Fault)?.code == "archive.corrupt" }
  }
}
