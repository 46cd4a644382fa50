/// An ordered map from names to values.
///
/// The names are kept apart from the values, so that a million rows of one table share one list of names.
public struct Fields: Sendable, Hashable {
  /// The names, in order; each once.
  public private(set) var names: [String]
  /// The values, each at the place of its name.
  public private(set) var values: [Value]

  /// A map without entries.
  public init() {
    names = []
    values = []
  }

  /// A map from a shared list of distinct names and as many values; missing values are null.
  public init(names: [String], values: [Value]) {
    self.names = names
    self.values = values
    while self.values.count < names.count { self.values.append(.null) }
    if self.values.count > names.count { self.values.removeLast(self.values.count - names.count) }
  }

  /// Whether there is no entry.
  public var isEmpty: Bool { names.isEmpty }
  /// How many entries there are.
  public var count: Int { names.count }

  /// The place of a name, if it is there.
  public func place(of name: String) -> Int? { names.firstIndex(of: name) }

  /// The value under a name; setting nil removes the entry.
  public subscript(name: String) -> Value? {
    get { names.firstIndex(of: name).map { values[$0] } }
    set {
      switch (names.firstIndex(of: name), newValue) {
      case (let place?, let value?): values[place] = value
      case (let place?, nil):
        names.remove(at: place)
        values.remove(at: place)
      case (nil, let value?):
        names.append(name)
        values.append(value)
      case (nil, nil): break
      }
    }
  }

  /// This map with the entries of another laid over it.
  public func merging(_ other: Fields) -> Fields {
    if isEmpty { return other }
    var merged = self
    for (name, value) in other { merged[name] = value }
    return merged
  }
}

extension Fields: Sequence {
  /// Goes over the entries in order.
  public func makeIterator() -> Zip2Sequence<[String], [Value]>.Iterator { zip(names, values).makeIterator() }
}

extension Fields: ExpressibleByDictionaryLiteral {
  /// A map as written; a later entry of the same name replaces the earlier.
  public init(dictionaryLiteral elements: (String, Value)...) {
    self.init()
    if elements.isEmpty { return }
    names.reserveCapacity(elements.count)
    values.reserveCapacity(elements.count)
    for (name, value) in elements { self[name] = value }
  }
}
