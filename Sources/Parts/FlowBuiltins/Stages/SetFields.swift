public import FlowBase
internal import FlowExpressions
public import FlowParts

/// Sets fields of items.
public struct SetFields: ImmediateStage {
  /// What is to be said of it.
  public static let part = StagePart(
    PartSpec(
      name: "set", role: .stage, summary: "Sets fields of items.",
      fields: [
        FieldSpec("fields", .map(.anything), required: true, "The fields' names and their values or texts with `${…}`.")
      ], shorthand: "fields", sets: fields, isImmediate: true, input: .look,
      example: "stages:\n  - set: { title: \"${row.name | trim}\", wide: \"${row.ratio > 1.5}\" }\n")
  ) { SetFields() }

  /// Gives the leg the fields.
  public func decide(_ leg: Leg, config: Config) throws(Fault) -> StageResult {
    StageResult(fields: config.value("fields")?.asMap ?? [:])
  }

  /// The fields that a configuration declares, with the types that can be told beforehand.
  private static func fields(of config: Config) -> [ItemField] {
    switch config["fields"] {
    case .map(let entries): entries.map { ItemField($0.name, type(of: $0.value)) }
    case .value(.map(let fields)): fields.map { ItemField($0.0, type(of: .value($0.1))) }
    default: []
    }
  }

  private static func type(of value: ConfigValue) -> ValueType {
    switch value {
    case .value(.bool): .bool
    case .value(.int): .integer
    case .value(.double): .number
    case .value(.string): .string
    case .value(.map), .map: .map
    default: .any
    }
  }
}
