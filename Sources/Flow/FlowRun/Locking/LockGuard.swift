internal import FlowBase

/// Something that is not as it was locked.
public struct LockDifference: Sendable, Hashable {
  /// What differs.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A source gives an item that the lock does not know.
    case surplus
    /// The lock has an item that no source gives.
    case missing
    case url, digest, size
  }

  /// What differs.
  public var kind: Kind
  /// The item's name.
  public var item: String
  /// What the lock says.
  public var locked: String?
  /// What there is.
  public var found: String?

  /// A difference.
  public init(_ kind: Kind, _ item: String, locked: String? = nil, found: String? = nil) {
    self.kind = kind
    self.item = item
    self.locked = locked
    self.found = found
  }

  /// The difference in a line, in the manner of a diff.
  public var text: String {
    switch kind {
    case .surplus: "+ \(item)  is not in the lock\(found.map { ": \($0)" } ?? "")"
    case .missing: "- \(item)  is in the lock, and no source gives it\(locked.map { ": \($0)" } ?? "")"
    case .url, .digest, .size:
      "~ \(item)  \(kind.rawValue): locked \(locked ?? "nothing"), found \(found ?? "nothing")"
    }
  }

  /// The difference as a fault of its item.
  var fault: Fault {
    let words =
      switch kind {
      case .surplus: "\(item) is not in the lock"
      case .missing: "\(item) is in the lock, and no source gives it"
      case .url, .digest, .size:
        "the \(kind.rawValue) of \(item) is not as locked: \(found ?? "nothing") in place of \(locked ?? "nothing")"
      }
    return Fault("lock.violated", .permanent, words + "; `imgflow lock --update` takes the change over")
  }
}

/// Holds what a run sees against a lock: a pure value.
public struct LockGuard: Sendable {
  /// The lock.
  public let lock: LockFile
  /// What differs, in the order in which it was found.
  public private(set) var differences: [LockDifference] = []
  private var seen: Set<String> = []

  /// A guard that has seen nothing.
  public init(_ lock: LockFile) { self.lock = lock }

  /// The locked entry of an item that is about to be fetched; throws what differs already.
  mutating func entry(for item: String, url: String?) throws(LockDifference) -> LockFile.Entry {
    guard let entry = lock.entries[item] else { throw note(LockDifference(.surplus, item, found: url)) }
    seen.insert(item)
    if entry.url != url { throw note(LockDifference(.url, item, locked: entry.url, found: url)) }
    return entry
  }

  /// Whether bytes that an earlier run fetched are those that are locked.
  mutating func agrees(_ item: String, url: String?, digest: Digest?) -> Bool {
    guard let entry = lock.entries[item], entry.url == url, entry.digest == digest else { return false }
    seen.insert(item)
    return true
  }

  /// Compares what has come with what is locked.
  mutating func compare(_ item: String, digest: Digest?, size: Int?) -> LockDifference? {
    guard let entry = lock.entries[item] else { return nil }
    if let digest, digest != entry.digest {
      return note(LockDifference(.digest, item, locked: entry.digest.integrity, found: digest.integrity))
    }
    if let size, size != entry.size {
      return note(LockDifference(.size, item, locked: String(entry.size), found: String(size)))
    }
    return nil
  }

  /// Finds the entries that no source gave; once every source was read to its end.
  mutating func finish() {
    let missing = lock.entries.keys.filter { !seen.contains($0) }.sorted()
    differences += missing.map { LockDifference(.missing, $0, locked: lock.entries[$0]?.url) }
  }

  private mutating func note(_ difference: LockDifference) -> LockDifference {
    differences.append(difference)
    return difference
  }
}

extension LockDifference: Error {}
