internal import FlowBase
internal import FlowMarkup
public import FlowParts
internal import FlowRecords

/// What the entries of a feed bring along.
public struct FeedSource: Source {
  /// What is to be said of it.
  public static let part = SourcePart(
    PartSpec(
      name: "feed", role: .source, summary: "Takes the enclosures and images of a feed's entries: RSS or Atom.",
      fields: [
        FieldSpec("url", .url, phase: .load, required: true, "The address of the feed."),
        FieldSpec(
          "match", .string, phase: .load,
          "Only addresses that this fits: a regular expression, or with a `*` in front a wildcard."),
      ],
      shorthand: "url",
      example: """
        sources:
          - feed: { url: "https://example.com/photos.rss", match: "*.jpg" }

        """)
  ) { FeedSource() }

  /// A source.
  public init() {}

  /// Fetches the feed.
  public func open(in context: SourceContext) async throws -> any SourceReader {
    let url = context.config.text("url") ?? ""
    let fetched = try await SourceDownload(context).fetch(url, maximum: XMLStream.mostBytes)
    let addresses = try FoundAddresses(base: fetched.facts.finalURL, match: context.config.text("match"))
    return FeedReader(
      fetched.file, try XMLStream(ByteSources.open(fetched.file.path, name: url)), addresses: addresses)
  }
}

/// Reads a feed entry by entry.
private final class FeedReader: SourceReader {
  /// What stands in an `<item>` or `<entry>`.
  private struct Entry {
    var row: Fields = [:]
    var enclosures: [String] = []
    var thumbnails: [String] = []
    var link: String?
    var markup: [String] = []
  }

  private let file: HeldFile
  private let stream: XMLStream
  private let addresses: FoundAddresses
  private var found: [SourceItem] = []
  private var isAtEnd = false

  init(_ file: HeldFile, _ stream: XMLStream, addresses: FoundAddresses) {
    self.file = file
    self.stream = stream
    self.addresses = addresses
  }

  var total: Int? { nil }

  func next(upTo count: Int) async throws -> [SourceItem] {
    while found.count < count, !isAtEnd {
      if let entry = try nextEntry() { found += items(of: entry) } else { isAtEnd = true }
    }
    defer { found.removeFirst(min(count, found.count)) }
    return Array(found.prefix(count))
  }

  private func nextEntry() throws(Fault) -> Entry? {
    var entry: Entry?
    var text = ""
    while let piece = try stream.next() {
      switch piece {
      case .start(let name):
        text = ""
        if name == "item" || name == "entry" {
          entry = Entry()
        } else if entry != nil {
          begin(name, &entry)
        }
      case .text(let more): text += more
      case .end(let name):
        if name == "item" || name == "entry" { return entry }
        if entry != nil { end(name, text.trimmingBlanks, &entry) }
        text = ""
      }
    }
    return nil
  }

  private func begin(_ name: String, _ entry: inout Entry?) {
    switch name {
    case "enclosure": if let url = stream.attribute("url") { entry?.enclosures.append(url) }
    // Of Media RSS; the one of Atom has no address and is text.
    case "content": if let url = stream.attribute("url") { entry?.enclosures.append(url) }
    case "thumbnail": if let url = stream.attribute("url") { entry?.thumbnails.append(url) }
    case "link":
      guard let target = stream.attribute("href") else { return }
      switch stream.attribute("rel") {
      case "enclosure"?: entry?.enclosures.append(target)
      case "alternate"?, nil: entry?.link = target
      default: break
      }
    default: break
    }
  }

  private func end(_ name: String, _ text: String, _ entry: inout Entry?) {
    guard !text.isEmpty else { return }
    switch name {
    case "title", "guid", "id", "author", "creator", "name", "category":
      // The first of a name is the entry's own; the others belong to what it brings along.
      if entry?.row[name] == nil { entry?.row[name] = .string(text) }
    case "pubDate", "published", "updated", "date":
      if entry?.row["date"] == nil { entry?.row["date"] = .string(text) }
    case "link": entry?.link = text
    case "description", "summary", "content", "encoded": entry?.markup.append(text)
    default: break
    }
  }

  /// The items of an entry: what it encloses, else the images it shows, else what it points at.
  private func items(of entry: Entry) -> [SourceItem] {
    var row = entry.row
    if let link = entry.link.flatMap({ try? addresses.base.resolving($0).text }) { row["link"] = .string(link) }
    for references in [entry.enclosures, entry.thumbnails] where !references.isEmpty { return items(references, row) }
    let shown = entry.markup.flatMap { FeedReader.images(in: $0) }
    return items(shown.isEmpty ? [entry.link].compactMap { $0 } : shown, row)
  }

  private func items(_ references: [String], _ row: Fields) -> [SourceItem] {
    var seen = Set<String>()
    return references.compactMap(addresses.take).filter { seen.insert($0).inserted }.map {
      SourceItem(url: $0, row: row)
    }
  }

  private static func images(in markup: String) -> [String] {
    guard markup.contains("<"), let page = try? HTMLPage(Array(markup.utf8), encoding: "UTF-8"),
      let selector = try? Selector("img[src]"),
      let elements = try? page.elements(selector, attributes: ["src"])
    else { return [] }
    return elements.compactMap { $0.attributes["src"] }
  }
}
