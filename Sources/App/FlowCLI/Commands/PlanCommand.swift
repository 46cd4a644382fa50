internal import FlowBase
internal import FlowParts
internal import FlowPlan
internal import FlowRun

extension Command {
  /// `imgflow plan [MANIFEST]`.
  static let plan = Command(.plan) { arguments, console in
    let loaded = LoadedManifest(arguments, console)
    guard let plan = loaded.plan else {
      console.say(DiagnosticText(isColoured: console.coloursErrors, line: loaded.line).text(loaded.diagnostics))
      return 2
    }
    var options = RunOptions()
    options.fresh = arguments.has("fresh")
    options.only = arguments.all("only")
    options.checksDigests = arguments.value("check") == "digest"
    options.failedOnly = try FailureFilter(arguments, command: "plan")
    let forecaster = Forecaster(plan, options: options)
    if let wanted = arguments.value("why") { return try await why(wanted, forecaster, console) }
    let showsItems = arguments.has("items") && !arguments.has("json")
    let forecast = try await forecaster.forecast(online: arguments.has("online")) { item in
      if showsItems { console.line("\(item.name)  \(item.reason ?? "done")  \(item.url ?? "")") }
    }
    let report = PlanReport(plan: plan, forecast: forecast)
    console.write(arguments.has("json") ? report.json : report.text)
    return arguments.has("exit-code") && !forecast.isIdle ? 1 : 0
  }

  private static func why(_ wanted: String, _ forecaster: Forecaster, _ console: Console) async throws -> Int {
    guard let item = try await outlook(wanted, forecaster) else {
      console.say("imgflow: no source gives an item `\(wanted)`; `imgflow plan --items` lists them")
      return 1
    }
    console.line("\(item.name): \(item.reason ?? "nothing to do, what it depends on has not changed")")
    if let bytes = item.bytes { console.line("  \(bytes)") }
    return 0
  }

  /// What would be done about one item; nil where no source gives it.
  static func outlook(_ wanted: String, _ forecaster: Forecaster) async throws -> Forecast.ItemOutlook? {
    let found = Guarded<Forecast.ItemOutlook?>(nil)
    var forecaster = forecaster
    forecaster.explained = wanted
    _ = try await forecaster.forecast { item in
      guard item.name == wanted || item.name.hasSuffix("/" + wanted) else { return }
      found.withLock { $0 = $0 ?? item }
    }
    return found.withLock { $0 }
  }
}

extension FailureFilter {
  /// What `--failed` and the flags beside it ask for; nil without it.
  init?(_ arguments: ParsedArguments, command: String) throws(UsageError) {
    guard arguments.has("failed") else {
      guard let flag = ["class", "code", "host"].first(where: arguments.has) else { return nil }
      throw UsageError(
        "--\(flag) goes with --failed", hint: "type `imgflow \(command) --failed --\(flag) …`", command: command)
    }
    self.init(
      kinds: Set(arguments.all("class").compactMap(FaultClass.init(rawValue:))), codes: Set(arguments.all("code")),
      hosts: Set(arguments.all("host")))
  }
}

/// A forecast as people and programs read it.
struct PlanReport {
  var plan: Plan
  var forecast: Forecast

  /// For people.
  var text: String {
    var lines: [String] = []
    for source in forecast.sources {
      let broken = source.broken > 0 ? ", \(source.broken) of them no good" : ""
      lines.append(
        source.isElsewhere
          ? "source \(source.id): ? items (they stand on another host, which is asked when the manifest is run)"
          : "source \(source.id): \(source.items) items\(broken)")
    }
    lines.append("")
    lines += table(
      [["stage", "op", "operations", "to run", "done"]]
        + forecast.stages.map { stage in
          let bound = stage.isUpperBound ? "≤ " : ""
          return [
            stage.id, stage.op, stage.operations.map { bound + String($0) } ?? "?",
            stage.toRun.map { bound + String($0) } ?? "?", stage.done.map { String($0) } ?? "?",
          ]
        })
    let passes = PlanGraph(plan).passes
    if !passes.isEmpty {
      lines.append("one pass: " + passes.map { "[" + $0.joined(separator: " → ") + "]" }.joined(separator: " "))
    }
    lines.append("")
    lines.append("\(forecast.items) items: \(forecast.done) done, \(forecast.items - forecast.done) to run")
    for (reason, count) in forecast.reasons { lines.append("  \(count)  \(reason)") }
    lines.append(
      "bytes: "
        + (forecast.unknownSizes == 0
          ? ByteCount(forecast.knownBytes).text
          : forecast.knownBytes > 0 ? "\(ByteCount(forecast.knownBytes).text) known, the rest ?" : "?"))
    if let online = forecast.online {
      let failures = online.failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      let words = failures.map { "\($0.key) × \($0.value)" }.joined(separator: ", ")
      lines.append(
        "asked for \(online.asked) items: \(online.found) are there"
          + (failures.isEmpty ? "" : ", \(online.asked - online.found) would fail: \(words)"))
    }
    for host in forecast.hosts.prefix(10) {
      let least = host.leastTime.map { ", at least \(decimal($0.seconds, digits: 0)) s by its limits" } ?? ""
      lines.append(
        "host \(host.host): \(host.requests) requests, at most \(host.connections) at once\(least)")
    }
    if forecast.hosts.count > 10 { lines.append("and \(forecast.hosts.count - 10) more hosts") }
    lines.append("output: \(plan.settings.outputFolder)")
    let overwrites = forecast.overwrites
    if overwrites.ours > 0 { lines.append("\(overwrites.ours) files of earlier runs would be written anew") }
    if overwrites.foreign > 0 {
      lines.append("\(overwrites.foreign) files that no run has made would be overwritten:")
      for path in overwrites.some { lines.append("  \(path)") }
    }
    if let warning = roomWarning { lines.append(warning) }
    if forecast.orphanCount > 0 {
      lines.append("\(forecast.orphanCount) files that no item makes any more (`run --prune` removes them):")
      for path in forecast.orphans { lines.append("  \(path)") }
    }
    for plugin in plan.plugins {
      lines.append(
        "plugin \(plugin.name) \(plugin.version): \(plugin.permissions.joined(separator: ", "))  (\(plugin.folder))")
    }
    if !plan.environment.isEmpty {
      lines.append("reads from the environment: \(plan.environment.joined(separator: ", "))")
    }
    if !plan.secretNames.isEmpty { lines.append("reads secrets: \(plan.secretNames.joined(separator: ", "))") }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Why temporary files may take more room than they may; nil where they do not, or nobody can know.
  private var roomWarning: String? {
    guard let limit = plan.settings.temp, forecast.knownBytes > limit,
      let gate = plan.stages.first(where: { !$0.after.isEmpty && !$0.scope.isBarrier })
    else { return nil }
    return "warning: all items wait before `\(gate.id)`, \(ByteCount(forecast.knownBytes).text) at least, "
      + "and `limits.temp` is \(ByteCount(limit).text) (disk.budget)"
  }

  private func table(_ rows: [[String]]) -> [String] {
    let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        line += column < 2 ? cell + padding + "  " : padding + cell + "  "
      }
      while line.hasSuffix(" ") { line.removeLast() }
      return line
    }
  }

  /// For programs.
  var json: String {
    let warnings: [Value] = roomWarning.map { [.string($0)] } ?? []
    var writer = JSONWriter()
    writer.value(.map(facts.merging(["warnings": .list(warnings)])))
    return writer.text + "\n"
  }

  private var facts: Fields {
    [
      "format_version": 1, "items": .int(forecast.items), "done": .int(forecast.done),
      "to_run": .int(forecast.items - forecast.done),
      "sources": .list(
        forecast.sources.map {
          .map(["id": .string($0.id), "items": $0.isElsewhere ? .null : .int($0.items), "broken": .int($0.broken)])
        }),
      "stages": .list(
        forecast.stages.map {
          .map([
            "id": .string($0.id), "op": .string($0.op), "operations": $0.operations.map(Value.int) ?? .null,
            "to_run": $0.toRun.map(Value.int) ?? .null, "done": $0.done.map(Value.int) ?? .null,
            "upper_bound": .bool($0.isUpperBound),
          ])
        }),
      "passes": .list(PlanGraph(plan).passes.map { .list($0.map(Value.string)) }),
      "reasons": .list(
        forecast.reasons.map { .map(["reason": .string($0.reason), "items": .int($0.count)]) }),
      "hosts": .list(
        forecast.hosts.map {
          .map([
            "host": .string($0.host), "requests": .int($0.requests), "connections": .int($0.connections),
            "least_s": $0.leastTime.map { .double($0.seconds) } ?? .null,
          ])
        }),
      "bytes": .map(["known": .int(forecast.knownBytes), "unknown_items": .int(forecast.unknownSizes)]),
      "online": forecast.online.map { online in
        .map([
          "asked": .int(online.asked), "found": .int(online.found),
          "failed": .list(
            online.failures.sorted { $0.key < $1.key }.map { .map(["code": .string($0.key), "n": .int($0.value)]) }),
        ])
      } ?? .null,
      "overwrites": .map([
        "ours": .int(forecast.overwrites.ours), "foreign": .int(forecast.overwrites.foreign),
        "first": .list(forecast.overwrites.some.map(Value.string)),
      ]),
      "orphans": .map([
        "count": .int(forecast.orphanCount), "first": .list(forecast.orphans.map(Value.string)),
      ]),
      "output": .string(plan.settings.outputFolder), "env": .list(plan.environment.map(Value.string)),
      "plugins": .list(
        plan.plugins.map {
          .map([
            "name": .string($0.name), "version": .string($0.version), "folder": .string($0.folder),
            "permissions": .list($0.permissions.map(Value.string)),
          ])
        }),
      "secrets": .list(plan.secretNames.map(Value.string)),
    ]
  }
}
