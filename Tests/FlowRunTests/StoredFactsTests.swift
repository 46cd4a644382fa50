import FlowBase
import FlowEvents
import FlowExpressions
import FlowParts
import FlowStore
import Testing

@testable import FlowRun

/// The short way to read what the journal says of an item's end beside the long one.
@Suite struct StoredFactsTests {
  private static func end(_ change: (inout Payload.ItemEnd) -> Void = { _ in }) -> Payload.ItemEnd {
    var end = Payload.ItemEnd(status: .ok, ratio: 1)
    end.outputs = [
      Payload.Output(path: "1/a b.bin", media: "image/jpeg", bytes: 200, sha256: "5b70", width: 3, height: 0)
    ]
    end.stages = [Payload.StageTime(stage: "fetch", elapsed: .zero), Payload.StageTime(stage: "store", elapsed: .zero)]
    change(&end)
    return end
  }

  private static func json(_ end: Payload.ItemEnd, gathering: String = "") -> [UInt8] {
    let item = Item(source: "s", key: "k", index: 1, url: nil)
    return EndCodec.encode(item, end, gathering: gathering).json
  }

  private static func long(_ json: [UInt8]) throws -> StoredFacts {
    json.isEmpty ? StoredFacts() : StoredFacts(try #require(try JSONReader.read(json).asMap))
  }

  @Test(arguments: [
    end(), end { $0.outputs = [] }, end { $0.outputs += $0.outputs }, end { $0.outputs[0].media = nil },
    end { $0.outputs[0].width = nil }, end { $0.outputs[0].bytes = 123_456_789_012 }, end { $0.stages = [] },
    end { $0.reason = "too small" }, end { $0.finalURL = "https://example.com/x?y" },
    end {
      $0.outputs = []; $0.stages = []; $0.reason = "filtered"
    },
    end {
      $0.outputs = []; $0.stages = []
    },
  ])
  func `what most items have is read the short way`(_ end: Payload.ItemEnd) throws {
    let json = StoredFactsTests.json(end)
    let short = try #require(StoredFacts(plain: json))
    #expect(short == (try StoredFactsTests.long(json)))
    var cached = end
    cached.isCached = true
    cached.attempts = 0
    cached.stages = end.stages.map { Payload.StageTime(stage: $0.stage, elapsed: .zero, isCached: true) }
    #expect(short.cachedEnd(.ok) == cached)
  }

  @Test(arguments: [
    end { $0.outputs[0].path = "é" }, end { $0.outputs[0].path = "a\"b" }, end { $0.outputs[0].leg = ["w": 64] },
    end { $0.outputs[0].bytes = -1 }, end { $0.reason = "a\nb" },
  ])
  func `the rest goes the long way`(_ end: Payload.ItemEnd) throws {
    let json = StoredFactsTests.json(end)
    #expect(StoredFacts(plain: json) == nil)
    #expect(try StoredFactsTests.long(json).outputs == end.outputs)
  }

  @Test func `what was dropped in another's favour names it, as the journal has its key`() throws {
    let other = StandIn(source: "s", key: "a \"b\"", field: "sha256", value: "5b70")
    let item = Item(source: "s", key: "k", index: 1, url: nil)
    let json = EndCodec.encode(item, StoredFactsTests.end(), gathering: "", standIns: [other, other]).json
    #expect(StoredFacts(plain: json) == nil)
    let facts = try StoredFactsTests.long(json)
    #expect(facts.standIns == [other, other] && facts.outputs == StoredFactsTests.end().outputs)
    #expect(EndCodec.decodeStandIns(.list([.list(["s", "k"]), .int(1)])) == [])
  }

  @Test func `what belongs to stages that gather goes the long way`() throws {
    let json = StoredFactsTests.json(StoredFactsTests.end(), gathering: "g")
    #expect(StoredFacts(plain: json) == nil)
    #expect(try StoredFactsTests.long(json).gathering == "g")
    let groups = Array(#"{"made":["k/1","k/2"],"groups":[["sheet",4,"\"a\""],["sheet"]]}"#.utf8)
    #expect(StoredFacts(plain: groups) == nil)
    let facts = try StoredFactsTests.long(groups)
    #expect(facts.made == ["k/1", "k/2"])
    #expect(facts.groups == [StoredFacts.Group(stage: "sheet", node: 4, group: "\"a\"")])
  }

  @Test func `what is stored tells no secret, at any depth`() throws {
    let end = StoredFactsTests.end {
      $0.outputs[0].path = "s3cret/x"
      $0.outputs[0].leg = ["w": 64, "deep": [["s3cret"]]]
      $0.reason = "not s3cret"
      $0.finalURL = "https://u:p@h/?token=t"
    }
    let stored = EndCodec.encode(
      Item(source: "s", key: "k", index: 1, url: nil), end, gathering: "",
      groups: [StoredFacts.Group(stage: "sheet", node: 4, group: "g")], made: ["k/1"],
      redaction: Redaction(secrets: ["s3cret"]))
    #expect(
      String(decoding: stored.json, as: UTF8.self) == """
        {"outputs":[{"path":"***/x","leg":{"w":64,"deep":[["***"]]},"bytes":200,"sha256":"5b70","media":"image/jpeg",\
        "width":3,"height":0}],"reason":"not ***","final_url":"https://***@h/?token=***","stages":["fetch","store"],\
        "groups":[["sheet",4,"g"]],"made":["k/1"]}
        """)
    #expect(EndCodec.encode(Item(source: "s", key: "k", index: 1, url: nil), nil, gathering: "").json.isEmpty)
  }

  /// A row that an earlier version has written still answers to the same key.
  @Test func `what a result depends on is written as it always was`() throws {
    let config = Config([Config.Entry("a", .value(.int(1)))])
    let constant = KeyedWork(op: "fetch", version: 1, config: config, plugin: "")
    let input = Hex.encode([0, 255])
    // The first half of the SHA-256 of {"a":1}.
    let digestOfConfig = Value.string("015abd7f5cc57a2dd94b7590f04ad808")
    #expect(
      ResultKey(work: constant, config: nil, input: .item([0, 255])).parts
        == ["op": "fetch", "version": 1, "config": digestOfConfig, "input": .string(input)])
    let digest = Digest.sha256(of: "x")
    #expect(
      ResultKey(work: constant, config: nil, input: .digest(digest)).parts
        == ["op": "fetch", "version": 1, "config": digestOfConfig, "input": .string(digest.hex)])
    // The same work with a configuration that depends on the item, by a script.
    let template = Config([Config.Entry("a", .template(try Template(parsing: "${item.index}"), .integer(1...9)))])
    let perItem = KeyedWork(op: "fetch", version: 1, config: template, plugin: "5b")
    #expect(!perItem.isConstant)
    #expect(
      ResultKey(work: perItem, config: config, input: .identity("to \"do\"")).parts
        == ["op": "fetch", "version": 1, "config": digestOfConfig, "input": "to \"do\"", "plugin": "5b"])
  }

  /// A journal's row that was cut or altered is not taken for something else.
  @Test func `whatever is cut off, added or altered, the short way says what the long one does, or nothing`() throws {
    let whole = StoredFactsTests.json(
      StoredFactsTests.end {
        $0.reason = "r"
        $0.finalURL = "http://h/"
      })
    for count in 1..<whole.count { #expect(StoredFacts(plain: Array(whole.prefix(count))) == nil) }
    #expect(StoredFacts(plain: whole + [UInt8(ascii: "}")]) == nil)
    for place in whole.indices {
      for byte in Array("\",:{}[]\\0-9n \u{1}".utf8) + [0x80] {
        var altered = whole
        altered[place] = byte
        guard let short = StoredFacts(plain: altered) else { continue }
        #expect(short == (try StoredFactsTests.long(altered)))
      }
    }
  }
}
