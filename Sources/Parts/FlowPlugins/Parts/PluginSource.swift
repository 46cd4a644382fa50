internal import FlowBase
internal import FlowEvents
internal import FlowParts

/// A source whose items a process of a plugin gives.
struct PluginSource: Source {
  let plugin: PluginManifest
  let op: PluginOp
  let surroundings: PluginSurroundings

  func open(in context: SourceContext) async throws -> any SourceReader {
    var single = plugin
    // One process with one question at a time: items have an order.
    single.limits.instances = 1
    single.limits.window = 1
    let folder = PathText.join(
      Environment.value(of: "TMPDIR") ?? "/tmp", "imgflow-plugin-\(ThisProcess.id)-\(Entropy.token(8))")
    try SmallFiles.makeFolder(folder)
    let tell = context.tell
    let host = PluginHost(
      single, op: op.name, run: context.id,
      config: PluginExchange.config(context.config, of: op, folder: context.folder), folder: folder,
      surroundings: surroundings,
      ears: PluginHost.Ears(
        tell: tell, log: { tell(.log(Payload.LogLine(Payload.LogLine.Level(rawValue: $0.rawValue) ?? .info, $1))) }))
    return PluginSourceReader(
      hold: HostHold(host), op: op.name, budget: plugin.limits.item, classes: plugin.errors,
      next: context.cursor ?? .null)
  }
}

/// Ends a host's processes with its last user.
private final class HostHold: Sendable {
  let host: PluginHost
  init(_ host: PluginHost) { self.host = host }
  deinit { host.leave() }
}

/// Pulls items as they are asked for.
private struct PluginSourceReader: SourceReader {
  let hold: HostHold
  let op: String
  let budget: Interval
  let classes: [String: FaultClass]
  /// Where the next pull goes on.
  var next: Value
  /// Where the last one went on: the items that came of it are asked for there again.
  private(set) var cursor: Value?
  var isEnded = false
  /// Items that came beyond what was asked for.
  var surplus: [SourceItem] = []
  private(set) var total: Int?

  init(hold: HostHold, op: String, budget: Interval, classes: [String: FaultClass], next: Value) {
    self.hold = hold
    self.op = op
    self.budget = budget
    self.classes = classes
    self.next = next
  }

  mutating func next(upTo count: Int) async throws -> [SourceItem] {
    var emptyRounds = 0
    while surplus.isEmpty, !isEnded {
      cursor = next
      let answer = try await hold.host.ask(.pull(count: count, cursor: next), budget: budget)
      switch answer.message {
      case .items(let items):
        next = items.cursor
        isEnded = items.isEnd
        total = items.total ?? total
        surplus = items.items
      case .result(_, let result):
        if case .error(let fault) = result.status { throw fault.fault(op, classes: classes) }
        throw Fault("plugin.protocol", .permanent, "\(op) answered a pull with a result")
      default: throw Fault("plugin.protocol", .permanent, "\(op) answered a pull with something else than items")
      }
      emptyRounds += 1
      if emptyRounds > 10_000 {
        throw Fault("plugin.protocol", .permanent, "\(op) gave no items 10,000 times in a row and did not end")
      }
    }
    let batch = Array(surplus.prefix(count))
    surplus.removeFirst(batch.count)
    return batch
  }
}
