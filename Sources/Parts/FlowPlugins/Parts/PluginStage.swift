internal import FlowBase
internal import FlowExpressions
internal import FlowParts

/// A stage whose work the processes of a plugin do.
final class PluginStage: Stage {
  private let plugin: PluginManifest
  private let op: PluginOp
  private let surroundings: PluginSurroundings
  private let host = Guarded<PluginHost?>(nil)

  init(_ plugin: PluginManifest, _ op: PluginOp, _ surroundings: PluginSurroundings) {
    self.plugin = plugin
    self.op = op
    self.surroundings = surroundings
  }

  func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    let exchange = PluginExchange(plugin: plugin, op: op, context: context)
    let prepared = try await exchange.prepare(leg)
    defer { prepared.discard() }
    let budget = plugin.limits.item
    let answer: PluginHost.Answer
    if plugin.mode == .oneshot {
      answer = try await OneshotProcess(plugin, op, surroundings, config(in: context)).ask(prepared.part, in: context)
    } else {
      let progress = context.progress
      let size = prepared.part.input?.bytes ?? 100
      answer = try await host(for: context).ask(.item(prepared.part), budget: budget) { ratio in
        progress(Int(ratio * Double(size)), size)
      }
    }
    defer { exchange.discard(answer) }
    return try exchange.result(answer)
  }

  func gather(_ gathering: Gathering, in context: StageContext) async throws -> StageResult {
    let exchange = PluginExchange(plugin: plugin, op: op, context: context)
    let prepared = try await exchange.prepare(gathering)
    defer { prepared.discard() }
    let answer: PluginHost.Answer
    if plugin.mode == .oneshot {
      answer = try await OneshotProcess(plugin, op, surroundings, config(in: context)).ask(prepared.part, in: context)
    } else {
      answer = try await host(for: context).ask(.item(prepared.part), budget: plugin.limits.item)
    }
    defer { exchange.discard(answer) }
    // Once for many items: there is no leg whose bytes or fields it could change.
    let result = try exchange.result(answer)
    if case .drop(let reason) = result.verdict { throw Fault("plugin.error", .permanent, "\(op.name): \(reason)") }
    return StageResult()
  }

  func close() async { await host.withLock { $0 }?.close() }

  private func config(in context: StageContext) -> Fields {
    PluginExchange.config(context.config, of: op, folder: context.services.settings.folder)
  }

  /// The processes' host, made by the first who asks.
  private func host(for context: StageContext) throws(Fault) -> PluginHost {
    try host.withLock { (host) throws(Fault) in
      if let host { return host }
      let services = context.services
      let made = PluginHost(
        plugin, op: op.name, run: services.settings.name, config: config(in: context),
        folder: try services.makeScratch(), surroundings: surroundings,
        ears: PluginHost.Ears(tell: { services.tell($0) }, log: { services.log($0, $1) }))
      host = made
      return made
    }
  }
}
