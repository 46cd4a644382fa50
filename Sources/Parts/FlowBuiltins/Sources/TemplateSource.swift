internal import FlowBase
internal import FlowExpressions
public import FlowParts

/// Makes addresses by filling a template with every combination of some values.
public struct TemplateSource: Source {
  /// A source; all that it does stands in its configuration.
  public init() {}

  /// What is to be said of it.
  public static let spec = PartSpec(
    name: "template", role: .source,
    summary: "Makes addresses by filling a template with every combination of lists, ranges and dates.",
    fields: [
      FieldSpec("url", .url, phase: .row, required: true, "The address of an item, with the names of `for` in it."),
      FieldSpec(
        "for", .map(.anything), phase: .load, required: true,
        "Names and their values: lists, `1..40`, `1..40 step 3`, `001..120`, `2026-01-01..2026-01-31`; the first name "
          + "changes slowest."),
      FieldSpec("zip", .boolean, phase: .load, default: "false", "Walks the lists together instead of combining them."),
      FieldSpec("key", .string, phase: .row, "The key of an item; by default it is made from the address."),
      FieldSpec(
        "exclude", .list(.map(.anything)), phase: .load, "Combinations to leave out, by some or all of their values."),
      FieldSpec("include", .list(.map(.anything)), phase: .load, "Combinations to add at the end."),
    ],
    example: """
      - template:
          url: "https://example.com/${for.day}/${for.n}.png"
          for: { day: 2026-01-01..2026-01-31, n: 001..120 }
      """)

  /// The part under its name.
  public static let part = SourcePart(spec) { TemplateSource() }

  /// Computes nothing yet; axes that cannot be are the manifest's fault.
  public func open(in context: SourceContext) async throws -> any SourceReader {
    let config = context.config
    do throws(AxesProblem) {
      let axes = try Axes(
        loop: config.value("for")?.asMap ?? [:], zip: config.bool("zip") ?? false,
        exclude: (config.value("exclude")?.asList ?? []).compactMap(\.asMap),
        include: (config.value("include")?.asList ?? []).compactMap(\.asMap))
      return TemplateReader(axes, url: config["url"], key: config["key"])
    } catch {
      let hint = error.hint.map { "; \($0)" } ?? ""
      throw Fault("config.template", .config, "source `\(context.id)`: \(error.message)\(hint)")
    }
  }
}

/// Fills the template for one combination after the other.
struct TemplateReader: SourceReader {
  let total: Int?
  private var rest: AxesIterator
  private let url: ConfigValue?
  private let key: ConfigValue?

  init(_ axes: Axes, url: ConfigValue?, key: ConfigValue?) {
    total = axes.count
    rest = axes.makeIterator()
    self.url = url
    self.key = key
  }

  mutating func next(upTo count: Int) async throws -> [SourceItem] {
    var items: [SourceItem] = []
    while items.count < count, let loop = rest.next() { items.append(item(loop)) }
    return items
  }

  /// An item; what is wrong with its address or key is its own fault and stops nothing else.
  private func item(_ loop: Fields) -> SourceItem {
    let scope = LoopScope(loop: loop)
    var item = SourceItem(url: nil, loop: loop)
    do throws(Fault) {
      item.url = try text(url, in: scope)
      item.key = try text(key, in: scope)
      if let url = item.url { _ = try WebAddress(parsing: url) }
      if item.url?.isEmpty ?? true { throw Fault("url.invalid", .permanent, "the address is empty") }
    } catch {
      item.fault = error
    }
    return item
  }

  private func text(_ value: ConfigValue?, in scope: LoopScope) throws(Fault) -> String? {
    switch value {
    case .template(let template, _): try template.text(in: scope)
    default: value?.plain?.text
    }
  }
}

/// The values of `for` in one combination.
struct LoopScope: Scope {
  let loop: Fields

  func value(of reference: Reference) -> Value? {
    guard reference.namespace == .for else { return nil }
    return Value.map(loop).descend(reference.path[...])
  }
}
