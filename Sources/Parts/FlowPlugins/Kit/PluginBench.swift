public import FlowBase
internal import FlowParts

extension PluginKit {
  /// What a bench has measured.
  public struct Measure: Sendable {
    /// How many items there were.
    public var items: Int
    /// How long they took together.
    public var elapsed: Interval
    /// The window.
    public var window: Int

    /// Items a second.
    public var perSecond: Double { Double(items) / max(1e-9, elapsed.seconds) }
    /// Microseconds for each item, the plugin's own work included.
    public var microseconds: Double { elapsed.seconds * 1e6 / Double(max(1, items)) }
  }

  /// Sends so many items through the plugin's stage as fast as it takes them.
  public func bench(op name: String?, items: Int) async throws -> Measure {
    let op = try op(named: name)
    let sample = try PluginCase.all(in: plugin.folder).first { $0.op == nil || $0.op == op.name }
    let folder = try makeFolder()
    let host = PluginHost(
      plugin, op: op.name, run: "bench", config: config(of: op, over: sample?.config ?? [:]), folder: folder,
      surroundings: surroundings, ears: PluginHost.Ears(tell: { _ in }, log: { _, _ in }))
    let part = try part(of: sample)
    let budget = plugin.limits.item
    // One item first, so that the start of the process is not measured.
    _ = try await host.ask(.item(part), budget: budget)
    let clock = SystemTime()
    let start = clock.now()
    let left = Guarded(items)
    let workers = plugin.limits.window * plugin.limits.instances
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<workers {
        group.addTask {
          while left.withLock({ left in
            left -= 1
            return left >= 0
          }) {
            let answer = try await host.ask(.item(part), budget: budget)
            PluginExchange.removeOutputs(answer.folder)
          }
        }
      }
      try await group.waitForAll()
    }
    let elapsed = clock.now() - start
    await host.close()
    return Measure(items: items, elapsed: Interval(nanoseconds: elapsed.nanoseconds), window: plugin.limits.window)
  }
}
