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

  /// Sends so many items through the plugin as fast as it takes them; of a source, pulls as many.
  ///
  /// Without a number there are 5000, and 200 where each has a process of its own.
  public func bench(op name: String?, items: Int?) async throws -> Measure {
    let items = max(1, items ?? (plugin.mode == .oneshot ? 200 : 5000))
    let op = try op(named: name)
    let sample = try PluginCase.all(in: plugin.folder).first { $0.op == nil || $0.op == op.name }
    let folder = try makeFolder()
    if plugin.mode == .oneshot {
      defer { try? FileSystem.removeTree(folder) }
      return try await measure(items, window: 1) {
        for number in 0..<items {
          let place = PathText.join(folder, "\(number)")
          _ = try await oneshot(op, sample, folder: place)
          try? FileSystem.removeTree(place)
        }
      }
    }
    let host = PluginHost(
      op.kind == .stage ? plugin : inOrder, op: op.name, run: "bench",
      config: config(of: op, over: sample?.config ?? [:]),
      folder: folder, surroundings: surroundings, ears: PluginHost.Ears(tell: { _ in }, log: { _, _ in }))
    do {
      let made: Measure
      switch op.kind {
      case .stage: made = try await bench(host, .item(try part(of: sample)), items, plugin.limits.window)
      case .sink: made = try await bench(host, .events(PluginKit.sampleEvents), items, 1)
      case .source: made = try await benchSource(host, items)
      }
      await host.close()
      return made
    } catch {
      await host.close()
      throw error
    }
  }

  private func bench(_ host: PluginHost, _ job: PluginHost.Job, _ items: Int, _ window: Int) async throws -> Measure {
    let budget = plugin.limits.item
    // One item first, so that the start of the process is not measured, and no plugin that only refuses.
    let first = try await host.ask(job, budget: budget)
    if case .result(_, let result) = first.message, case .error(let fault) = result.status {
      throw fault.fault(plugin.name, classes: plugin.errors)
    }
    first.discard()
    return try await measure(items, window: window) {
      let workers = min(items, window * (window == 1 ? 1 : plugin.limits.instances))
      try await withCheckedThrowingContinuation { continuation in
        let round = Round(host, job, budget: budget, items: items) { continuation.resume(with: $0) }
        for _ in 0..<workers { round.next() }
      }
    }
  }

  /// Pulls until so many items have come, from the beginning again where there are fewer.
  private func benchSource(_ host: PluginHost, _ items: Int) async throws -> Measure {
    var cursor = Value.null
    var left = items
    var isFirst = true
    func pull() async throws {
      let answer = try await host.ask(.pull(count: 64, cursor: cursor), budget: plugin.limits.item)
      guard case .items(let page) = answer.message, !(isFirst && page.items.isEmpty && page.isEnd) else {
        throw Fault("plugin.protocol", .permanent, "the answer to a pull is no `items`, or there are none")
      }
      isFirst = false
      left -= page.items.count
      cursor = page.isEnd ? .null : page.cursor
    }
    try await pull()
    (cursor, left) = (.null, items)
    return try await measure(items, window: 1) { while left > 0 { try await pull() } }
  }

  private func measure(_ items: Int, window: Int, _ body: () async throws -> Void) async throws -> Measure {
    let clock = SystemTime()
    let start = clock.now()
    try await body()
    return Measure(
      items: items, elapsed: Interval(nanoseconds: (clock.now() - start).nanoseconds), window: window)
  }

  /// The plugin with one process that is asked one thing at a time, as sources and sinks are.
  private var inOrder: PluginManifest {
    var plugin = plugin
    (plugin.limits.instances, plugin.limits.window) = (1, 1)
    return plugin
  }
}

/// Sends one item after the other, each when another has been answered, until all are or one has failed.
private final class Round: Sendable {
  private struct State {
    var unsent: Int
    var unanswered: Int
  }

  private let host: PluginHost
  private let job: PluginHost.Job
  private let budget: Interval
  private let state: Guarded<State>
  private let done: @Sendable (Result<Void, any Error>) -> Void

  init(
    _ host: PluginHost, _ job: PluginHost.Job, budget: Interval, items: Int,
    done: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) {
    self.host = host
    self.job = job
    self.budget = budget
    state = Guarded(State(unsent: items, unanswered: items))
    self.done = done
  }

  func next() {
    let isOne = state.withLock { state in
      guard state.unsent > 0 else { return false }
      state.unsent -= 1
      return true
    }
    guard isOne else { return }
    _ = host.begin(job, budget: budget) { [self] in answered($0) }
  }

  private func answered(_ outcome: Result<PluginHost.Answer, Fault>) {
    switch outcome {
    case .success(let answer):
      answer.discard()
      let isLast = state.withLock { state in
        state.unanswered -= 1
        return state.unanswered == 0
      }
      if isLast { done(.success(())) } else { next() }
    case .failure(let fault):
      let isFirst = state.withLock { state in
        defer { state = State(unsent: 0, unanswered: -1) }
        return state.unanswered > 0
      }
      if isFirst { done(.failure(fault)) }
    }
  }
}
