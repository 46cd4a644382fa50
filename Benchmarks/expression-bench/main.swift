import FlowBase
import FlowExpressions

// Evaluates what a run evaluates for each item, on one thread: `expression-bench [ITEMS]` prints a line an expression.

let count = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 200_000 : 200_000

/// The fields of one item and its row, as a source makes them.
struct ItemScope: Scope {
  let item: Fields
  let row: Fields

  func value(of reference: Reference) -> Value? {
    guard let name = reference.path.first else { return nil }
    switch reference.namespace {
    case .item: return item[name] ?? .null
    case .row: return row[name] ?? .null
    default: return nil
    }
  }
}

let scope = ItemScope(
  item: [
    "key": "4f2a9c01d2e3b4a5", "url": "https://example.com/pictures/DSC%201234.JPG", "name": "DSC 1234.JPG",
    "source": "products", "width": 1920, "height": 1080, "media": "image/jpeg",
  ],
  row: ["sku": "A-1234/x", "category": "Ärmel & Hosen", "weight": "12.5"])

func measure(_ text: String, _ once: () throws -> Void) rethrows {
  let clock = SystemTime()
  let start = clock.now()
  for _ in 0..<count { try once() }
  let each = (clock.now() - start).seconds / Double(count) * 1e9
  print("\(decimal(each, digits: 0)) ns  \(text)")
}

for text in [
  "item.width >= 256 and item.media != 'image/gif'", "item.media matches '^image/(png|jpe?g)$'",
  "row.weight | number > 10", "row.category | slug",
] {
  let expression = try Expression(parsing: text)
  try measure(text) { _ = try expression.evaluate(in: scope) }
}
for (text, style) in [
  ("https://example.com/${row.sku}.jpg", Template.Style.url), ("${item.source}/${item.key | slug}.webp", .path),
  ("${item.source}/${row.category}/${item.name}", .path),
] {
  let template = try Template(parsing: text, style: style)
  try measure(text) { _ = try template.text(in: scope) }
}
let address = "https://Example.com/pictures/DSC%201234.JPG?width=100"
try measure("the key of an address") { _ = ItemKey.make(source: "products", url: try WebAddress(parsing: address)) }
let redaction = Redaction(secrets: ["s3cret-token-value", "another-secret"])
measure("redaction of an address") { _ = redaction.redact(address) }
measure("redaction of a plain text") { _ = redaction.redact("image/jpeg products/4f2a9c01d2e3b4a5 done") }
