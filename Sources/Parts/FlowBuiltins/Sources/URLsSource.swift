internal import FlowBase
internal import FlowExpressions
public import FlowParts

/// The addresses that a manifest lists itself.
public struct URLsSource: Source {
  /// What is to be said of it.
  public static let part = SourcePart(
    PartSpec(
      name: "urls", role: .source, summary: "Takes addresses from a list in the manifest.",
      fields: [
        FieldSpec(
          "list", .list(.either([.url, .object(entry)])), phase: .row, required: true,
          "Addresses, or maps of an address and what belongs to it.")
      ],
      shorthand: "list",
      example: """
        sources:
          - urls:
              - https://example.com/a.png
              - { url: "https://example.com/b.png", key: b, size: 4096, row: { title: Second } }

        """)
  ) { URLsSource() }

  private static let entry: [FieldSpec] = [
    FieldSpec("url", .url, phase: .row, required: true, "The address."),
    FieldSpec("key", .string, phase: .row, "The item's key; without it, one is made from the address."),
    FieldSpec(
      "sha256", .string, phase: .row, "The SHA-256 that the bytes must have, in hex or as `sha256-` and base64."),
    FieldSpec("sha512", .string, phase: .row, "The SHA-512 that the bytes must have."),
    FieldSpec("size", .byteCount, phase: .row, "How many bytes there must be."),
    FieldSpec("mirrors", .list(.url), phase: .row, "Other addresses of the same bytes, tried in turn."),
    FieldSpec("headers", .map(.string), phase: .row, "Headers for the requests of this item."),
    FieldSpec("row", .map(.anything), phase: .load, "Values that stages can use as `row.*`."),
  ]

  /// A source.
  public init() {}

  /// Makes the items of the list.
  public func open(in context: SourceContext) async throws -> any SourceReader {
    var items: [SourceItem] = []
    for (place, element) in elements(of: context.config["list"]).enumerated() {
      items.append(try item(element, number: place + 1))
    }
    return ListReader(items)
  }

  private func elements(of list: ConfigValue?) -> [ConfigValue] {
    switch list {
    case .list(let elements): elements
    case .value(.list(let values)): values.map { .value($0) }
    case let single?: [single]
    case nil: []
    }
  }

  private func item(_ element: ConfigValue, number: Int) throws(Fault) -> SourceItem {
    guard let entry = try fields(of: element) else {
      return SourceItem(url: try RowText(element)?.text(for: [:]))
    }
    var item = SourceItem(url: entry["url"]?.text, key: entry["key"]?.text, row: entry["row"]?.asMap ?? [:])
    item.expected.size = entry["size"]?.asInt
    item.expected.sha256 = try digest(.sha256, entry, number)
    item.expected.sha512 = try digest(.sha512, entry, number)
    item.mirrors = entry["mirrors"]?.asList?.map(\.text) ?? []
    item.headers = entry["headers"]?.asMap?.map { Header($0, $1.text) } ?? []
    return item
  }

  /// The keys of an entry, each with its value; nil if it is no map.
  private func fields(of element: ConfigValue) throws(Fault) -> Fields? {
    if case .value(let value) = element { return value.asMap }
    guard case .map(let entries) = element else { return nil }
    let row = entries.first { $0.name == "row" }?.value.plain?.asMap ?? [:]
    let resolved = try Config(entries).resolved(in: RowScope(row: row))
    var fields = Fields()
    for entry in resolved.entries { fields[entry.name] = entry.value.plain }
    return fields
  }

  private func digest(_ algorithm: DigestAlgorithm, _ entry: Fields, _ number: Int) throws(Fault) -> Digest? {
    guard let text = entry[algorithm.rawValue]?.text, !text.isEmpty else { return nil }
    guard let digest = Digest(algorithm, parsing: text) else {
      throw Fault(
        "source.expectation", .config,
        "entry \(number) of `urls`: `\(text.prefix(140))` is no \(algorithm.rawValue); "
          + "\(algorithm.byteCount * 2) hex digits, or `\(algorithm.rawValue)-` and base64, were expected")
    }
    return digest
  }
}
