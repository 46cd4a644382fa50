import FlowBase
import FlowGraph
import FlowParts
import Testing

@testable import FlowRun

/// What an item that waits behind a gate has with it, as the journal keeps it.
@Suite struct ParkCodecTests {
  private static func held(_ path: String, _ bytes: Int, _ sha256: Digest, isOwn: Bool = false) -> HeldFile {
    HeldFile(path: path, bytes: bytes, sha256: sha256, isTemporary: isOwn) { _ in }
  }

  private func parked() -> ParkedItem {
    let file = ParkCodecTests.held("/tmp/x", 4, Digest.sha256(of: "some"))
    var fetched = NodeResult(fields: ["bytes": 4])
    fetched.content = .file(file)
    let work = KeyedWork(
      op: "fetch", version: 1, config: Config([Config.Entry("a", .value(.string("\"b\"")))]), plugin: "5b")
    let key = ResultKey(work: work, config: nil, input: .item([0, 255]))
    let fact = OutputFact(path: "a.png", bytes: 4, sha256: file.sha256.hex)
    return ParkedItem(
      id: 7, item: Item(source: "s", key: "k", index: 3, url: "https://x.org/a"), input: [1, 255],
      states: [.ok, .failed, .gated], results: [fetched, nil, nil], keys: [key, nil, nil],
      outputs: [PublishedOutput(fact: fact, node: 0)],
      tries: [0, 2, 0], stageTimes: [5, 6, -1],
      failures: [Failure(node: 1, fault: Fault("http.404", .permanent, "gone"), attempt: 2)], isShared: true,
      isKept: true, cachedStages: [0, 2], made: ["k/1"], reason: "too small",
      written: [0])
  }

  /// Through the text that the journal has.
  private func back(_ change: (inout Fields) -> Void = { _ in }) throws -> ParkedItem {
    var fields = ParkCodec.encode(parked())
    change(&fields)
    var writer = JSONWriter()
    writer.value(.map(fields))
    let read = try #require(try JSONReader.read(writer.bytes).asMap)
    return try #require(ParkCodec.decode(7, read, holding: ParkCodecTests.held))
  }

  @Test func `an item comes back with all that it had`() throws {
    let (item, before) = (try back(), parked())
    #expect(item.id == 7 && item.item == before.item && item.input == before.input)
    #expect(item.states == before.states && item.tries == before.tries && item.stageTimes == before.stageTimes)
    #expect(item.results.map { $0?.fields } == [["bytes": 4], nil, nil])
    guard case .file(let file)? = item.results[0]?.content else {
      Issue.record("the bytes are gone")
      return
    }
    #expect(file.writtenPath == "/tmp/x" && file.bytes == 4 && file.sha256 == Digest.sha256(of: "some"))
    #expect(item.outputs.map(\.fact) == before.outputs.map(\.fact) && item.outputs.map(\.node) == [0])
    #expect(item.failures.map(\.fault.code) == ["http.404"] && item.failures.map(\.attempt) == [2])
    #expect(item.isShared && item.made == ["k/1"])
    #expect(item.isKept && item.cachedStages == [0, 2] && item.written == [0])
    #expect(item.reason == "too small")
    #expect(item.keys.map { $0?.parts } == before.keys.map { $0?.parts })
  }

  @Test func `a file that is the item's alone goes with it, once for all results that have it`() throws {
    var item = parked()
    item.results[1] = item.results[0]
    item.ownFiles = ["/tmp/x"]
    let removed = Guarded<[String]>([])
    var back = ParkCodec.decode(7, ParkCodec.encode(item)) { path, bytes, digest, isOwn in
      HeldFile(path: path, bytes: bytes, sha256: digest, isTemporary: isOwn) { path in
        removed.withLock { $0.append(path) }
      }
    }
    back?.results[0] = nil
    #expect(removed.withLock { $0 } == [])
    back = nil
    #expect(removed.withLock { $0 } == ["/tmp/x"])
    // What others may have as well stays.
    #expect(try #require(self.back().results[0]?.content).isKept)
  }

  @Test func `a row without what its results depend on has none for each of them`() throws {
    let item = try back { $0["keys"] = nil }
    #expect(item.keys.count == 3 && item.keys.allSatisfy { $0 == nil } && item.results[0]?.content != nil)
  }

  @Test func `a row that does not say what came from an earlier run is read as if nothing had`() throws {
    let item = try back { fields in
      fields["kept"] = nil
      fields["cached"] = nil
    }
    #expect(!item.isKept && item.cachedStages.isEmpty && item.item == parked().item && item.isShared)
  }
}

extension Content {
  /// Whether it is a file that outlasts who holds it.
  fileprivate var isKept: Bool { if case .file(let file) = self { !file.isTemporary } else { false } }
}
