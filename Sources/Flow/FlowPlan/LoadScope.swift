internal import FlowBase
internal import FlowExpressions

/// The names whose values are known when the manifest is loaded.
struct LoadScope: Scope {
  /// An environment variable or a secret that the manifest lists.
  enum Listed: Equatable {
    case value(String)
    /// It has no value; the remedy in words.
    case missing(remedy: String)

    var text: String? {
      if case .value(let text) = self { text } else { nil }
    }
  }

  var vars: Fields = [:]
  /// The declared types of the variables.
  var varTypes: [String: ValueType] = [:]
  var environment: [String: Listed] = [:]
  var secrets: [String: Listed] = [:]
  /// The absolute path of `output.dir`, once it is known.
  var outputFolder: String?

  func value(of reference: Reference) -> Value? {
    guard let name = reference.path.first else { return nil }
    let rest = reference.path.dropFirst()
    switch reference.namespace {
    case .vars: return vars[name]?.following(rest)
    case .env: return environment[name]?.text.map(Value.string)
    case .secret: return secrets[name]?.text.map(Value.string)
    case .output: return name == "dir" ? outputFolder.map(Value.string) : nil
    default: return nil
    }
  }
}

extension Value {
  /// The value that a path of names leads to; null where it leads nowhere.
  func following(_ path: ArraySlice<String>) -> Value {
    var value = self
    for name in path {
      guard case .map(let fields) = value else { return .null }
      value = fields[name] ?? .null
    }
    return value
  }

  /// The type of this value, as static checks know it.
  var type: ValueType {
    switch self {
    case .null: .null
    case .bool: .bool
    case .int: .integer
    case .double: .number
    case .string: .string
    case .list(let values): .list(values.map(\.type).common)
    case .map: .map
    }
  }
}

extension [ValueType] {
  /// The one type that all of these have; `any` where they differ.
  var common: ValueType {
    guard let first else { return .any }
    if allSatisfy({ $0 == first }) { return first }
    return allSatisfy { $0 == .integer || $0 == .number } ? .number : .any
  }
}
