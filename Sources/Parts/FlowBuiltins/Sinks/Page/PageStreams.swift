internal import FlowBase
internal import FlowEvents
internal import FlowServe

/// What has changed, put together five times a second for all browsers alike.
struct PageBeats {
  private var beats: [(number: Int, bytes: [UInt8])] = []
  private(set) var number = 0
  /// So many are kept for browsers that are behind or come back; who is further behind is told everything anew.
  private static let memory = 50

  mutating func add(_ data: [UInt8]) {
    number += 1
    beats.append((number, Self.message("beat", number, data)))
    if beats.count > Self.memory { beats.removeFirst() }
  }

  /// Appends the beats behind a number; false where they are not known any more.
  func append(after last: Int, to buffer: inout [UInt8]) -> Bool {
    guard last <= number, last >= number - beats.count else { return false }
    for beat in beats where beat.number > last { buffer.append(contentsOf: beat.bytes) }
    return true
  }

  static func message(_ event: String, _ number: Int, _ data: [UInt8]) -> [UInt8] {
    Array("id: \(number)\nevent: \(event)\ndata: ".utf8) + data + [0x0A, 0x0A]
  }
}

/// The stream that the page itself follows.
struct BeatStream: WebStream {
  let host: PageHost
  /// The last beat that was sent; nil where everything has to be told first.
  var last: Int?
  var silence = 0

  mutating func next(into buffer: inout [UInt8], room: Int) -> Bool {
    host.watchBeats()
    let before = buffer.count
    if let known = last, host.beats({ $0.append(after: known, to: &buffer) }) {
      last = host.beats { $0.number }
    } else {
      let (number, data) = host.wholeBeat()
      buffer.append(contentsOf: PageBeats.message("whole", number, data))
      last = number
    }
    silence = buffer.count == before ? silence + 1 : 0
    // So that both sides notice when the other is gone.
    if silence >= 75 {
      buffer.append(contentsOf: ": still here\n\n".utf8)
      silence = 0
    }
    return !host.isClosing
  }
}

/// The stream of the run's events, from any place on.
struct ShelfStream: WebStream {
  let host: PageHost
  let epoch: Int
  var place: Int
  let filter: EventFilter
  var silence = 0

  mutating func next(into buffer: inout [UInt8], room: Int) -> Bool {
    let before = buffer.count
    let (next, goesOn) = host.read(epoch, from: place, filter, into: &buffer, room: room)
    place = next
    silence = buffer.count == before ? silence + 1 : 0
    if silence >= 75 {
      buffer.append(contentsOf: ": still here\n\n".utf8)
      silence = 0
    }
    return goesOn
  }
}
