internal import FlowBase
internal import FlowParts

/// A conversation with a process that has been greeted, and what came of it so far.
struct Talk: Sendable {
  let kit: PluginKit
  let op: PluginOp
  let line: PluginConversation
  /// Lines on standard output that were no messages.
  var noise: [String] = []
  var nextID = 0

  /// Starts a process and greets it; throws where it does not say that it is ready.
  init(_ kit: PluginKit, _ op: PluginOp, config: Fields, folder: String) async throws {
    self.kit = kit
    self.op = op
    line = try PluginConversation(kit.plugin, kit.surroundings, folder: folder)
    let greeting = HostMessage.Greeting(run: "check", op: op.name, config: config, window: kit.plugin.limits.window)
    line.write(HostMessage.greet(greeting, instance: 0, workdir: line.workdir))
    switch try await next(within: kit.plugin.limits.start) {
    case .ready: break
    case .refused(let fault): throw fault.fault(op.name, fallback: "plugin.start")
    default: throw Fault("plugin.start", .permanent, "the first message is not `ready`")
    }
  }

  /// The next message, past noise, progress and log lines.
  mutating func next(within span: Interval? = nil) async throws -> PluginMessage {
    while true {
      switch await line.next(within: span ?? kit.patience) {
      case nil: throw Fault("plugin.timeout", .permanent, "nothing came for \((span ?? kit.patience).text)" + words)
      case .noise(let text)?: noise.append(text)
      case .ended(let end)?: throw Fault("plugin.crashed", .permanent, "the process \(end.words)" + words)
      case .message(.progress)?, .message(.log)?, .message(.unknown)?: continue
      case .message(let message)?: return message
      }
    }
  }

  private var words: String { line.lastWords.isEmpty ? "" : "; it wrote: \(line.lastWords)" }

  /// Sends an item; its number and the folder for its outputs.
  mutating func send(_ part: HostMessage.ItemPart) throws -> (id: Int, folder: String) {
    nextID += 1
    let folder = "\(line.workdir)/\(nextID)"
    try SmallFiles.makeFolder(folder)
    line.write(HostMessage.item(part, id: nextID, outDir: folder))
    return (nextID, folder)
  }

  /// Sends an item and waits for its result.
  mutating func ask(_ part: HostMessage.ItemPart) async throws -> (result: PluginResult, folder: String) {
    let (id, folder) = try send(part)
    let message = try await next(within: kit.plugin.limits.item)
    guard case .result(let answered, let result) = message else {
      throw Fault("plugin.protocol", .permanent, "the answer to an item is no `result`")
    }
    guard answered == id else {
      throw Fault("plugin.protocol", .permanent, "item \(id) was sent, and \(answered) was answered")
    }
    return (result, folder)
  }

  /// Waits for the end of the process.
  mutating func end(within span: Interval) async throws -> ProgramEnd {
    while true {
      switch await line.next(within: span) {
      case nil: throw Fault("plugin.timeout", .permanent, "it still runs after \(span.text)")
      case .ended(let end)?: return end
      case .noise(let text)?: noise.append(text)
      case .message?: continue
      }
    }
  }
}
