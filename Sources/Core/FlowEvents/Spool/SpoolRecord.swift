internal import FlowBase

/// A record of a spool's file: what it is, the event that it is about, and its bytes, with a checksum over all of it.
struct SpoolRecord: Equatable {
  enum Kind: UInt8 {
    /// The form of the events; the first record of every file.
    case form = 1
    /// An event that must not be lost.
    case event = 2
    /// An event that may be replaced, written down because a batch takes it along.
    case passing = 3
    /// The events from `number` of the payload to `seq` make one batch from now on.
    case cut = 4
    /// The events up to `seq` are done.
    case done = 5
  }

  var kind: Kind
  var seq: Int
  var payload: [UInt8] = []

  /// Length and checksum, four bytes each, kind, `seq` in eight bytes.
  static let header = 17
  /// No record is longer; a length beyond is damage.
  static let longest = 64 << 20

  /// How many bytes it takes in a file.
  var size: Int { SpoolRecord.header + payload.count }

  /// Appends the record to bytes for a file.
  func append(to bytes: inout [UInt8]) {
    let start = bytes.count
    SpoolRecord.put(payload.count, 4, &bytes)
    SpoolRecord.put(0, 4, &bytes)
    bytes.append(kind.rawValue)
    SpoolRecord.put(seq, 8, &bytes)
    bytes.append(contentsOf: payload)
    let sum = Checksum.crc32(of: bytes[(start + 8)...])
    for place in 0..<4 { bytes[start + 4 + place] = UInt8(truncatingIfNeeded: sum >> (8 * place)) }
  }

  /// What stands at a place of some bytes.
  enum Found: Equatable {
    case record(SpoolRecord, end: Int)
    /// The bytes end within the record, which has so many.
    case short(needs: Int)
    case damaged
  }

  /// Reads the record at a place.
  static func read(_ bytes: [UInt8], at start: Int) -> Found {
    guard bytes.count - start >= header else { return .short(needs: header) }
    let length = number(bytes, start, 4)
    guard length <= longest else { return .damaged }
    let end = start + header + length
    guard end <= bytes.count else { return .short(needs: header + length) }
    guard Int(Checksum.crc32(of: bytes[(start + 8)..<end])) == number(bytes, start + 4, 4),
      let kind = Kind(rawValue: bytes[start + 8])
    else { return .damaged }
    let seq = number(bytes, start + 9, 8)
    return .record(SpoolRecord(kind: kind, seq: seq, payload: Array(bytes[(start + header)..<end])), end: end)
  }

  /// The record that makes a batch of the events between two.
  static func cut(from first: Int, to last: Int) -> SpoolRecord {
    var payload: [UInt8] = []
    put(first, 8, &payload)
    return SpoolRecord(kind: .cut, seq: last, payload: payload)
  }

  /// The first event of the batch that a `cut` makes.
  var first: Int? { kind == .cut && payload.count == 8 ? SpoolRecord.number(payload, 0, 8) : nil }

  private static func put(_ number: Int, _ count: Int, _ bytes: inout [UInt8]) {
    for place in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
  }

  private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int {
    var number = 0
    for place in (0..<count).reversed() { number = number << 8 | Int(bytes[start + place]) }
    return number
  }
}
