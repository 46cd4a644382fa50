internal import FlowBase

/// The bytes of events that wait in memory, one behind the other in one piece.
///
/// A piece of memory an event, got by one thread and given back by another, would leave holes that the process never
/// gets rid of: a run of a million items would need more and more of it.
struct HeldBytes {
  private struct Mark {
    var seq: Int
    var count: Int
  }

  private var marks = Fifo<Mark>()
  /// What lies before `head` has been taken already.
  private var bytes: [UInt8] = []
  private var head = 0

  /// What is free is kept up to so much; a reader that was behind once leaves no more than this.
  private static let spare = 1 << 18

  var isEmpty: Bool { marks.isEmpty }
  /// How many bytes wait.
  var count: Int { bytes.count - head }
  /// The `seq` of the first event.
  var firstSeq: Int? { marks.first?.seq }

  mutating func append(_ seq: Int, _ event: [UInt8]) {
    marks.append(Mark(seq: seq, count: event.count))
    bytes.append(contentsOf: event)
  }

  /// Moves the first events to the end of `chunk` until that holds `limit` bytes, and none that comes behind `end`; says
  /// how many.
  mutating func pop(before end: Int?, into chunk: inout [UInt8], limit: Int) -> Int {
    var (events, size) = (0, 0)
    while chunk.count + size < limit, let mark = marks.first, mark.seq < end ?? .max {
      _ = marks.popFirst()
      events += 1
      size += mark.count
    }
    chunk.append(contentsOf: bytes[head..<(head + size)])
    head += size
    if head == bytes.count {
      bytes.removeAll(keepingCapacity: bytes.capacity <= Self.spare)
      head = 0
    } else if head >= Self.spare && head * 2 > bytes.count {
      bytes.removeFirst(head)
      head = 0
    }
    return events
  }
}
