internal import FlowBase
internal import FlowExpressions
internal import FlowParts

/// A stage whose work the processes of a plugin do.
final class PluginStage: Stage {
  private let plugin: PluginManifest
  private let op: PluginOp
  private let surroundings: PluginSurroundings
  /// By configuration: what legs differ in, processes differ in.
  private let hosts = Guarded<[String: PluginHost]>([:])

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
    return StageResult(outputs: try await exchange.published(answer))
  }

  func close() async {
    for host in hosts.withLock({ Array($0.values) }) { await host.close() }
  }

  private func config(in context: StageContext) -> Fields {
    PluginExchange.config(context.config, of: op, folder: context.services.settings.folder)
  }

  /// The host of the processes with this configuration, made by the first who asks.
  private func host(for context: StageContext) throws(Fault) -> PluginHost {
    let config = config(in: context)
    var writer = JSONWriter()
    writer.value(.map(config))
    return try hosts.withLock { (hosts) throws(Fault) in
      if let host = hosts[writer.text] { return host }
      let services = context.services
      let made = PluginHost(
        plugin, op: op.name, run: services.settings.name, config: config, folder: try services.makeScratch(),
        surroundings: surroundings,
        ears: PluginHost.Ears(tell: { services.tell($0) }, log: { services.log($0, $1) }))
      hosts[writer.text] = made
      return made
    }
  }
}
