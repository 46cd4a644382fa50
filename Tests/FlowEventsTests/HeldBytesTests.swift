import FlowBase
import Testing

@testable import FlowEvents

/// Bytes that wait in one piece leave as they came.
@Suite struct HeldBytesTests {
  @Test(arguments: [1, 7, 300, 70_000])
  func `what waits leaves in its order, whole, however far the reader is behind`(largest: Int) {
    var held = HeldBytes()
    var model: [(seq: Int, bytes: [UInt8])] = []
    var numbers = SystemRandomNumberGenerator()
    var seq = 0
    for round in 0..<400 {
      for _ in 0..<Int.random(in: 0...(round % 3 == 0 ? 20 : 3), using: &numbers) {
        let event = [UInt8](repeating: UInt8(seq % 251), count: Int.random(in: 0...largest, using: &numbers))
        held.append(seq, event)
        model.append((seq, event))
        seq += 1
      }
      for _ in 0..<Int.random(in: 0...(round % 7 == 0 ? 60 : 4), using: &numbers) {
        #expect(held.firstSeq == model.first?.seq)
        var chunk: [UInt8] = [1, 2]
        // By one event, by several up to a number of bytes, and none that comes behind another one.
        let limit = Int.random(in: 3...(2 + largest * 3), using: &numbers)
        let end =
          Bool.random(using: &numbers) ? nil : model.first.map { $0.seq + Int.random(in: 0...3, using: &numbers) }
        var (expected, count): ([UInt8], Int) = ([1, 2], 0)
        while expected.count < limit, let first = model.first, first.seq < end ?? .max {
          expected += model.removeFirst().bytes
          count += 1
        }
        #expect(held.pop(before: end, into: &chunk, limit: limit) == count)
        #expect(chunk == expected)
      }
      #expect(held.count == model.reduce(0) { $0 + $1.bytes.count } && held.isEmpty == model.isEmpty)
    }
  }
}
