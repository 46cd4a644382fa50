public import FlowBase
public import FlowEvents

/// What makes items: a list, a file, a generator.
public protocol Source: Sendable {
  /// Starts from the beginning; what cannot be opened is a `Fault`, or a `Diagnostic` where the manifest is to blame.
  func open(in context: SourceContext) async throws -> any SourceReader
}

/// Hands out the items of a source as they are asked for, so that ten million cost no more memory than ten.
public protocol SourceReader {
  /// How many items there will be, where that is known beforehand.
  var total: Int? { get }
  /// From where the items that were handed out last can be asked for again in a later run; nil where they cannot.
  ///
  /// It may lie some items before them: what comes twice counts once.
  var cursor: Value? { get }
  /// The next items, at most so many; none at the end.
  mutating func next(upTo count: Int) async throws -> [SourceItem]
}

extension SourceReader {
  /// There is no way back: a later run begins at the beginning.
  public var cursor: Value? { nil }
}

/// What a source is given.
public struct SourceContext: Sendable {
  /// The source's id in the manifest.
  public var id: String
  /// The source's configuration; templates of the row's phase are still there.
  public var config: Config
  /// The folder that relative paths start from.
  public var folder: String
  /// Where to go on from, as a reader of an earlier run has said it; nil is the beginning.
  public var cursor: Value?
  /// What the run does for those who ask hosts; nil where nobody is to be asked.
  public var services: (any RunServices)?
  /// Tells the listeners of something that concerns a program which works for the source.
  public var tell: @Sendable (Payload) -> Void

  /// A context.
  public init(
    id: String, config: Config, folder: String, services: (any RunServices)? = nil,
    tell: @escaping @Sendable (Payload) -> Void = { _ in }
  ) {
    self.id = id
    self.config = config
    self.folder = folder
    self.services = services
    self.tell = tell
  }
}

/// An item as its source describes it; key, index and derived fields are added by the run.
public struct SourceItem: Sendable {
  /// The address; nil for a file of this machine.
  public var url: String?
  /// The key, where the source names one; else it is made from the source's id and the address.
  public var key: String?
  /// The cells of its row.
  public var row: Fields
  /// The generator's values.
  public var loop: Fields
  /// The path of a file of this machine.
  public var path: String?
  /// What its bytes must be.
  public var expected: Expectation
  /// Other addresses of the same bytes.
  public var mirrors: [String]
  /// Request headers.
  public var headers: [Header]
  /// Why this entry is no good; the item then fails with it, and the source goes on.
  public var fault: Fault?

  /// A description of an item.
  public init(
    url: String?, key: String? = nil, row: Fields = [:], loop: Fields = [:], path: String? = nil,
    expected: Expectation = Expectation(), mirrors: [String] = [], headers: [Header] = [], fault: Fault? = nil
  ) {
    self.url = url
    self.key = key
    self.row = row
    self.loop = loop
    self.path = path
    self.expected = expected
    self.mirrors = mirrors
    self.headers = headers
    self.fault = fault
  }
}

/// A list of addresses that is built by code.
///
/// Give `base` and `names`, and the addresses are one behind the other; or replace `buildURLs` and return any texts.
public protocol URLBuildable: Sendable {
  /// What all addresses begin with.
  var base: String { get }
  /// What comes behind the base, one address a name.
  var names: [String] { get }
  /// The addresses, in order.
  func buildURLs() throws -> [String]
}

extension URLBuildable {
  /// Nothing.
  public var base: String { "" }
  /// None.
  public var names: [String] { [] }
  /// Each name behind the base, with one slash between them.
  public func buildURLs() throws -> [String] {
    let front = base.hasSuffix("/") || base.isEmpty ? base : base + "/"
    return names.map { front + $0 }
  }
}

/// A source over something that builds addresses.
public struct URLSource: Source {
  private let builder: any URLBuildable

  /// A source over a builder.
  public init(_ builder: any URLBuildable) { self.builder = builder }

  /// Builds the list.
  public func open(in context: SourceContext) async throws -> any SourceReader {
    ListReader(try builder.buildURLs().map { SourceItem(url: $0) })
  }
}

/// Hands out a list that is there already.
public struct ListReader: SourceReader {
  private let items: [SourceItem]
  private var place = 0

  /// A reader over a list.
  public init(_ items: [SourceItem]) { self.items = items }

  /// The list's length.
  public var total: Int? { items.count }

  /// The next items of the list.
  public mutating func next(upTo count: Int) async throws -> [SourceItem] {
    let batch = items[place..<min(items.count, place + count)]
    place += batch.count
    return Array(batch)
  }
}
