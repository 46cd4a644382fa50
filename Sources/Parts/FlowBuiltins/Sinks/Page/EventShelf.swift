internal import FlowBase
internal import FlowEvents

/// What was told of a run, on disk, as the page hands it out: each event as a message of server-sent events.
///
/// A file without a name, so that it goes with the process. Memory holds a few bytes an event: where it lies, and what
/// happened to the same item before.
final class EventShelf {
  private struct Mark {
    var seq: Int
    var offset: Int
    /// The place of the item's event before this one; -1 where this is its first.
    var before: Int32
    var type: UInt8
  }

  private let file: Descriptor?
  private var marks: [Mark] = []
  /// What is not in the file yet, and where in the file it will begin.
  private var tail: [UInt8] = []
  private var written = 0
  /// Why nothing more is put here; what comes is counted and not kept.
  private(set) var fault: Fault?
  private let limit: Int
  /// Stands before the numbers of the messages.
  private let prefix: String

  private static let types = EventType.allCases
  private static let chunk = 1 << 16

  /// An empty shelf in a folder, for so many bytes at most; `prefix` tells the messages of a second run from the first's.
  init(folder: String?, prefix: String = "", limit: Int = 4_000_000_000) {
    self.limit = limit
    self.prefix = prefix
    do {
      file = try Self.makeFile(folder)
    } catch {
      file = nil
      fault = error
    }
  }

  private static func makeFile(_ folder: String?) throws(Fault) -> Descriptor {
    let path = PathText.join(folder ?? "/tmp", ".page-\(ThisProcess.id)-\(Entropy.token(16))")
    do throws(Errno) {
      if let folder { try FileSystem.makeDirectories(folder, mode: 0o700) }
      let file = try FileSystem.open(path, [.readWrite, .create, .exclusive], mode: 0o600)
      try FileSystem.remove(path)
      return file
    } catch {
      throw error.fault("make", path)
    }
  }

  /// How many events lie here.
  var count: Int { marks.count }

  /// Puts an event behind the others; gives its place, nil where there is no room.
  func put(_ event: Event, before: Int32) -> Int32? {
    guard fault == nil, let file, marks.count < Int(Int32.max) else { return nil }
    let type = event.type
    guard let number = Self.types.firstIndex(of: type) else { return nil }
    if written + tail.count > limit {
      fault = Fault("page.full", .local, "the page keeps \(ByteCount(limit).text) of events, and no more")
      return nil
    }
    marks.append(Mark(seq: event.seq, offset: written + tail.count, before: before, type: UInt8(number)))
    tail.append(contentsOf: "id: \(prefix)\(event.seq)\nevent: \(type.rawValue)\ndata: ".utf8)
    NDJSON.append(event, to: &tail)
    tail.append(0x0A)
    if tail.count >= Self.chunk {
      do throws(Errno) {
        try file.write(tail)
        written += tail.count
        tail.removeAll(keepingCapacity: true)
      } catch {
        fault = error.fault("keep the page's events")
      }
    }
    return Int32(marks.count - 1)
  }

  /// The place of the first event with a higher number.
  func place(after seq: Int) -> Int {
    var (low, high) = (0, marks.count)
    while low < high {
      let middle = (low + high) / 2
      if marks[middle].seq <= seq { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Appends messages from a place on, at most about so many bytes; gives the place behind the last.
  func read(from place: Int, _ filter: EventFilter, into buffer: inout [UInt8], room: Int) -> Int {
    var place = place
    let end = buffer.count + room
    while place < marks.count, buffer.count < end {
      var last = place
      if !filter.isOpen {
        guard filter.passes(Self.types[Int(marks[place].type)]) else {
          place += 1
          continue
        }
      } else {
        while last + 1 < marks.count, marks[last + 1].offset - marks[place].offset < room { last += 1 }
      }
      guard let bytes = bytes(place...last) else { return marks.count }
      buffer.append(contentsOf: bytes)
      place = last + 1
    }
    return place
  }

  /// The events of an item as JSON, from the first to the last that lies at a place; at most so many of the last ones.
  func history(_ last: Int32, most: Int) -> [ArraySlice<UInt8>] {
    var found: [ArraySlice<UInt8>] = []
    var place = last
    while place >= 0, Int(place) < marks.count, found.count < most {
      if let json = json(Int(place)) { found.append(json) }
      place = marks[Int(place)].before
    }
    return found.reversed()
  }

  /// The newest event of an item of some type, from a place back.
  func newest(_ type: EventType, from last: Int32) -> ArraySlice<UInt8>? {
    var place = last
    while place >= 0, Int(place) < marks.count {
      if Self.types[Int(marks[Int(place)].type)] == type { return json(Int(place)) }
      place = marks[Int(place)].before
    }
    return nil
  }

  private func json(_ place: Int) -> ArraySlice<UInt8>? {
    guard let message = bytes(place...place) else { return nil }
    // Behind the message's third colon stands the event, and behind it two line feeds.
    guard let start = message.firstIndex(of: UInt8(ascii: "{")) else { return nil }
    return message[start...].dropLast(2)
  }

  private func bytes(_ places: ClosedRange<Int>) -> [UInt8]? {
    let start = marks[places.lowerBound].offset
    let end = places.upperBound + 1 < marks.count ? marks[places.upperBound + 1].offset : written + tail.count
    var bytes: [UInt8] = []
    if start < written {
      let wanted = min(end, written) - start
      guard let read = try? file?.read(upTo: wanted, at: start), read.count == wanted else { return nil }
      bytes = read
    }
    if end > written { bytes += tail[(max(start, written) - written)..<(end - written)] }
    return bytes
  }
}
