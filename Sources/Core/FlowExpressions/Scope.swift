public import FlowBase

/// The first word of a name in an expression, which says where its value comes from.
public enum Namespace: String, Sendable, Hashable, CaseIterable {
  // Known when the manifest is loaded.
  case vars, env, secret, output
  // Known from the source on.
  case row
  case `for`
  // Known for each item and leg.
  case item, matrix, group, from, out
  // Known in barriers and conditions.
  case run
}

/// A dotted name such as `item.width`, `row["Image URL"]` or `from.crop.path`, with its place in the expression.
public struct Reference: Sendable, Hashable {
  /// The first word.
  public var namespace: Namespace
  /// What follows it; empty for the bare namespace (`group`, `row`).
  public var path: [String]

  /// A name.
  public init(_ namespace: Namespace, _ path: [String]) {
    self.namespace = namespace
    self.path = path
  }

  /// The name as it is written, for messages.
  public var text: String { ([namespace.rawValue] + path).joined(separator: ".") }
}

/// What gives the names of an expression their values.
public protocol Scope {
  /// The value of a name; `.null` where the name is known and has none, nil where this scope does not know the name.
  func value(of reference: Reference) -> Value?
}

/// What is known of the type of a name or of an expression before anything runs.
public indirect enum ValueType: Sendable, Hashable {
  /// Nothing is known; every use is allowed.
  case any
  case null
  case bool
  case integer
  /// A whole number or a fraction.
  case number
  case string
  case list(ValueType)
  case map
}

/// What a static check learns about a name.
public enum Resolution: Sendable, Hashable {
  /// The name is known here and has this type.
  case known(ValueType)
  /// The name cannot be used here; the reason and the remedy become a diagnostic.
  case unknown(code: String, message: String, hint: String?, notes: [String])
}

/// What knows the names that may stand at a place of the manifest, and their types.
public protocol TypeScope {
  /// What is known of a name.
  func resolve(_ reference: Reference) -> Resolution
}

/// A scope that knows nothing.
public struct EmptyScope: Scope {
  /// A scope that knows nothing.
  public init() {}
  /// Nil.
  public func value(of reference: Reference) -> Value? { nil }
}
