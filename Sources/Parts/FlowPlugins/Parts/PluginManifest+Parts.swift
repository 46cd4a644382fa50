internal import FlowExpressions
public import FlowParts

extension PluginManifest {
  /// Adds what the plugin offers to a catalog.
  public func add(to catalog: inout Catalog, in surroundings: PluginSurroundings) {
    for op in ops {
      let spec = spec(of: op)
      switch op.kind {
      case .source:
        catalog.add(SourcePart(spec) { PluginSource(plugin: self, op: op, surroundings: surroundings) })
      case .stage: catalog.add(StagePart(spec) { PluginStage(self, op, surroundings) })
      case .sink:
        catalog.add(
          SinkPart(spec) { config, context in
            PluginSink(self, op, surroundings, config, folder: context.folder)
          })
      }
    }
  }

  /// What is to be said of an op, as of any part.
  func spec(of op: PluginOp) -> PartSpec {
    var spec = PartSpec(
      name: op.name, role: op.kind,
      summary: op.summary.hasSuffix(".") || op.summary.isEmpty ? op.summary : op.summary + ".",
      fields: op.fields, shorthand: op.shorthand,
      sets: { _ in op.sets + (op.gives == nil ? [] : [ItemField("media", .string)]) }, reads: op.reads, per: op.per,
      example: example(of: op))
    spec.plugin = note
    spec.readsBeside = { _ in [Reference(.row, []), Reference(.for, [])] }
    let digest = digest
    spec.digest = { _, _ in digest }
    return spec
  }

  private func example(of op: PluginOp) -> String {
    let required = op.fields.filter { $0.isRequired }.map { "\($0.name): …" }
    let entry = required.isEmpty ? "  - \(op.name)\n" : "  - \(op.name): { \(required.joined(separator: ", ")) }\n"
    return "plugins: [\(folder)]\n\(op.kind.rawValue)s:\n\(entry)"
  }
}
