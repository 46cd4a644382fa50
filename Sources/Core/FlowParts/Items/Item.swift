public import FlowBase

/// What flows through a run: one thing to fetch or to read, with all that its source said of it.
public struct Item: Sendable, Hashable {
  /// The id of the source that made it.
  public var source: String
  /// Its key, unique within the source.
  public var key: String
  /// Its place in the source, from 1.
  public var index: Int
  /// Its address; nil for files of this machine.
  public var url: String?
  /// `item.*` as the source knows it: `key url name stem ext host index source`, and `path` for local files.
  public var fields: Fields
  /// `row.*`: the cells of its row.
  public var row: Fields
  /// `for.*`: the values of the generator that made it.
  public var loop: Fields
  /// What its bytes must be.
  public var expected: Expectation
  /// Other addresses of the same bytes, tried in turn.
  public var mirrors: [String]
  /// Request headers that came with it.
  public var headers: [Header]
  /// The name of the item that a stage made it from.
  public var parent: String?

  /// An item.
  public init(
    source: String, key: String, index: Int, url: String?, fields: Fields = [:], row: Fields = [:], loop: Fields = [:],
    expected: Expectation = Expectation(), mirrors: [String] = [], headers: [Header] = [], parent: String? = nil
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
  }

  /// The name under which events and commands know it: `source/key`.
  public var name: String { source + "/" + key }
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
