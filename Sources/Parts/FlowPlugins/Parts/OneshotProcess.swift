internal import FlowBase
internal import FlowEvents
internal import FlowParts

/// A plugin whose processes live for one item: a line comes in, a line goes out.
struct OneshotProcess: Sendable {
  private let plugin: PluginManifest
  private let op: PluginOp
  private let surroundings: PluginSurroundings
  private let config: Fields

  init(_ plugin: PluginManifest, _ op: PluginOp, _ surroundings: PluginSurroundings, _ config: Fields) {
    self.plugin = plugin
    self.op = op
    self.surroundings = surroundings
    self.config = config
  }

  /// Has an item worked on.
  func ask(_ part: HostMessage.ItemPart, in context: StageContext) async throws -> PluginHost.Answer {
    let workdir = try context.services.makeScratch()
    let out = PathText.join(workdir, "out")
    for name in ["out", "tmp"] { try SmallFiles.makeFolder(PathText.join(workdir, name)) }
    let line = HostMessage.item(part, id: 1, outDir: out, also: also(workdir))
    do {
      let message = try await exchange(
        line, workdir, tell: { context.services.tell($0) }, log: { context.services.log($0, $1) })
      return PluginHost.Answer(message: message, folder: out, scratch: workdir)
    } catch {
      try? FileSystem.removeTree(workdir)
      throw error
    }
  }

  /// Hands a batch of events over.
  func deliver(_ lines: [UInt8], batch: Int, log: @escaping @Sendable (LogLevel, String) -> Void) async throws
    -> PluginMessage
  {
    let workdir = PathText.join(
      Environment.value(of: "TMPDIR") ?? "/tmp", "imgflow-plugin-\(ThisProcess.id)-\(Entropy.token(8))")
    try SmallFiles.makeFolder(PathText.join(workdir, "tmp"))
    defer { try? FileSystem.removeTree(workdir) }
    return try await exchange(
      HostMessage.events(batch: batch, lines: lines, also: also(workdir)), workdir, tell: { _ in }, log: log)
  }

  private func also(_ workdir: String) -> Fields {
    ["op": .string(op.name), "config": .map(config), "workdir": .string(workdir)]
  }

  private func exchange(
    _ line: [UInt8], _ workdir: String, tell: @Sendable (Payload) -> Void, log: @Sendable (LogLevel, String) -> Void
  ) async throws(Fault) -> PluginMessage {
    let report = await ProgramLoop.shared.run(
      surroundings.order(for: plugin, workdir: workdir), input: line, keeping: 2 << 20, limit: plugin.limits.item)
    surroundings.sweep(workdir)
    if Task.isCancelled { throw Fault(CancellationError()) }
    if case .unstartable = report.end {
      throw Fault("plugin.start", .permanent, "`\(plugin.run.first ?? "")` of \(plugin.name) \(report.end.words)")
    }
    var reader = LineReader()
    var answer: PluginMessage?
    var noise = 0
    for line in reader.take(report.output + [0x0A]) {
      switch line {
      case .noise(let text):
        noise += 1
        if noise <= 10 { tell(.pluginNoise(Payload.PluginNoise(plugin: plugin.name, line: text, count: noise))) }
      case .message(.log(_, let level, let text)): log(level, "\(op.name): \(text)")
      case .message(.refused(let fault)): throw fault.fault(op.name, classes: plugin.errors, fallback: "plugin.start")
      case .message(.result(_, let result)): answer = .result(id: 1, result)
      case .message(.acknowledged(let batch, let fault)): answer = .acknowledged(batch: batch, fault)
      case .message: break
      }
    }
    if let answer { return answer }
    if report.isLate {
      throw Fault(
        "plugin.timeout", .permanent,
        "\(op.name) took longer than the \(plugin.limits.item.text) that it has for an item")
    }
    let words = report.lastLines()
    throw Fault(
      "plugin.crashed", .permanent,
      "\(op.name) \(report.end.words) and gave no answer" + (words.isEmpty ? "" : ": \(words)"))
  }
}
