import FlowBase
import FlowEvents
import FlowTesting
import Testing

@testable import FlowBuiltins

/// The events that a page keeps on disk.
@Suite struct EventShelfTests {
  private func filled(_ count: Int, limit: Int = 1 << 30) throws -> (EventShelf, TempPlace, [Event]) {
    let place = try TempPlace()
    let shelf = EventShelf(folder: place.path, limit: limit)
    var samples = PageSamples()
    for number in 0..<count { samples.tell(.log(.init(number % 2 == 0 ? .info : .warn, "line \(number)"))) }
    for event in samples.events { _ = shelf.put(event, before: -1) }
    return (shelf, place, samples.events)
  }

  private func all(_ shelf: EventShelf, from place: Int = 0, room: Int, _ filter: EventFilter = .all) -> String {
    var (place, text) = (place, "")
    while place < shelf.count {
      var bytes: [UInt8] = []
      place = shelf.read(from: place, filter, into: &bytes, room: room)
      text += String(decoding: bytes, as: UTF8.self)
    }
    return text
  }

  @Test func `what was put there comes out as messages, whatever is in the file already`() throws {
    // More than fits into the memory before the file, so that reads cross its end.
    let (shelf, place, events) = try filled(2000)
    let wanted = events.map { "id: \($0.seq)\nevent: log\ndata: \(NDJSON.line($0))\n\n" }.joined()
    #expect(all(shelf, room: 1000) == wanted)
    #expect(all(shelf, room: 1 << 20) == wanted)
    #expect(try SmallFiles.names(in: place.path).isEmpty)
  }

  @Test func `a reader goes on behind the last that it knows`() throws {
    let (shelf, place, events) = try filled(50)
    #expect(shelf.place(after: 41) == 42 && shelf.place(after: -1) == 0 && shelf.place(after: 999) == 50)
    #expect(
      all(shelf, from: 48, room: 99)
        == events[48...].map { "id: \($0.seq)\nevent: log\ndata: \(NDJSON.line($0))\n\n" }.joined())
    #expect(SmallFiles.isFolder(place.path))
  }

  @Test func `a filter leaves out what it does not let pass`() throws {
    let (shelf, place, _) = try filled(50)
    #expect(all(shelf, room: 1000, EventFilter(globs: ["item.*"])) == "")
    #expect(SmallFiles.isFolder(place.path))
  }

  @Test func `a shelf that is full says so, and what lies there can still be read`() throws {
    let (shelf, place, _) = try filled(3000, limit: 100_000)
    #expect(shelf.fault?.code == "page.full")
    #expect(shelf.count > 100 && shelf.count < 3000)
    #expect(all(shelf, room: 1 << 20).utf8.count >= 100_000)
    #expect(SmallFiles.isFolder(place.path))
  }

  @Test func `a folder that cannot be written to is a fault, and no crash`() {
    let shelf = EventShelf(folder: "/proc/nothing")
    #expect(shelf.fault != nil)
    var samples = PageSamples()
    samples.begin()
    #expect(shelf.put(samples.events[0], before: -1) == nil)
    #expect(shelf.history(0, most: 5).isEmpty)
  }
}
