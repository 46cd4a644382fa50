internal import FlowBase
internal import FlowBuiltins
internal import FlowParts
internal import FlowRun
internal import FlowStore

extension Command {
  /// `imgflow page [RUN]`.
  static let page = Command(.page) { arguments, console in
    let entry = try RunLookup(arguments).find(arguments.operand("RUN"))
    let place = arguments.value("page-listen")
    let options = try RunPage.options(place, flag: "--page-listen")
    if entry.isUnderWay {
      let folder = entry.folder.run(entry.run.id)
      let request = ControlRequest(
        .page, setting: place.map { ControlRequest.Setting("listen", $0) }, by: "page")
      let answer = try await onThread { Result { () throws(Fault) in try ControlWire.ask(request, folder: folder) } }
        .get()
      guard answer.isAccepted else { throw Fault("control.refused", .permanent, answer.message) }
      tell(answer.message, entry, arguments, console)
      return 0
    }
    var context = SinkContext(id: "page", run: entry.run.id, folder: PathText.currentFolder)
    if let output = entry.run.facts["output"]?.asString { context.settings.outputFolder = output }
    context.settings.name = ""
    context.manifest = entry.manifest
    context.keep = entry.folder.temporary
    for (id, fields) in entry.run.facts["plan"]?.asMap ?? [:] {
      let place = context.graph.stages.count
      context.graph.stages.append(
        .init(
          id: id, op: fields.asMap?["op"]?.asString ?? "", per: "item", needs: place > 0 ? [place - 1] : [], after: []))
    }
    let host = try PageHost(context, options)
    for event in try await JournalReplay(entry.reader, entry.run).events() { host.hear(event) }
    tell(host.address, entry, arguments, console)
    await untilSignal()
    await host.stop()
    return 0
  }

  private static func tell(
    _ address: String, _ entry: RunLookup.Found, _ arguments: ParsedArguments, _ console: Console
  ) {
    guard arguments.has("json") else { return console.line(address) }
    var writer = JSONWriter()
    writer.value(
      .map([
        "format_version": 1, "run": .string(entry.run.id), "under_way": .bool(entry.isUnderWay),
        "address": .string(address),
      ]))
    console.line(writer.text)
  }

  private static func untilSignal() async {
    let waiter = Guarded<CheckedContinuation<Void, Never>?>(nil)
    await withCheckedContinuation { continuation in
      waiter.withLock { $0 = continuation }
      Signals.watch { _ in waiter.withLock { $0.take() }?.resume() }
    }
  }

  /// Waits on a thread of its own, since the command's is for its tasks.
  private static func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      WorkerThread.start("ask") { continuation.resume(returning: body()) }
    }
  }
}
