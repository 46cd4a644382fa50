internal import FlowBase
internal import FlowEvents

/// The items that a page shows, in the order in which they appeared: a few words each, however much happened to them.
///
/// What happened stands on the shelf; an entry knows where.
struct PageItems {
  /// One item.
  struct Entry {
    /// Its name, `source/key`.
    var name: String
    var url: String?
    var index: Int
    var source: Int32
    var host: Int32
    /// The code that it failed with, or that it is tried again for; -1 where there is none.
    var code: Int32 = -1
    /// The stage of which something was heard last; -1 where of none.
    var stage: Int32 = -1
    /// The stages that it has been seen in, a bit each; those beyond the 64th share the last.
    var stages: UInt64 = 0
    var state = ItemState.queued
    var isCached = false
    var hasPicture = false
    var attempts: Int32 = 1
    /// The part that is there, from 0 to 1; below 0 where it is unknown.
    var ratio: Float = 0
    var bytes = 0
    /// The place on the shelf of what happened to it last; -1 where nothing lies there.
    var shelf: Int32 = -1
  }

  /// What a list is to hold.
  struct Filter: Hashable {
    var state: ItemState?
    var source: String?
    var stage: String?
    var host: String?
    var code: String?
    /// What name or URL hold, in lower case.
    var text = ""

    var isEmpty: Bool { self == Filter() }
  }

  /// More items are counted, and not listed.
  static let limit = 1_000_000

  private(set) var entries: [Entry] = []
  private(set) var places: [String: Int] = [:]
  private(set) var sources = Names()
  private(set) var hosts = Names()
  private(set) var codes = Names()
  private(set) var stages = Names()
  private(set) var states: [ItemState: Int] = [:]
  /// How many items appeared that are not listed.
  private(set) var unlisted = 0
  /// The places of entries that have changed, in order; the first `forgotten` are not known any more.
  private(set) var changes: [Int32] = []
  private(set) var forgotten = 0
  private static let memory = 4096

  init() {}

  /// The number of the next change.
  var nextChange: Int { forgotten + changes.count }

  /// The entry of an item; a new one where it has none yet, nil where there are too many.
  mutating func place(of subject: ItemSubject) -> Int? {
    if let place = places[subject.item] { return place }
    guard entries.count < Self.limit else { return nil }
    let place = entries.count
    let host = subject.url.flatMap(Self.host)
    entries.append(
      Entry(
        name: subject.item, url: subject.url, index: subject.index, source: Int32(sources.number(of: subject.source)),
        host: Int32(host.map { hosts.number(of: $0) } ?? -1)))
    places[subject.item] = place
    states[.queued, default: 0] += 1
    return place
  }

  /// An item has appeared that is not listed.
  mutating func leaveOut() { unlisted += 1 }

  /// Changes an entry.
  mutating func change(_ place: Int, _ body: (inout Entry) -> Void) {
    let before = entries[place].state
    body(&entries[place])
    let after = entries[place].state
    if before != after {
      states[before, default: 0] -= 1
      states[after, default: 0] += 1
    }
    changes.append(Int32(place))
    if changes.count > 2 * Self.memory {
      forgotten += Self.memory
      changes.removeFirst(Self.memory)
    }
  }

  /// The places that have changed since a number, each once; nil where too many have, or it is too long ago.
  func changed(since number: Int, most: Int) -> [Int]? {
    guard number >= forgotten, number <= nextChange else { return nil }
    var seen: Set<Int32> = []
    for place in changes[(number - forgotten)...] where seen.insert(place).inserted {
      if seen.count > most { return nil }
    }
    return seen.map(Int.init).sorted()
  }

  mutating func number(ofStage stage: String) -> Int32 { Int32(stages.number(of: stage)) }
  mutating func number(ofCode code: String) -> Int32 { Int32(codes.number(of: code)) }

  /// The bit of a stage.
  static func bit(_ stage: Int32) -> UInt64 { stage < 0 ? 0 : 1 << UInt64(min(stage, 63)) }

  /// The places that a filter keeps, in order, and how many there are in all; only `limit` of them behind `offset`.
  func list(_ filter: Filter, offset: Int, limit: Int) -> (places: [Int], total: Int) {
    if filter.isEmpty {
      let end = min(entries.count, offset + limit)
      return (offset < end ? Array(offset..<end) : [], entries.count)
    }
    guard let test = Test(filter, self) else { return ([], 0) }
    var found: [Int] = []
    var total = 0
    for place in entries.indices where test.keeps(entries[place]) {
      if total >= offset && found.count < limit { found.append(place) }
      total += 1
    }
    return (found, total)
  }

  /// The places behind one that a filter keeps.
  func list(_ filter: Filter, after last: Int, limit: Int) -> [Int] {
    guard let test = Test(filter, self) else { return [] }
    var found: [Int] = []
    var place = last + 1
    while place < entries.count, found.count < limit {
      if filter.isEmpty || test.keeps(entries[place]) { found.append(place) }
      place += 1
    }
    return found
  }

  /// A filter whose names are numbers; nil where a name was never heard, so that nothing can be kept.
  private struct Test {
    var state: ItemState?
    var source: Int32?
    var stage: Int32?
    var host: Int32?
    var code: Int32?
    var text: [UInt8]

    init?(_ filter: Filter, _ items: PageItems) {
      state = filter.state
      text = Array(filter.text.utf8)
      do {
        source = try items.sources.known(filter.source)
        stage = try items.stages.known(filter.stage)
        host = try items.hosts.known(filter.host)
        code = try items.codes.known(filter.code)
      } catch { return nil }
    }

    func keeps(_ entry: Entry) -> Bool {
      if let state, entry.state != state { return false }
      if let source, entry.source != source { return false }
      if let stage, entry.stage != stage, entry.stages & PageItems.bit(stage) == 0 { return false }
      if let host, entry.host != host { return false }
      if let code, entry.code != code { return false }
      if text.isEmpty { return true }
      return Self.has(entry.name, text) || entry.url.map { Self.has($0, text) } ?? false
    }

    /// Whether a text holds another, whatever the case of its ASCII letters.
    private static func has(_ text: String, _ wanted: [UInt8]) -> Bool {
      let bytes = text.utf8
      guard bytes.count >= wanted.count, let first = wanted.first else { return false }
      var start = bytes.startIndex
      for _ in 0...(bytes.count - wanted.count) {
        if lower(bytes[start]) == first {
          var place = start
          var isSame = true
          for byte in wanted {
            if lower(bytes[place]) != byte {
              isSame = false
              break
            }
            place = bytes.index(after: place)
          }
          if isSame { return true }
        }
        start = bytes.index(after: start)
      }
      return false
    }

    private static func lower(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte | 32 : byte }
  }

  /// The host, and the port where one stands there, of a URL; nil for what has none.
  static func host(_ url: String) -> String? {
    let bytes = url.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
      return nil
    }
    var start = bytes.index(colon, offsetBy: 3)
    var end = start
    var isLower = true
    while end != bytes.endIndex {
      let byte = bytes[end]
      if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
      if (65...90).contains(byte) { isLower = false }
      end = bytes.index(after: end)
      if byte == UInt8(ascii: "@") { start = end }
    }
    guard start != end else { return nil }
    return isLower ? String(url[start..<end]) : url[start..<end].lowercased()
  }
}

/// Names by number, so that an entry needs only a number for each; they are bounded.
struct Names {
  private(set) var all: [String] = []
  private var numbers: [String: Int] = [:]

  /// More names share the last.
  private static let limit = 20_000

  struct Unknown: Error {}

  mutating func number(of name: String) -> Int {
    if let number = numbers[name] { return number }
    guard all.count < Self.limit else { return Self.limit - 1 }
    numbers[name] = all.count
    all.append(name)
    return all.count - 1
  }

  /// The number of a name; nil for nil.
  func known(_ name: String?) throws(Unknown) -> Int32? {
    guard let name else { return nil }
    guard let number = numbers[name] else { throw Unknown() }
    return Int32(number)
  }

  subscript(_ number: Int32) -> String? { number >= 0 && Int(number) < all.count ? all[Int(number)] : nil }
}
