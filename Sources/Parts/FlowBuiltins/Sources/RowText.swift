internal import FlowBase
internal import FlowExpressions
internal import FlowParts

/// Gives `row.*` its values, for the templates of sources.
struct RowScope: Scope {
  let row: Fields

  func value(of reference: Reference) -> Value? {
    guard reference.namespace == .row else { return nil }
    var value = Value.map(row)
    for name in reference.path {
      switch value {
      case .map(let fields): value = fields[name] ?? .null
      default: return .null
      }
    }
    return value
  }
}

/// A text of a source's configuration that may differ from row to row.
enum RowText {
  case constant(String)
  case template(Template)
  /// The cell of a column.
  case column(String)

  /// What stands at a key, if anything.
  init?(_ value: ConfigValue?) {
    switch value {
    case .template(let template, _): self = .template(template)
    case .value(let value) where !value.isNull: self = .constant(value.text)
    default: return nil
    }
  }

  /// The text for a row.
  func text(for row: Fields) throws(Fault) -> String {
    switch self {
    case .constant(let text): text
    case .template(let template): try template.text(in: RowScope(row: row))
    case .column(let name): row[name]?.text ?? ""
    }
  }

  /// The columns that it names.
  var columns: [String] {
    switch self {
    case .constant: []
    case .column(let name): [name]
    case .template(let template): template.references.compactMap { $0.namespace == .row ? $0.path.first : nil }
    }
  }

  /// Where the text comes from, for messages about an empty one.
  var origin: String {
    switch self {
    case .constant: "the text is empty"
    case .column(let name): "its column `\(name)` is empty or missing"
    case .template(let template): "`\(template.source)` gave an empty text"
    }
  }
}
