public import FlowBase

/// What flows through a run: one thing to fetch or to read, with all that its source said of it.
///
/// Every stage, event and record holds the item, so that a copy is one reference; who changes one gets one of its own.
public struct Item: Sendable, Hashable {
  private var facts: ItemFacts

  /// The id of the source that made it.
  public var source: String {
    get { facts.source }
    set { own().source = newValue }
  }
  /// Its key, unique within the source.
  public var key: String {
    get { facts.key }
    set { own().key = newValue }
  }
  /// Its place in the source, from 1.
  public var index: Int {
    get { facts.index }
    set { own().index = newValue }
  }
  /// Its address; nil for files of this machine.
  public var url: String? {
    get { facts.url }
    set { own().url = newValue }
  }
  /// `item.*` as the source knows it: `key url name stem ext host index source`, and `path` for local files.
  public var fields: Fields {
    get { facts.fields }
    _modify { yield &own().fields }
  }
  /// `row.*`: the cells of its row.
  public var row: Fields {
    get { facts.row }
    set { own().row = newValue }
  }
  /// `for.*`: the values of the generator that made it.
  public var loop: Fields {
    get { facts.loop }
    set { own().loop = newValue }
  }
  /// What its bytes must be.
  public var expected: Expectation {
    get { facts.expected }
    set { own().expected = newValue }
  }
  /// Other addresses of the same bytes, tried in turn.
  public var mirrors: [String] {
    get { facts.mirrors }
    set { own().mirrors = newValue }
  }
  /// Request headers that came with it.
  public var headers: [Header] {
    get { facts.headers }
    set { own().headers = newValue }
  }
  /// The name of the item that a stage made it from.
  public var parent: String? {
    get { facts.parent }
    set { own().parent = newValue }
  }

  /// An item.
  public init(
    source: String, key: String, index: Int, url: String?, fields: Fields = [:], row: Fields = [:], loop: Fields = [:],
    expected: Expectation = Expectation(), mirrors: [String] = [], headers: [Header] = [], parent: String? = nil
  ) {
    facts = ItemFacts(
      source: source, key: key, index: index, url: url, fields: fields, row: row, loop: loop, expected: expected,
      mirrors: mirrors, headers: headers, parent: parent)
  }

  /// The name under which events and commands know it: `source/key`.
  public var name: String { facts.name }

  /// The facts, for a change: they are this copy's alone from now on.
  private mutating func own() -> ItemFacts {
    if !isKnownUniquelyReferenced(&facts) { facts = ItemFacts(facts) }
    return facts
  }

  /// Whether two items are alike in everything.
  public static func == (left: Item, right: Item) -> Bool {
    left.facts === right.facts
      || left.key == right.key && left.source == right.source && left.index == right.index && left.url == right.url
        && left.fields == right.fields && left.row == right.row && left.loop == right.loop
        && left.expected == right.expected && left.mirrors == right.mirrors && left.headers == right.headers
        && left.parent == right.parent
  }

  /// Names tell items apart well enough.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(source)
    hasher.combine(key)
    hasher.combine(index)
  }
}

/// What an item's copies share; changed only while there is a single one.
private final class ItemFacts: @unchecked Sendable {
  var source: String { didSet { name = source + "/" + key } }
  var key: String { didSet { name = source + "/" + key } }
  var index: Int
  var url: String?
  var fields: Fields
  var row: Fields
  var loop: Fields
  var expected: Expectation
  var mirrors: [String]
  var headers: [Header]
  var parent: String?
  var name: String

  init(
    source: String, key: String, index: Int, url: String?, fields: Fields, row: Fields, loop: Fields,
    expected: Expectation, mirrors: [String], headers: [Header], parent: String?
  ) {
    self.source = source
    self.key = key
    self.index = index
    self.url = url
    self.fields = fields
    self.row = row
    self.loop = loop
    self.expected = expected
    self.mirrors = mirrors
    self.headers = headers
    self.parent = parent
    name = source + "/" + key
  }

  init(_ other: ItemFacts) {
    source = other.source
    key = other.key
    index = other.index
    url = other.url
    fields = other.fields
    row = other.row
    loop = other.loop
    expected = other.expected
    mirrors = other.mirrors
    headers = other.headers
    parent = other.parent
    name = other.name
  }
}

/// A header of a request.
public struct Header: Sendable, Hashable {
  /// Its name.
  public var name: String
  /// Its value.
  public var value: String

  /// A header.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// What is known beforehand of an item's bytes.
public struct Expectation: Sendable, Hashable {
  /// Their SHA-256.
  public var sha256: Digest?
  /// Their SHA-512.
  public var sha512: Digest?
  /// How many they are.
  public var size: Int?

  /// An expectation; nil is no demand.
  public init(sha256: Digest? = nil, sha512: Digest? = nil, size: Int? = nil) {
    self.sha256 = sha256
    self.sha512 = sha512
    self.size = size
  }
}
