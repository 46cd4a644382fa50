internal import FlowBase
internal import FlowExpressions
internal import FlowParts

/// A stage whose work the processes of a plugin do.
final class PluginStage: PromptStage {
  private let plugin: PluginManifest
  private let op: PluginOp
  private let surroundings: PluginSurroundings
  /// By configuration: what legs differ in, processes differ in.
  private let hosts = Guarded<[Config: PluginHost]>([:])

  init(_ plugin: PluginManifest, _ op: PluginOp, _ surroundings: PluginSurroundings) {
    self.plugin = plugin
    self.op = op
    self.surroundings = surroundings
  }

  func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    let exchange = PluginExchange(plugin: plugin, op: op, context: context)
    let prepared = try await exchange.prepare(leg)
    defer { prepared.discard() }
    let answer: PluginHost.Answer
    if plugin.mode == .oneshot {
      answer = try await OneshotProcess(plugin, op, surroundings, config(in: context)).ask(prepared.part, in: context)
    } else {
      answer = try await host(for: context)
        .ask(.item(prepared.part), budget: plugin.limits.item, progress: progress(of: prepared, in: context))
    }
    defer { answer.discard() }
    return try exchange.result(answer)
  }

  /// Tells the plugin of a leg at once, where nothing has to be read or written before that.
  func begin(
    _ leg: Leg, in context: StageContext, done: @escaping @Sendable (Result<StageResult, Fault>) -> Void
  ) throws(Fault) -> BegunWork? {
    guard plugin.mode == .process else { return nil }
    let exchange = PluginExchange(plugin: plugin, op: op, context: context)
    guard let prepared = try exchange.prepareAtOnce(leg) else { return nil }
    let host = try host(for: context)
    let number = host.begin(
      .item(prepared.part), budget: plugin.limits.item, progress: progress(of: prepared, in: context)
    ) { outcome in
      let take = { @Sendable in
        done(
          outcome.flatMap { answer in
            defer { answer.discard() }
            do throws(Fault) { return .success(try exchange.result(answer)) } catch { return .failure(error) }
          })
        prepared.discard()
      }
      // Files are copied and hashed, which must not hold up other plugins.
      if case .success(let answer) = outcome, !answer.isQuiet {
        Task(executorPreference: context.services.blocking) { take() }
      } else {
        take()
      }
    }
    return BegunWork { host.cancel(number) }
  }

  private func progress(of prepared: PluginExchange.Prepared, in context: StageContext) -> @Sendable (Double) -> Void {
    let size = prepared.part.input?.bytes ?? 100
    return { ratio in context.progress(Int(ratio * Double(size)), size) }
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
    defer { answer.discard() }
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
    try hosts.withLock { (hosts) throws(Fault) in
      if let host = hosts[context.config] { return host }
      let services = context.services
      let made = PluginHost(
        plugin, op: op.name, run: services.settings.name, config: config(in: context),
        folder: try services.makeScratch(), surroundings: surroundings,
        ears: PluginHost.Ears(tell: { services.tell($0) }, log: { services.log($0, $1) }))
      hosts[context.config] = made
      return made
    }
  }
}
