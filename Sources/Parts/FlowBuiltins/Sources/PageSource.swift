internal import FlowBase
internal import FlowMarkup
public import FlowParts

/// The images, or other things, that a page of HTML shows or links to.
public struct PageSource: Source {
  /// What is to be said of it.
  public static let part = SourcePart(
    PartSpec(
      name: "page", role: .source, summary: "Takes the images that a page of HTML shows, or what a selector names.",
      fields: [
        FieldSpec("url", .url, phase: .load, required: true, "The address of the page."),
        FieldSpec(
          "selector", .string, phase: .load, default: "img",
          "Which elements: a CSS selector, such as `a[href$='.jpg']` or `#gallery img`."),
        FieldSpec(
          "attribute", .string, phase: .load,
          "The attribute that holds the address; without it `href` of links, and of images the largest of `srcset`, "
            + "`data-src` or `src`."),
        FieldSpec(
          "match", .string, phase: .load,
          "Only addresses that this fits: a regular expression, or with a `*` in front a wildcard."),
      ],
      shorthand: "url",
      example: """
        sources:
          - page: { url: "https://example.com/gallery.html", selector: "#photos a", match: "*.jpg" }

        """)
  ) { PageSource() }

  private static let mostBytes = 64 << 20

  /// A source.
  public init() {}

  /// Fetches the page and finds the elements.
  public func open(in context: SourceContext) async throws -> any SourceReader {
    let config = context.config
    let selector = try Selector(config.text("selector") ?? "img")
    let url = config.text("url") ?? ""
    let fetched = try await SourceDownload(context).fetch(url, maximum: PageSource.mostBytes)
    let page = try HTMLPage(try SmallFiles.read(fetched.file.path), encoding: fetched.facts.charset)
    var addresses = try FoundAddresses(base: fetched.facts.finalURL, match: config.text("match"))
    if let base = try page.elements(Selector("base[href]"), attributes: ["href"], most: 1).first?.attributes["href"],
      let resolved = try? addresses.base.resolving(base)
    {
      addresses = try FoundAddresses(base: resolved.text, match: config.text("match"))
    }
    let attribute = config.text("attribute")?.lowercased()
    var seen = Set<String>()
    var items: [SourceItem] = []
    let names = PageSource.attributes + [attribute].compactMap { $0 }
    for element in try page.elements(selector, attributes: names) {
      guard let reference = PageSource.reference(of: element, attribute), let found = addresses.take(reference),
        seen.insert(found).inserted
      else { continue }
      items.append(SourceItem(url: found, row: row(of: element, page: fetched.facts.finalURL)))
    }
    return ListReader(items)
  }

  private static let attributes = ["src", "srcset", "data-src", "data-srcset", "href", "content", "alt", "title"]

  /// Where an element keeps its address.
  private static func reference(of element: HTMLPage.Element, _ attribute: String?) -> String? {
    let values = element.attributes
    if let attribute {
      return attribute.hasSuffix("srcset") ? values[attribute].flatMap(largest) : values[attribute]
    }
    switch element.name {
    case "a", "area", "link": return values["href"]
    case "meta": return values["content"]
    default:
      return (values["srcset"] ?? values["data-srcset"]).flatMap(largest) ?? values["data-src"] ?? values["src"]
        ?? values["href"]
    }
  }

  /// The largest picture of a `srcset`: by its width or its density.
  private static func largest(_ set: String) -> String? {
    var best: (address: String, size: Double)?
    var words = set.split(whereSeparator: \.isWhitespace)[...]
    /// What stands in one word with the end of the entry before.
    var rest: Substring?
    while let word = rest ?? words.popFirst() {
      rest = nil
      // A comma behind an address without a size ends its entry; commas within belong to it.
      var isOver = word.hasSuffix(",")
      let address = String((isOver ? word.dropLast() : word).drop { $0 == "," })
      var size = 1.0
      while !isOver, let next = words.popFirst() {
        let descriptor = next.prefix { $0 != "," }
        if let last = descriptor.last, "wx".contains(last), let number = Double(descriptor.dropLast()) { size = number }
        guard descriptor.endIndex < next.endIndex else { continue }
        isOver = true
        let behind = next[next.index(after: descriptor.endIndex)...]
        if !behind.isEmpty { rest = behind }
      }
      if address.isEmpty { continue }
      if size > (best?.size ?? -1) { best = (address, size) }
    }
    return best?.address
  }

  private func row(of element: HTMLPage.Element, page: String) -> Fields {
    var row: Fields = ["page": .string(page)]
    for name in ["alt", "title"] {
      if let value = element.attributes[name], !value.isEmpty { row[name] = .string(value) }
    }
    let text = element.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    if !text.isEmpty { row["text"] = .string(text) }
    return row
  }
}
