public import FlowBase
internal import FlowExpressions
public import FlowParts

/// Keeps the items for which a condition is true.
public struct Filter: ImmediateStage {
  /// What is to be said of it.
  public static let part = StagePart(
    PartSpec(
      name: "filter", role: .stage, summary: "Keeps the items for which a condition is true.",
      fields: [
        FieldSpec("condition", .condition, required: true, "What is true of the items that stay.")
      ], shorthand: "condition", isImmediate: true, input: .look,
      example: "stages:\n  - fetch\n  - filter: item.bytes > 1000 and item.media == 'image/jpeg'\n")
  ) { Filter() }

  /// Lets the leg pass, or drops it.
  public func decide(_ leg: Leg, config: Config) throws(Fault) -> StageResult {
    let holds =
      switch config["condition"] {
      case .condition(let expression): try expression.isTrue(in: leg)
      case let value: value?.plain?.asBool ?? false
      }
    return holds ? StageResult() : StageResult(.drop(reason: "the condition is not met"))
  }
}
