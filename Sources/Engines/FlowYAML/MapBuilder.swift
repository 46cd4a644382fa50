internal import FlowBase

/// The entries of a map that is being read.
struct MapBuilder {
  /// Where the keys stand that were written in this very map.
  var marks: [String: Mark] = [:]
  /// The entries so far; nil where one that was merged in has given way.
  private var places: [Node.Entry?] = []
  /// Where the entries are that were merged in.
  private var merged: [String: Int] = [:]

  /// The entries in order.
  var entries: [Node.Entry] { places.compactMap(\.self) }

  /// Adds an entry that is written here; one that was merged in gives way.
  mutating func add(_ entry: Node.Entry) {
    if let place = merged.removeValue(forKey: entry.key) { places[place] = nil }
    marks[entry.key] = entry.keyMark
    places.append(entry)
  }

  /// Adds the entries of other maps, except those that are there.
  mutating func merge(_ others: [Node.Entry]) {
    for entry in others where marks[entry.key] == nil && merged[entry.key] == nil {
      merged[entry.key] = places.count
      places.append(entry)
    }
  }
}
