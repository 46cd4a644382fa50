internal import FlowBase
internal import FlowEvents
internal import FlowRun
internal import FlowStore

extension Command {
  /// `imgflow ctl RUN VERB`.
  static let ctl = Command(.ctl) { arguments, console in
    guard let word = arguments.operand("VERB"), let verb = ControlRequest.Verb(rawValue: word) else {
      throw UsageError(
        "`\(arguments.operand("VERB") ?? "")` is nothing that a run can be asked for",
        hint: "type `imgflow ctl last pause`; the verbs are pause, resume, drain and cancel", command: "ctl")
    }
    let entry = try RunLookup(arguments).find(arguments.operand("RUN"))
    guard entry.isUnderWay else {
      console.say(
        "imgflow: run \(entry.run.id) is over (\(RunReport.state(entry))); it cannot \(word) (control.refused)")
      return 1
    }
    let request = ControlRequest(verb, item: arguments.value("item"), by: "ctl")
    let folder = entry.folder.run(entry.run.id)
    let asked = await onThread { Result { () throws(Fault) in try ControlWire.ask(request, folder: folder) } }
    let answer = try asked.get()
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
    return answer.isAccepted ? 0 : 1
  }

  /// Waits on a thread of its own, off the cooperative pool.
  private static func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      WorkerThread.start("ask") { continuation.resume(returning: body()) }
    }
  }
}
