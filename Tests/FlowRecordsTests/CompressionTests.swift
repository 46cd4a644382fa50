import FlowBase
import FlowRecords
import Testing

struct CompressionTests {
  private func lines(_ packed: [UInt8]) -> [String] {
    do throws(Fault) {
      let reader = try RecordReader(ByteSources.memory(packed, name: "list.gz"), format: .txt)
      var told: [String] = []
      while let record = try reader.next() { told.append(record.cells["url"]?.text ?? "") }
      return told
    } catch { return [error.code, error.message] }
  }

  @Test func `gzip is known by its first bytes, and all members are read`() {
    let first = Gzip.compress(Array("a\nb".utf8))
    let second = Gzip.compress(Array("c\nd\n".utf8))
    #expect(lines(first) == ["a", "b"])
    #expect(lines(first + second) == ["a", "bc", "d"])
    #expect(lines(first + Gzip.compress([]) + second) == ["a", "bc", "d"])
    #expect(lines(second + [UInt8](repeating: 0, count: 1000)) == ["c", "d"])
  }

  @Test func `large contents stream through`() {
    let urls = (0..<200_000).map { "https://example.com/\($0).png" }
    let packed = Gzip.compress(Array(urls.joined(separator: "\n").utf8))
    #expect(lines(packed) == urls)
  }

  @Test func `what is cut or damaged is told`() {
    let packed = Gzip.compress(Array((0..<1000).map { "line \($0)\n" }.joined().utf8))
    for count in [2, 9, 15, packed.count / 2, packed.count - 1] {
      #expect(lines(Array(packed[..<count])).first == "record.truncated", "\(count)")
    }
    var damaged = packed
    damaged[packed.count / 2] ^= 0xFF
    #expect(lines(damaged).first == "record.gzip")
    #expect(lines(packed + Array("more".utf8)).first == "record.gzip")
  }

  @Test func `zlib streams and checksums are those of the standards`() {
    #expect(Crc32.checksum(Array("123456789".utf8)) == 0xCBF4_3926)
    #expect(Crc32.checksum([]) == 0)
    var checksum = Crc32()
    checksum.update(Array("12345".utf8))
    checksum.update([])
    checksum.update(Array("6789".utf8))
    #expect(checksum.value == 0xCBF4_3926)
    let packed = Zlib.compress(Array("hello".utf8))
    #expect(packed.first == 0x78)
    // The last four bytes are the Adler-32 of the content.
    #expect(packed.suffix(4) == [0x06, 0x2C, 0x02, 0x15])
  }
}
