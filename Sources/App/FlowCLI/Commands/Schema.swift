internal import FlowBuiltins
internal import FlowEvents
internal import FlowParts
internal import FlowPlan

extension Command {
  /// `imgflow schema manifest|event`.
  static let schema = Command(.schema) { arguments, console in
    switch arguments.operand("WHICH") {
    case "event": console.line(EventSchema.json)
    default: console.write(ManifestSchema.json(catalog: .builtins))
    }
    return 0
  }
}
