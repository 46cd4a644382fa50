public import FlowBase

/// What flows through a run: one thing to fetch or to read, with all that its source said of it.
///
/// Every stage, event and record holds the item, so that a copy is one reference; who changes one gets one of its own.
public struct Item: Sendable, Hashable {
  private var box: Box

  /// The id of the source that made it.
  public var source: String {
    get { box.facts.source }
    set { own().facts.source = newValue }
  }
  /// Its key, unique within the source.
  public var key: String {
    get { box.facts.key }
    set { own().facts.key = newValue }
  }
  /// Its place in the source, from 1.
  public var index: Int {
    get { box.facts.index }
    set { own().facts.index = newValue }
  }
  /// Its address; nil for files of this machine.
  public var url: String? {
    get { box.facts.url }
    set { own().facts.url = newValue }
  }
  /// `item.*` as the source knows it: `key url name stem ext host index source`, and `path` for local files.
  public var fields: Fields {
    get { box.facts.fields }
    _modify { yield &own().facts.fields }
  }
  /// `row.*`: the cells of its row.
  public var row: Fields {
    get { box.facts.row }
    set { own().facts.row = newValue }
  }
  /// `for.*`: the values of the generator that made it.
  public var loop: Fields {
    get { box.facts.loop }
    set { own().facts.loop = newValue }
  }
  /// What its bytes must be.
  public var expected: Expectation {
    get { box.facts.expected }
    set { own().facts.expected = newValue }
  }
  /// Other addresses of the same bytes, tried in turn.
  public var mirrors: [String] {
    get { box.facts.mirrors }
    set { own().facts.mirrors = newValue }
  }
  /// Request headers that came with it.
  public var headers: [Header] {
    get { box.facts.headers }
    set { own().facts.headers = newValue }
  }
  /// The name of the item that a stage made it from.
  public var parent: String? {
    get { box.facts.parent }
    set { own().facts.parent = newValue }
  }

  /// An item.
  public init(
    source: String, key: String, index: Int, url: String?, fields: Fields = [:], row: Fields = [:], loop: Fields = [:],
    expected: Expectation = Expectation(), mirrors: [String] = [], headers: [Header] = [], parent: String? = nil
  ) {
    box = Box(
      Facts(
        source: source, key: key, index: index, url: url, fields: fields, row: row, loop: loop, expected: expected,
        mirrors: mirrors, headers: headers, parent: parent, name: source + "/" + key))
  }

  /// The name under which events and commands know it: `source/key`.
  public var name: String { box.facts.name }

  /// The box, for a change: it is this copy's alone from now on.
  private mutating func own() -> Box {
    if !isKnownUniquelyReferenced(&box) { box = Box(box.facts) }
    return box
  }

  /// Whether two items are alike in everything.
  public static func == (left: Item, right: Item) -> Bool {
    left.box === right.box || left.box.facts == right.box.facts
  }

  /// Takes in all that tells items apart.
  public func hash(into hasher: inout Hasher) { box.facts.hash(into: &hasher) }

  private struct Facts: Sendable, Hashable {
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
    /// Made once: it is asked for with every event.
    var name: String
  }

  /// What the copies of an item share; changed only while there is a single one.
  private final class Box: @unchecked Sendable {
    var facts: Facts

    init(_ facts: Facts) { self.facts = facts }
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
