internal import FlowBase

/// How much may wait for one reader.
public struct StreamLimits: Sendable, Hashable {
  /// Bytes in memory.
  public var memory: Int
  /// Bytes on disk.
  public var spool: Int
  /// The folder of the spool; nil where nothing may go to disk.
  public var folder: String?

  /// Limits.
  public init(memory: Int = 1 << 20, spool: Int = 256_000_000, folder: String? = nil) {
    self.memory = memory
    self.spool = spool
    self.folder = folder
  }
}

/// What a stream has been told and its reader has not taken yet.
///
/// What must not be lost waits in memory, and past a bound on disk; of what may be replaced only the newest waits.
/// Both leave in the order of `seq`.
struct Backlog {
  /// What became of an addition.
  enum Outcome: Equatable {
    /// It waits.
    case kept
    /// It waits, and an older event of this type does not any more.
    case replaced(EventType)
    /// It may be dropped, and was.
    case dropped
    /// There is no room for it.
    case overflow(Fault)
  }

  private let limits: StreamLimits
  private var memory = HeldBytes()
  private var newest = NewestQueue<[UInt8]>()
  private var spool: SpoolFile?

  init(limits: StreamLimits) { self.limits = limits }

  /// Whether the reader has taken everything.
  var isEmpty: Bool { memory.isEmpty && newest.count == 0 && spooledBytes == 0 }

  private var spooledBytes: Int { spool?.bytes ?? 0 }

  /// The `seq` of the first event that waits.
  mutating func firstWaiting() -> Int? {
    let kept = memory.firstSeq ?? (try? spool?.firstNumber())
    return [kept, newest.firstSeq()].compactMap(\.self).min()
  }

  /// Whether there is room again for a stream that was full.
  var isRelaxed: Bool { spooledBytes <= limits.spool / 2 && memory.count <= limits.memory / 2 }

  /// Adds the bytes of an event; with `force` also where there is no room.
  mutating func add(_ event: Event, _ bytes: [UInt8], force: Bool = false) -> Outcome {
    switch event.delivery {
    case .newest:
      let pushed = newest.add(.init(seq: event.seq, key: NewestKey(event), element: bytes))
      return pushed.map(Outcome.replaced) ?? .kept
    case .droppable where spooledBytes > 0 || memory.count > limits.memory / 2: return .dropped
    case .kept, .droppable: return keep(event.seq, bytes, force: force)
    }
  }

  private mutating func keep(_ seq: Int, _ bytes: [UInt8], force: Bool) -> Outcome {
    // As long as something is on disk, all that comes later goes there too: order first.
    if spooledBytes == 0 && (memory.count + bytes.count <= limits.memory || memory.isEmpty) {
      memory.append(seq, bytes)
      return .kept
    }
    do throws(Fault) {
      guard let spool = try openSpool(), force || spool.fits(bytes.count) else {
        guard force && spooledBytes == 0 else { return .overflow(overflow) }
        memory.append(seq, bytes)
        return .kept
      }
      try spool.append(seq, bytes)
      return .kept
    } catch {
      return .overflow(error)
    }
  }

  private var overflow: Fault {
    let room = ByteCount(limits.folder == nil ? limits.memory : limits.spool).text
    return Fault(
      "sink.overflow", .local,
      "the reader is so far behind that \(room) of events wait for it, the most that may; it gets no more of them")
  }

  private mutating func openSpool() throws(Fault) -> SpoolFile? {
    if let spool { return spool }
    guard let folder = limits.folder else { return nil }
    spool = try SpoolFile(folder: folder, limit: limits.spool)
    return spool
  }

  /// Moves whole events to the end of `chunk`, up to about so many bytes; gives the first one's `seq` and how many.
  mutating func take(into chunk: inout [UInt8], limit: Int) throws(Fault) -> (first: Int, count: Int)? {
    var first: Int?
    var count = 0
    while chunk.count < limit {
      var kept = memory.firstSeq
      if kept == nil { kept = try spool?.firstNumber() }
      let replaceable = newest.firstSeq()
      guard kept != nil || replaceable != nil else { break }
      let seq = min(kept ?? .max, replaceable ?? .max)
      if first == nil { first = seq }
      if seq == replaceable {
        count += 1
        chunk.append(contentsOf: newest.popFirst()?.element ?? [])
      } else if memory.isEmpty {
        guard let bytes = try spool?.popFirst() else { break }
        count += 1
        chunk.append(contentsOf: bytes)
      } else {
        count += memory.pop(before: replaceable, into: &chunk, limit: limit)
      }
    }
    return first.map { ($0, count) }
  }
}
