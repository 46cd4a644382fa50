internal import FlowBase

/// A filter, such as `slug` in `item.key | slug`: what it takes, what it gives, and what it does.
public struct Filter: Sendable {
  /// An argument of a filter.
  public struct Parameter: Sendable, Hashable {
    /// Its name, for messages and help.
    public var name: String
    /// What it must be.
    public var type: ValueType
  }

  /// What a filter gives.
  public enum Result: Sendable, Hashable {
    /// Always this type.
    case type(ValueType)
    /// What goes in comes out.
    case input
    /// An element of the list that goes in.
    case element
  }

  /// Its name.
  public let name: String
  /// Its arguments, all of which must be given.
  public let parameters: [Parameter]
  /// What may go in; `.string` also takes numbers and truth values, as they read in a text.
  public let input: ValueType
  /// What comes out.
  public let result: Result
  /// What it does, in one sentence.
  public let summary: String
  /// Whether null goes in; else null comes out where null goes in.
  let takesNull: Bool
  let apply: @Sendable (Value, [Value]) throws(Fault) -> Value

  init(
    _ name: String, _ parameters: [Parameter] = [], takes input: ValueType, gives result: Result,
    takesNull: Bool = false,
    _ summary: String, apply: @escaping @Sendable (Value, [Value]) throws(Fault) -> Value
  ) {
    self.name = name
    self.parameters = parameters
    self.input = input
    self.result = result
    self.summary = summary
    self.takesNull = takesNull
    self.apply = apply
  }

  /// The filter as it is written, with the names of its arguments: `replace(old, new)`.
  public var form: String {
    parameters.isEmpty ? name : "\(name)(\(parameters.map(\.name).joined(separator: ", ")))"
  }

  /// The filter with a name.
  public static func named(_ name: String) -> Filter? { table[name] }

  private static let table = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}

extension Filter: Hashable {
  /// Whether both are the same filter.
  public static func == (left: Filter, right: Filter) -> Bool { left.name == right.name }
  /// Feeds the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
