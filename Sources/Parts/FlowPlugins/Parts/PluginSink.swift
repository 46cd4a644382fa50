internal import FlowBase
internal import FlowEvents
internal import FlowParts

/// A sink whose events a process of a plugin takes, and acknowledges batch by batch.
final class PluginSink: Sink {
  private let plugin: PluginManifest
  private let op: PluginOp
  private let surroundings: PluginSurroundings
  private let config: Fields
  private let host = Guarded<PluginHost?>(nil)
  private let batches = Guarded(0)
  /// What its process wrote to standard error before it fell the last time.
  private let lastWords = Guarded("")

  /// So many bytes of events go into one line at most; the protocol takes 1 MiB.
  private static let batchBytes = 512 << 10
  private static let attempts = 5

  init(_ plugin: PluginManifest, _ op: PluginOp, _ surroundings: PluginSurroundings, _ config: Config, folder: String) {
    self.plugin = plugin
    self.op = op
    self.surroundings = surroundings
    self.config = PluginExchange.config(config, of: op, folder: folder)
  }

  func render(_ event: Event, into buffer: inout [UInt8]) { NDJSON.append(event, to: &buffer) }

  func open() async throws {
    guard plugin.mode == .process else { return }
    var single = plugin
    single.limits.instances = 1
    single.limits.window = 1
    let folder = PathText.join(
      Environment.value(of: "TMPDIR") ?? "/tmp", "imgflow-plugin-\(ThisProcess.id)-\(Entropy.token(8))")
    try SmallFiles.makeFolder(folder)
    let made = PluginHost(
      single, op: op.name, run: "", config: config, folder: folder, surroundings: surroundings,
      // A sink that told of itself in the stream that it takes would never come to an end.
      ears: PluginHost.Ears(
        tell: { [lastWords] payload in
          if case .pluginCrash(let crash) = payload { lastWords.withLock { $0 = crash.stderr } }
        }, log: { _, _ in }))
    host.withLock { $0 = made }
  }

  func deliver(_ bytes: [UInt8]) async throws {
    var start = 0
    while start < bytes.count {
      var end = start
      while end < bytes.count, let next = bytes[end...].firstIndex(of: 0x0A) {
        if end > start, next - start > PluginSink.batchBytes { break }
        end = next + 1
      }
      if end == start { end = bytes.count }
      try await deliver(batch: Array(bytes[start..<end]))
      start = end
    }
  }

  private func deliver(batch lines: [UInt8]) async throws {
    var attempt = 1
    while true {
      let message: PluginMessage
      if let host = host.withLock({ $0 }) {
        do throws(Fault) {
          message = try await host.ask(.events(lines), budget: plugin.limits.item).message
        } catch {
          throw withLastWords(error)
        }
      } else {
        let number = batches.withLock { batches in
          batches += 1
          return batches
        }
        message = try await OneshotProcess(plugin, op, surroundings, config)
          .deliver(lines, batch: number, log: { _, _ in })
      }
      guard case .acknowledged(_, let refused) = message else {
        throw Fault("plugin.protocol", .permanent, "\(op.name) answered events with neither `ack` nor `nack`")
      }
      guard let refused else { return }
      let fault = refused.fault(op.name, classes: plugin.errors)
      guard fault.kind.isRetryable, attempt < PluginSink.attempts else { throw fault }
      await ProgramLoop.shared.pause(fault.retryAfter ?? .milliseconds(500 << attempt))
      attempt += 1
    }
  }

  /// Nothing else shows them: a sink's log would be events for it.
  private func withLastWords(_ fault: Fault) -> Fault {
    let words = lastWords.withLock { $0 }.split(separator: "\n").suffix(5).joined(separator: "; ")
    guard fault.code.hasPrefix("plugin.crash"), !words.isEmpty else { return fault }
    return Fault(fault.code, fault.kind, "\(fault.message); it wrote: \(words)")
  }

  func close() async throws { await host.withLock { $0 }?.close() }
}
