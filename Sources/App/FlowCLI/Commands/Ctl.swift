internal import FlowBase
internal import FlowEvents
internal import FlowParts
internal import FlowRun
internal import FlowStore

extension Command {
  /// `imgflow ctl RUN VERB`.
  static let ctl = Command(.ctl) { arguments, console in
    guard let word = arguments.operand("VERB"), let verb = ControlRequest.Verb(rawValue: word), verb != .page else {
      throw UsageError(
        "`\(arguments.operand("VERB") ?? "")` is nothing that a run can be asked for",
        hint: "type `imgflow ctl last pause`; the verbs are pause, resume, drain, cancel and set", command: "ctl")
    }
    let entry = try RunLookup(arguments).find(arguments.operand("RUN"))
    guard entry.isUnderWay else {
      console.say(
        "imgflow: run \(entry.run.id) is over (\(RunReport.state(entry))); it cannot \(word) (control.refused)")
      return 1
    }
    let folder = entry.folder.run(entry.run.id)
    var answer: ControlAnswer?
    for request in try requests(verb, arguments) where answer?.isAccepted ?? true {
      answer = try await onThread { Result { () throws(Fault) in try ControlWire.ask(request, folder: folder) } }.get()
      if let answer { tell(answer, arguments, console) }
    }
    return answer?.isAccepted ?? false ? 0 : 1
  }

  /// What a command line asks of the run, in order.
  private static func requests(
    _ verb: ControlRequest.Verb, _ arguments: ParsedArguments
  ) throws -> [ControlRequest] {
    let scopes = ControlScope.kinds.compactMap { kind in
      arguments.value(kind).flatMap { ControlScope(kind: kind, name: $0) }
    }
    if scopes.count > 1 {
      throw UsageError(
        "\(scopes.map { "--" + $0.kind }.joined(separator: " and ")) do not go together",
        hint: "ask for one at a time", command: "ctl")
    }
    let scope = scopes.first ?? .run
    if arguments.has("now"), verb != .pause {
      throw UsageError("--now goes with pause", hint: "type `imgflow ctl last pause --now`", command: "ctl")
    }
    let settings = arguments.namedOperands["KEY=VALUE"] ?? []
    guard verb == .set else {
      if let extra = settings.first {
        throw UsageError(
          "`\(extra)` goes with set", hint: "type `imgflow ctl last set \(extra)`", command: "ctl")
      }
      return [ControlRequest(verb, scope: scope, now: arguments.has("now"), by: "ctl")]
    }
    if settings.isEmpty {
      throw UsageError(
        "KEY=VALUE is missing: what `set` changes", hint: "type `imgflow ctl last set connections=4`", command: "ctl")
    }
    return settings.map { text in
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      return ControlRequest(
        .set, scope: scope, setting: ControlRequest.Setting(parts[0], parts.count > 1 ? parts[1] : ""), by: "ctl")
    }
  }

  private static func tell(_ answer: ControlAnswer, _ arguments: ParsedArguments, _ console: Console) {
    if arguments.has("json") {
      var writer = JSONWriter()
      writer.value(
        .map([
          "format_version": 1, "accepted": .bool(answer.isAccepted), "state": .string(answer.state.rawValue),
          "message": .string(answer.message),
        ]))
      console.line(writer.text)
    } else if answer.isAccepted {
      console.line(answer.message)
    } else {
      console.say("imgflow: \(answer.message) (control.refused)")
    }
  }

  /// Waits on a thread of its own, since the command's is for its tasks.
  private static func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      WorkerThread.start("ask") { continuation.resume(returning: body()) }
    }
  }
}
