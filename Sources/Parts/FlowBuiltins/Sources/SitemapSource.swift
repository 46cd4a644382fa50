internal import FlowBase
internal import FlowMarkup
public import FlowParts
internal import FlowRecords

/// The addresses of a sitemap, or of all those that an index names.
public struct SitemapSource: Source {
  /// What is to be said of it.
  public static let part = SourcePart(
    PartSpec(
      name: "sitemap", role: .source,
      summary: "Takes the pages or the images of a sitemap; indexes are followed, gzip is unpacked.",
      fields: [
        FieldSpec("url", .url, phase: .load, required: true, "The address of the sitemap or of an index of sitemaps."),
        FieldSpec(
          "match", .string, phase: .load,
          "Only addresses that this fits: a regular expression, or with a `*` in front a wildcard."),
        FieldSpec(
          "images", .boolean, phase: .load, default: "false",
          "Whether the images are taken that the sitemap names for its pages, rather than the pages."),
      ],
      shorthand: "url",
      example: """
        sources:
          - sitemap: { url: "https://example.com/sitemap.xml", images: true }

        """)
  ) { SitemapSource() }

  /// A source.
  public init() {}

  /// Fetches the sitemap.
  public func open(in context: SourceContext) async throws -> any SourceReader {
    let url = context.config.text("url") ?? ""
    let reader = SitemapReader(
      try SourceDownload(context), addresses: try FoundAddresses(base: url, match: context.config.text("match")),
      takesImages: context.config.bool("images") ?? false)
    try await reader.openNext()
    return reader
  }
}

/// Reads one sitemap after another, and of each entry by entry.
private final class SitemapReader: SourceReader {
  /// What stands between `<url>` and `</url>`.
  private struct Entry {
    var fields: Fields = [:]
    var images: [Fields] = []
  }

  private let download: SourceDownload
  private let addresses: FoundAddresses
  private let takesImages: Bool
  private var waiting: [(url: String, depth: Int)]
  private var visited: Set<String> = []
  private var stream: XMLStream?
  private var file: HeldFile?
  private var depth = 0
  private var found: [SourceItem] = []

  /// Indexes may name indexes, though not for ever.
  private static let deepest = 3
  private static let mostSitemaps = 50_000

  init(_ download: SourceDownload, addresses: FoundAddresses, takesImages: Bool) {
    self.download = download
    self.addresses = addresses
    self.takesImages = takesImages
    waiting = [(addresses.base.text, 0)]
  }

  var total: Int? { nil }

  func next(upTo count: Int) async throws -> [SourceItem] {
    while found.count < count {
      guard let stream else {
        if waiting.isEmpty { break }
        try await openNext()
        continue
      }
      if try !readEntry(stream) {
        self.stream = nil
        file = nil
        // What is there goes on before the next sitemap is waited for.
        if !found.isEmpty { break }
      }
    }
    defer { found.removeFirst(min(count, found.count)) }
    return Array(found.prefix(count))
  }

  /// Fetches the next sitemap that was not read yet.
  func openNext() async throws {
    guard !waiting.isEmpty else { return }
    let next = waiting.removeFirst()
    guard visited.insert(next.url).inserted else { return }
    let fetched = try await download.fetch(next.url, maximum: XMLStream.mostBytes)
    file = fetched.file
    depth = next.depth
    stream = try XMLStream(ByteSources.open(fetched.file.path, name: next.url))
  }

  /// Reads to the end of the next entry; false at the end of the sitemap.
  private func readEntry(_ stream: XMLStream) throws(Fault) -> Bool {
    var path: [String] = []
    var entry = Entry()
    var text = ""
    while let piece = try stream.next() {
      switch piece {
      case .start(let name):
        path.append(name)
        if name == "image" { entry.images.append([:]) }
        text = ""
      case .text(let more): text += more
      case .end(let name):
        let isImage = path.dropLast().last == "image"
        if path.last == name { path.removeLast() }
        let value = text.trimmingBlanks
        text = ""
        switch name {
        case "url", "sitemap":
          take(entry, isIndex: name == "sitemap")
          return true
        case "image", "urlset", "sitemapindex": continue
        default:
          if value.isEmpty { continue }
          if isImage, !entry.images.isEmpty {
            entry.images[entry.images.count - 1][name] = .string(value)
          } else {
            entry.fields[name] = .string(value)
          }
        }
      }
    }
    return false
  }

  private func take(_ entry: Entry, isIndex: Bool) {
    guard let location = entry.fields["loc"]?.asString else { return }
    if isIndex {
      let isNear = depth < SitemapReader.deepest && waiting.count + visited.count < SitemapReader.mostSitemaps
      if isNear, let address = try? addresses.base.resolving(location) { waiting.append((address.text, depth + 1)) }
      return
    }
    guard takesImages else {
      if let url = addresses.take(location) { found.append(SourceItem(url: url, row: entry.fields)) }
      return
    }
    for image in entry.images {
      guard let url = image["loc"]?.asString.flatMap(addresses.take) else { continue }
      var row = image
      row["page"] = .string(location)
      if let date = entry.fields["lastmod"] { row["lastmod"] = date }
      found.append(SourceItem(url: url, row: row))
    }
  }
}
