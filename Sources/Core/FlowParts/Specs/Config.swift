public import FlowBase
public import FlowExpressions

/// A part's configuration: typed values, and templates whose names have no value yet.
public struct Config: Sendable, Hashable {
  /// The values by key, in the order of the specification; keys that are absent and have no default are missing.
  public private(set) var entries: [Entry]

  /// A key and what stands there.
  public struct Entry: Sendable, Hashable {
    /// The key.
    public var name: String
    /// What stands there.
    public var value: ConfigValue

    /// An entry.
    public init(_ name: String, _ value: ConfigValue) {
      self.name = name
      self.value = value
    }
  }

  /// A configuration.
  public init(_ entries: [Entry] = []) { self.entries = entries }

  /// What stands at a key.
  public subscript(name: String) -> ConfigValue? {
    get { entries.first { $0.name == name }?.value }
    set {
      entries.removeAll { $0.name == name }
      if let newValue { entries.append(Entry(name, newValue)) }
    }
  }

  /// Whether no template is left.
  public var isConstant: Bool { entries.allSatisfy(\.value.isConstant) }

  /// Every name that its templates read.
  public var references: [Reference] { entries.flatMap(\.value.references) }

  /// The configuration with every template evaluated and converted to its field's type.
  ///
  /// Templates that use a name which the scope does not know stay.
  public func resolved(in scope: some Scope) throws(Fault) -> Config {
    if isConstant { return self }
    var resolved = self
    for place in resolved.entries.indices {
      resolved.entries[place].value = try resolved.entries[place].value.resolved(in: scope)
    }
    return resolved
  }

  /// The value at a key, if it is there and no template.
  public func value(_ name: String) -> Value? { self[name]?.plain }
  /// The text at a key.
  public func text(_ name: String) -> String? { value(name)?.asString }
  /// The whole number at a key.
  public func int(_ name: String) -> Int? { value(name)?.asInt }
  /// The number at a key.
  public func double(_ name: String) -> Double? { value(name)?.asDouble }
  /// The truth value at a key.
  public func bool(_ name: String) -> Bool? { value(name)?.asBool }
  /// The span of time at a key.
  public func interval(_ name: String) -> Interval? { int(name).map { Interval(nanoseconds: $0) } }
  /// The texts of the list at a key.
  public func texts(_ name: String) -> [String] { (value(name)?.asList ?? []).map(\.text) }
}

/// What stands at a key of a configuration.
public indirect enum ConfigValue: Sendable, Hashable {
  /// A typed value.
  case value(Value)
  /// A text whose names have no value yet, and the type that its result is converted to.
  case template(Template, FieldType)
  /// A condition whose names have no value yet.
  case condition(Expression)
  /// A list in which a template stands.
  case list([ConfigValue])
  /// A map in which a template stands.
  case map([Config.Entry])

  /// Whether no template is left.
  public var isConstant: Bool {
    switch self {
    case .value: true
    case .template, .condition: false
    case .list(let elements): elements.allSatisfy(\.isConstant)
    case .map(let entries): entries.allSatisfy(\.value.isConstant)
    }
  }

  /// Every name that its templates read.
  public var references: [Reference] {
    switch self {
    case .value: []
    case .template(let template, _): template.references
    case .condition(let expression): expression.references
    case .list(let elements): elements.flatMap(\.references)
    case .map(let entries): entries.flatMap(\.value.references)
    }
  }

  /// The value, if no template is left.
  public var plain: Value? {
    switch self {
    case .value(let value): return value
    case .template, .condition: return nil
    case .list(let elements):
      let values = elements.compactMap(\.plain)
      return values.count == elements.count ? .list(values) : nil
    case .map(let entries):
      let values = entries.compactMap(\.value.plain)
      return values.count == entries.count ? .map(Fields(names: entries.map(\.name), values: values)) : nil
    }
  }
}
