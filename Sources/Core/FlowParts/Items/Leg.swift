public import FlowBase
public import FlowExpressions

/// One item on one way through the matrix, with all that the stages before have made of it.
public struct Leg: Sendable {
  /// The item.
  public var item: Item
  /// `matrix.*`: where on the axes this leg is; empty without a matrix.
  public var axes: Fields
  /// What stages have set so far, over the source's fields: `bytes`, `media`, `sha256`, `path` and others.
  public var fields: Fields
  /// The bytes as they are now; nil before a stage has made any.
  public var content: Content?
  /// `from.<stage>.<field>`: the results of the needed stages by name, where there are several.
  public var from: Fields

  /// A leg.
  public init(item: Item, axes: Fields = [:], fields: Fields = [:], content: Content? = nil, from: Fields = [:]) {
    self.item = item
    self.axes = axes
    self.fields = fields
    self.content = content
    self.from = from
  }
}

extension Leg: Scope {
  /// The values of `item`, `row`, `for`, `matrix` and `from`; a field that nobody has set is null.
  public func value(of reference: Reference) -> Value? {
    switch reference.namespace {
    case .item:
      guard let name = reference.path.first else { return .map(item.fields.merging(fields)) }
      return (fields[name] ?? item.fields[name] ?? .null).descend(reference.path.dropFirst())
    case .row: return Value.map(item.row).descend(reference.path[...])
    case .for: return Value.map(item.loop).descend(reference.path[...])
    case .matrix: return Value.map(axes).descend(reference.path[...])
    case .from: return Value.map(from).descend(reference.path[...])
    default: return nil
    }
  }
}

extension Value {
  /// The value that a path of names leads to; null where it leads nowhere.
  public func descend(_ path: ArraySlice<String>) -> Value {
    var value = self
    for name in path {
      guard case .map(let fields) = value else { return .null }
      value = fields[name] ?? .null
    }
    return value
  }
}
