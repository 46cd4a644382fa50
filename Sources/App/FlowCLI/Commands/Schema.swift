internal import FlowBuiltins
internal import FlowEvents
internal import FlowParts
internal import FlowPlan
internal import FlowPlugins

extension Command {
  /// `imgflow schema manifest|event|plugin`.
  static let schema = Command(.schema) { arguments, console in
    switch arguments.operand("WHICH") {
    case "event": console.line(EventSchema.json)
    case "plugin": console.line(PluginSchema.json)
    default: console.write(ManifestSchema.json(catalog: PluginCatalog.usual(console.environment)))
    }
    return 0
  }
}
