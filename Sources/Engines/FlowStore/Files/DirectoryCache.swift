internal import FlowBase

/// The directories that were used last, held open; where there are too many, the older half makes room.
struct DirectoryCache {
  private final class Entry {
    let directory: Descriptor
    var used: Int

    init(directory: Descriptor, used: Int) {
      self.directory = directory
      self.used = used
    }
  }

  /// The folders in which a folder was made, and whose names are not yet known to be on the disk.
  var made: Set<String> = []
  private var entries: [String: Entry] = [:]
  private var clock = 0
  private let limit: Int

  init(limit: Int) { self.limit = max(1, limit) }

  /// The directory under a path, where it is held open.
  subscript(path: String) -> Descriptor? {
    mutating get {
      guard let found = entries[path] else { return nil }
      clock += 1
      found.used = clock
      return found.directory
    }
    set {
      clock += 1
      guard let newValue else {
        entries[path] = nil
        return
      }
      if entries.count >= limit { removeOlderHalf() }
      entries[path] = Entry(directory: newValue, used: clock)
    }
  }

  /// Half of them at once, so that the search for the oldest is paid for by many.
  private mutating func removeOlderHalf() {
    let middle = entries.values.map(\.used).sorted()[entries.count / 2]
    entries = entries.filter { $0.value.used > middle }
  }

  /// Closes a directory that is about to go, and what lies below it.
  mutating func forget(below path: String) {
    for key in entries.keys where key == path || key.hasPrefix(path + "/") { entries[key] = nil }
  }

  /// Closes all.
  mutating func removeAll() { entries.removeAll() }
}
