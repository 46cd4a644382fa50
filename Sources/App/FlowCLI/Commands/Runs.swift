internal import FlowBase
internal import FlowRun
internal import FlowStore

extension Command {
  /// `imgflow runs [RUN]`.
  static let runs = Command(.runs) { arguments, console in
    let lookup = RunLookup(arguments)
    let found = try lookup.counted(arguments.operand("RUN").map(lookup.list) ?? lookup.all())
    if arguments.has("json") {
      var writer = JSONWriter()
      writer.value(.map(["format_version": 1, "runs": .list(found.map { .map(RunReport.fields($0)) })]))
      console.line(writer.text)
      return 0
    }
    if found.isEmpty { console.say("no run was made here") }
    for entry in found { console.line(RunReport.line(entry)) }
    return 0
  }

  /// `imgflow status [RUN [ITEM]]`.
  static let status = Command(.status) { arguments, console in
    let entry = try RunLookup(arguments).find(arguments.operand("RUN"))
    if let item = arguments.operand("ITEM") {
      let next = arguments.has("json") ? nil : await next(item, entry, arguments, console)
      return try ItemReport(entry, item, next: next).write(arguments, console)
    }
    if arguments.has("watch") { return try await StatusWatch(arguments, console).run(entry) }
    let report = try StatusReport(entry)
    console.write(arguments.has("json") ? report.json : report.text)
    return 0
  }
}

extension Command {
  /// What the next run would do about an item, and why; nil where the manifest cannot be read from here.
  private static func next(
    _ item: String, _ entry: RunLookup.Found, _ arguments: ParsedArguments, _ console: Console
  ) async -> String? {
    var arguments = arguments
    arguments.namedOperands["MANIFEST"] = [entry.manifest]
    guard let plan = LoadedManifest(arguments, console).plan,
      let outlook = try? await outlook(item, Forecaster(plan)), let reason = outlook.reason
    else { return nil }
    return reason + (outlook.bytes.map { "; " + $0 } ?? "")
  }
}

/// A run in a line, and in fields.
enum RunReport {
  static func state(_ entry: RunLookup.Found) -> String {
    entry.isUnderWay ? "running" : entry.run.result ?? "cut off"
  }

  static func line(_ entry: RunLookup.Found) -> String {
    let run = entry.run
    let counts = [ItemStatus.ok, .failed, .filtered, .cancelled].compactMap { status in
      count(status, of: entry).flatMap { $0 > 0 || status == .ok ? "\($0) \(status.name)" : nil }
    }
    let started = String(run.started.text.prefix(19)) + "Z"
    let parts = [run.id, started, state(entry), run.manifest, counts.joined(separator: ", ")]
    return parts.filter { !$0.isEmpty }.joined(separator: "  ")
  }

  static func fields(_ entry: RunLookup.Found) -> Fields {
    let run = entry.run
    var fields: Fields = [
      "id": .string(run.id), "manifest": .string(run.manifest), "started": .string(run.started.text),
      "ended": run.ended.map { .string($0.text) } ?? .null, "state": .string(state(entry)),
      "result": run.result.map(Value.string) ?? .null, "exit": run.exit.map(Value.int) ?? .null,
    ]
    for name in ["total", "ok", "cached", "filtered", "failed", "cancelled", "bytes_in", "ms", "output"] {
      if let value = run.facts[name] { fields[name] = value }
    }
    for status in [ItemStatus.ok, .filtered, .failed, .cancelled] {
      if let count = count(status, of: entry) { fields[status.name] = .int(count) }
    }
    return fields
  }

  /// How many items ended so, by what the run wrote down at its end or by what the journal counts.
  ///
  /// Nil where neither knows: later runs have seen all that this one has.
  private static func count(_ status: ItemStatus, of entry: RunLookup.Found) -> Int? {
    if let count = entry.run.facts[status.name]?.asInt { return count }
    return entry.counts.isEmpty ? nil : entry.counts[status] ?? 0
  }
}
