internal import FlowBase
internal import FlowEvents
internal import FlowParts
internal import FlowPlan
internal import FlowRun

extension Command {
  /// `imgflow flush [MANIFEST]`.
  static let flush = Command(.flush) { arguments, console in
    let loaded = LoadedManifest(arguments, console)
    guard let plan = loaded.plan else {
      console.say(
        DiagnosticText(isColoured: console.coloursErrors, line: loaded.line).text(loaded.errors))
      return 2
    }
    var reports: [SpoolReport] = []
    for sink in plan.sinks {
      var context = SinkContext(sink, of: plan, run: "")
      context.log = { level, message in if level != .debug || arguments.has("verbose") { console.say(message) } }
      guard let spooled = try sink.part.make(sink.config, context) as? any SpooledSink else { continue }
      let report = await SpoolReport.flush(sink.id, spooled.courier, within: arguments.interval("deadline"))
      if !arguments.has("json") { report.say(console) }
      reports.append(report)
    }
    if arguments.has("json") {
      var writer = JSONWriter()
      writer.value(.map(["format_version": 1, "sinks": .list(reports.map(\.value))]))
      console.line(writer.text)
    } else if reports.isEmpty, !arguments.has("quiet") {
      console.say("the manifest has no sink that keeps what it cannot deliver")
    }
    return reports.allSatisfy(\.isDone) ? 0 : 1
  }
}

/// What came of a sink's left-overs.
private struct SpoolReport {
  var sink: String
  var sent = Courier.Sent()
  var left = 0
  var fault: Fault?

  /// Whether nothing is left, and nothing had to be put aside.
  var isDone: Bool { left == 0 && sent.busy == 0 && fault == nil && sent.fault == nil }

  /// Sends what is left of earlier runs, for at most so long.
  static func flush(_ sink: String, _ courier: Courier, within limit: Interval?) async -> SpoolReport {
    let done = Guarded(Courier.Sent())
    var counting = courier
    counting.send = { batch in
      let fault = try await courier.send(batch)
      done.withLock { sent in
        sent.batches += 1
        sent.events += batch.events.count
        sent.fault = fault ?? sent.fault
      }
      return fault
    }
    let sending = counting
    let work = Task { try await sending.sendRemains() }
    let span = limit ?? courier.drain
    let watch = Task {
      do { try await Task.sleep(nanoseconds: UInt64(max(0, span.nanoseconds))) } catch { return }
      work.cancel()
    }
    var report = SpoolReport(sink: sink)
    do {
      report.sent = try await work.value
    } catch {
      report.sent = done.withLock { $0 }
      let fault = Fault(error)
      report.fault =
        fault.kind == .cancelled
        ? Fault("sink.undelivered", .local, "not all could be delivered within \(span.text)") : fault
    }
    watch.cancel()
    report.left = (try? courier.countRemains()) ?? 0
    return report
  }

  func say(_ console: Console) {
    if sent.batches > 0 || isDone { console.line("\(sink): sent \(sent.events) events in \(sent.batches) requests") }
    if let fault = sent.fault ?? fault { console.say("imgflow: \(sink): \(fault.message) (\(fault.code))") }
    if left > 0 { console.say("imgflow: \(sink): \(left) events are left; `imgflow flush` tries again") }
    if sent.busy > 0 { console.say("imgflow: \(sink): a run that is under way sends the rest itself") }
  }

  var value: Value {
    .map([
      "sink": .string(sink), "sent": .int(sent.events), "requests": .int(sent.batches), "left": .int(left),
      "busy": .int(sent.busy), "error": (fault ?? sent.fault).map { .string($0.code) } ?? .null,
    ])
  }
}
