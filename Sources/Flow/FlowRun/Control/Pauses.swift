import FlowBase

/// Which parts of a run are held back by request, and for how long they have been: a pure value.
struct Pauses: Sendable, Hashable {
  private var since: [ControlScope: Instant] = [:]

  /// Whether anything but the whole run is held back.
  var isAnyPartHeld: Bool { since.keys.contains { $0 != .run } }

  /// Whether a part is held back itself.
  func holds(_ scope: ControlScope) -> Bool { since[scope] != nil }

  /// Whether a request to a host, `name:port`, is held back.
  func holds(host: String) -> Bool { since.keys.contains { $0.covers(host: host) } }

  /// Whether an item is held back, by itself or with its source.
  func holds(item: String, of source: String) -> Bool { holds(.item(item)) || holds(.source(source)) }

  /// Holds a part back; false where it is already.
  mutating func pause(_ scope: ControlScope, at now: Instant) -> Bool {
    guard since[scope] == nil else { return false }
    since[scope] = now
    return true
  }

  /// Lets a part go on; the time for which it was held back, nil where it was not.
  mutating func resume(_ scope: ControlScope, at now: Instant) -> Interval? {
    since.removeValue(forKey: scope).map { now - $0 }
  }

  /// The parts that are held back, but for the whole run, in a fixed order.
  var parts: [ControlScope] { since.keys.filter { $0 != .run }.sorted { $0.text < $1.text } }
}

extension ControlScope {
  /// Whether a scope is about a host, `name:port`.
  func covers(host: String) -> Bool {
    guard case .host(let name) = self else { return false }
    return host == name || (host.hasPrefix(name) && host.dropFirst(name.count).first == ":")
  }
}
