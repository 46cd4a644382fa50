internal import FlowBase
internal import FlowImage

/// What a leg is known by.
enum DedupeMark: Sendable, Hashable {
  /// The digest of its bytes.
  case bytes(String)
  /// How its picture looks, and in how many bits others that look alike may differ.
  case look(UInt64, within: Int)
}

/// Which leg it is.
struct DedupeName: Sendable, Hashable {
  var source: String
  var key: String
  /// Where in the matrix it is, in words; empty without one.
  var axes = ""

  /// As people are told of it.
  var text: String { "\(source)/\(key)\(axes)" }
}

/// Whom a leg equals, and why it is dropped.
struct DedupeTwin: Sendable, Hashable {
  /// The leg that stays.
  var name: DedupeName
  var mark: DedupeMark
  var reason: String
}

/// What one `dedupe` has seen, in this run and in earlier ones, and whom it lets pass.
final class DedupeBook: Sendable {
  private struct Entry {
    var name: DedupeName
    var mark: DedupeMark
    var size: Int
    var index: Int
  }

  private struct State {
    var seen = SeenPictures()
    /// What earlier runs have kept, by name, as long as this run has not come to the same leg.
    var earlier: [DedupeName: DedupeMark] = [:]
    /// All that are waited for, where all must be known first.
    var waiting: [Entry] = []
    /// What legs are dropped for, by name, once all are known.
    var verdicts: [DedupeName: DedupeTwin]?
    var opening: Task<Void, any Error>?
  }

  private let state = Guarded(State())
  private let waitsForAll: Bool

  init(waitsForAll: Bool) { self.waitsForAll = waitsForAll }

  /// Does something once, for all who come to it.
  func opening(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let task = state.withLock { state in
      if let task = state.opening { return task }
      let task = Task { try await body() }
      state.opening = task
      return task
    }
    try await task.value
  }

  /// Notes what an earlier run has kept.
  func recall(_ name: DedupeName, _ mark: DedupeMark) {
    state.withLock { state in
      state.earlier[name] = mark
      if !waitsForAll { state.seen.add(name, mark) }
    }
  }

  /// Notes what has been found of a leg of this run.
  func note(_ name: DedupeName, _ mark: DedupeMark, size: Int, index: Int) {
    guard waitsForAll else { return }
    state.withLock { $0.waiting.append(Entry(name: name, mark: mark, size: size, index: index)) }
  }

  /// What a leg is dropped for; nil where it stays.
  func judge(_ name: DedupeName, _ mark: DedupeMark) -> DedupeTwin? {
    state.withLock { state in
      if waitsForAll {
        if state.verdicts == nil { DedupeBook.judgeAll(&state) }
        return state.verdicts?[name]
      }
      // What this run finds of a leg counts, and no longer what an earlier one has found.
      if let old = state.earlier.removeValue(forKey: name), old != mark { state.seen.remove(name, old) }
      return state.seen.meet(name, mark)
    }
  }

  /// The larger goes before the smaller, of two equal ones the one that is further up in its list.
  private static func judgeAll(_ state: inout State) {
    for entry in state.waiting { state.earlier[entry.name] = nil }
    for (name, mark) in state.earlier.sorted(by: { $0.key.text < $1.key.text }) { state.seen.add(name, mark) }
    var verdicts: [DedupeName: DedupeTwin] = [:]
    let order = state.waiting.sorted { ($1.size, $0.index, $0.name.text) < ($0.size, $1.index, $1.name.text) }
    for entry in order {
      if let twin = state.seen.meet(entry.name, entry.mark) { verdicts[entry.name] = twin }
    }
    state.verdicts = verdicts
    state.waiting = []
  }
}

/// The legs that stay, by their bytes and by their looks.
struct SeenPictures: Sendable {
  private var digests: [String: DedupeName] = [:]
  /// Hashes that are equal in one of nine parts at least are compared: two that differ in at most eight bits are equal
  /// in one of nine parts.
  private var hashes: [(hash: UInt64, name: DedupeName?)] = []
  private var parts: [Int: [Int]] = [:]

  /// Whom a leg equals; nil where it equals none, and then it is one that stays.
  ///
  /// Who comes again, in another try, meets nobody.
  mutating func meet(_ name: DedupeName, _ mark: DedupeMark) -> DedupeTwin? {
    switch mark {
    case .bytes(let digest):
      if let first = digests[digest] {
        return first == name ? nil : DedupeTwin(name: first, mark: mark, reason: "the same bytes as \(first.text)")
      }
    case .look(let hash, let distance):
      if let alike = nearest(to: hash, within: distance) {
        if alike.name == name { return nil }
        return DedupeTwin(
          name: alike.name, mark: .look(alike.hash, within: distance),
          reason: "looks like \(alike.name.text) (\(alike.distance) of 64 bits differ)")
      }
    }
    add(name, mark)
    return nil
  }

  /// Notes a leg as one that stays.
  mutating func add(_ name: DedupeName, _ mark: DedupeMark) {
    switch mark {
    case .bytes(let digest): if digests[digest] == nil { digests[digest] = name }
    case .look(let hash, _):
      for key in SeenPictures.keys(of: hash) { parts[key, default: []].append(hashes.count) }
      hashes.append((hash, name))
    }
  }

  /// Forgets a leg.
  mutating func remove(_ name: DedupeName, _ mark: DedupeMark) {
    switch mark {
    case .bytes(let digest): if digests[digest] == name { digests[digest] = nil }
    case .look(let hash, _):
      for place in parts[SeenPictures.keys(of: hash)[0]] ?? [] where hashes[place].name == name {
        hashes[place].name = nil
      }
    }
  }

  /// Who looks alike, the most alike one.
  private func nearest(to hash: UInt64, within distance: Int) -> (name: DedupeName, hash: UInt64, distance: Int)? {
    let candidates = distance <= 8 ? Set(SeenPictures.keys(of: hash).flatMap { parts[$0] ?? [] }) : Set(hashes.indices)
    let alike = candidates.map { (index: $0, distance: PerceptualHash.distance(hashes[$0].hash, hash)) }
      .filter { $0.distance <= distance && hashes[$0.index].name != nil }
      .min { ($0.distance, $0.index) < ($1.distance, $1.index) }
    guard let alike, let name = hashes[alike.index].name else { return nil }
    return (name, hashes[alike.index].hash, alike.distance)
  }

  /// Nine parts of seven bits, and the last of eight, each with its number.
  private static func keys(of hash: UInt64) -> [Int] {
    (0..<9).map { part in
      let bits = part == 8 ? hash >> 56 & 0xFF : hash >> UInt64(part * 7) & 0x7F
      return part << 8 | Int(bits)
    }
  }
}
