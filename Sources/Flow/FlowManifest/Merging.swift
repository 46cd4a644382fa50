internal import FlowBase
internal import FlowYAML

extension Node {
  /// This node with another laid over it: maps merge, everything else is replaced.
  func overlaid(by other: Node) -> Node {
    guard let mine = entries, let theirs = other.entries else { return other }
    var merged = mine
    for entry in theirs {
      if let place = merged.firstIndex(where: { $0.key == entry.key }) {
        merged[place].value = merged[place].value.overlaid(by: entry.value)
        if entry.value.entries == nil { merged[place].keyMark = entry.keyMark }
      } else {
        merged.append(entry)
      }
    }
    // The node keeps the place of the layer on top only where nothing of this one is left.
    var result = self
    result.content = .map(merged)
    return result
  }

  /// This document with another laid over it: as maps merge, and the entries of `sources`, `stages` and `sinks` by id.
  func documentOverlaid(by other: Node) -> Node {
    guard let mine = entries, let theirs = other.entries else { return other }
    var merged = mine
    for entry in theirs {
      guard let place = merged.firstIndex(where: { $0.key == entry.key }) else {
        merged.append(entry)
        continue
      }
      if let role = Manifest.Entry.Role.allCases.first(where: { $0.list == entry.key }) {
        merged[place].value = merged[place].value.listOverlaid(by: entry.value, role: role)
      } else {
        merged[place].value = merged[place].value.overlaid(by: entry.value)
      }
    }
    var result = self
    result.content = .map(merged)
    return result
  }

  /// This list of entries with another laid over it: equal ids merge, new ones append.
  private func listOverlaid(by other: Node, role: Manifest.Entry.Role) -> Node {
    guard let mine = elements, let theirs = other.elements else { return other }
    var merged = mine
    for element in theirs {
      let id = Manifest.Entry.looseID(of: element, role: role)
      if let id, let place = merged.firstIndex(where: { Manifest.Entry.looseID(of: $0, role: role) == id }) {
        merged[place] = merged[place].entryOverlaid(by: element, role: role)
      } else {
        merged.append(element)
      }
    }
    var result = self
    result.content = .list(merged)
    return result
  }

  /// This entry with another of the same id laid over it; another op takes the place of the op.
  private func entryOverlaid(by other: Node, role: Manifest.Entry.Role) -> Node {
    guard let theirs = other.entries else { return self }
    guard var mine = entries else {
      guard let op = scalar else { return other }
      var expanded = other
      let bare = Entry(key: op, keyMark: mark, value: Node(.scalar("", .plain), mark: mark, file: file))
      expanded.content = theirs.contains { $0.key == op } ? .map(theirs) : .map([bare] + theirs)
      return theirs.contains { !role.keys.contains($0.key) } ? other : expanded
    }
    let ops = theirs.filter { !role.keys.contains($0.key) }.map(\.key)
    if !ops.isEmpty { mine.removeAll { !role.keys.contains($0.key) && !ops.contains($0.key) } }
    var base = self
    base.content = .map(mine)
    return base.overlaid(by: other)
  }
}

extension Manifest.Entry {
  /// The id of an entry that has not been looked at closely; nil for a URL and for what is no entry.
  static func looseID(of node: Node, role: Role) -> String? {
    if let text = node.scalar { return role == .source && isAddress(text) ? nil : defaultID(op: text) }
    guard let entries = node.entries else { return nil }
    if let id = entries.first(where: { $0.key == "id" })?.value.scalar { return id }
    return entries.first { !role.keys.contains($0.key) }.map { defaultID(op: $0.key) }
  }

  /// Whether a bare text in a list of sources is an address and no op's name.
  static func isAddress(_ text: String) -> Bool { text.contains { $0 == ":" || $0 == "/" || $0 == "$" } }
}
