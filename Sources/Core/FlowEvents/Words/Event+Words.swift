public import FlowBase

extension ItemSubject {
  /// The item's place and address, as people count: `3 of 10: https://…`.
  public var words: String {
    let place = total.map { "\(index) of \($0)" } ?? "\(index)"
    return "\(place): \(url ?? item)"
  }
}

extension Event {
  /// How loud it is to be told.
  public var level: Payload.LogLine.Level {
    switch payload {
    case .itemStart, .itemProgress, .runProgress, .stageStart, .output: .debug
    case .itemRetry, .pluginNoise, .sinkDropped: .warn
    case .itemError, .pluginCrash, .sinkError: .error
    case .itemEnd(let end): end.status == .failed ? .error : .info
    case .barrierEnd(let end): end.status == .failed ? .error : .info
    case .runEnd(let end): end.exit == 0 ? .info : .error
    case .log(let line): line.level
    case .diagnostic(let found): found.diagnostic.severity == .error ? .error : .warn
    case .streamStart, .runStart, .runState, .sourceEnd, .stageEnd, .barrierStart, .pluginStart, .control: .info
    }
  }

  /// The event in one line for people.
  public var words: String {
    let item = subject.map(\.words) ?? ""
    let name = subject.flatMap { $0.url == nil ? nil : "  (\($0.item))" } ?? ""
    switch payload {
    case .streamStart(let start):
      return "imgflow \(start.tool)  \(start.manifest ?? "without a manifest")  run \(run)"
        + (start.resumedFrom.map { ", goes on from \($0)" } ?? "")
    case .runStart(let start):
      return "starts: " + Words.list(start.sources) + " through " + Words.list(start.stages)
    case .runState(let move): return "run \(move.from.rawValue) → \(move.to.rawValue)  by \(move.by)"
    case .runProgress(let progress): return progress.words
    case .runEnd(let end): return "\(end.result.rawValue): \(end.items.words), \(ByteCount(end.bytesIn).text) received"
    case .sourceEnd(let end):
      return "source \(end.source): \(Words.count(end.items, "item"))"
        + (end.duplicates > 0 ? ", \(Words.count(end.duplicates, "duplicate"))" : "") + (end.isEmpty ? ", empty" : "")
    case .stageStart(let start):
      return "stage \(start.stage) starts" + (start.op == start.stage ? "" : "  (\(start.op))")
    case .stageEnd(let end):
      return "stage \(end.stage) done: \(end.ok) ok, \(end.failed) failed, \(end.filtered) filtered"
        + "  \(end.elapsed.words)"
    case .barrierStart(let start): return "\(start.words) starts on \(Words.count(start.items, "item"))"
    case .barrierEnd(let end):
      return "\(end.barrier.words) \(end.status.rawValue)" + (end.error.map { "  \($0.words)" } ?? "")
    case .itemStart: return "\(item) starts"
    case .itemProgress(let progress): return "\(item)  \(progress.words)"
    case .itemRetry(let retry):
      return "\(item)  try \(retry.attempt) failed, the next in \(retry.delay.words)  \(retry.error.words)\(name)"
    case .itemError(let error): return "\(item)  \(subject?.stage.map { "\($0): " } ?? "")\(error.words)\(name)"
    case .itemEnd(let end): return "\(item)  \(end.words)\(name)"
    case .pluginStart(let start): return "plugin \(start.plugin) \(start.version) started  (process \(start.pid))"
    case .pluginCrash(let crash):
      let how = crash.signal.map { "signal \($0)" } ?? crash.code.map { "exit code \($0)" } ?? "no exit code"
      return "plugin \(crash.plugin) crashed: \(how)" + (crash.stderr.isEmpty ? "" : "  \(crash.stderr)")
    case .pluginNoise(let noise): return "plugin \(noise.plugin) wrote no message (\(noise.count)): \(noise.line)"
    case .output(let output): return "\(output.path)  \(ByteCount(output.bytes).text)"
    case .sinkError(let failure): return "sink \(failure.sink) given up: \(failure.error.words)"
    case .sinkDropped(let dropped): return "sink \(dropped.sink) skipped \(dropped.count) of \(dropped.type.rawValue)"
    case .control(let control):
      return "\(control.by): \(control.verb) \(control.scope) \(control.isAccepted ? "done" : "refused")"
        + (control.message.isEmpty ? "" : "  \(control.message)")
    case .log(let line): return line.message
    case .diagnostic(let found): return found.diagnostic.line
    }
  }
}

enum Words {
  static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
  static func list(_ names: [String]) -> String { names.isEmpty ? "nothing" : names.joined(separator: ", ") }
}

extension ItemCounts {
  /// The counts for people, those that are 0 left out: `981 of 1000 ok (700 from before), 7 failed`.
  public var words: String {
    var parts = ["\(ok)\(total.map { " of \($0)" } ?? "") ok" + (cached > 0 ? " (\(cached) from before)" : "")]
    if filtered > 0 { parts.append("\(filtered) filtered") }
    if failed > 0 { parts.append("\(failed) failed") }
    if cancelled > 0 { parts.append("\(cancelled) cancelled") }
    return parts.joined(separator: ", ")
  }
}

extension EventError {
  /// The failure for people: code, host and message.
  public var words: String {
    let host = fault.host.map { " at \($0)" } ?? ""
    return "\(fault.code)\(host): \(fault.message)"
  }
}

extension Payload.RunProgress {
  /// The reading for people.
  public var words: String {
    var parts = [items.words, ByteCount(bytesIn).text]
    if let ratio { parts.insert("\(Int(ratio * 100)) %", at: 0) }
    if bytesPerSecond >= 1 { parts.append("\(ByteCount(Int(bytesPerSecond)).text)/s") }
    if itemsPerSecond > 0 { parts.append("\(decimal(itemsPerSecond, digits: 1)) items/s") }
    if let eta { parts.append("\(eta.words) left") }
    return parts.joined(separator: ", ")
  }
}

extension Payload.ItemProgress {
  /// The reading for people.
  public var words: String {
    let bytes = ByteCount(bytes).text + (size.map { " of \(ByteCount($0).text)" } ?? "")
    return ratio.map { "\(Int($0 * 100)) %  \(bytes)" } ?? bytes
  }
}

extension Payload.ItemEnd {
  /// What came of the item, for people.
  public var words: String {
    var parts = [status.rawValue]
    if isCached { parts.append("from before") }
    if isShared { parts.append("shared") }
    if !outputs.isEmpty { parts.append(ByteCount(outputs.reduce(0) { $0 + $1.bytes }).text) }
    let elapsed = stages.reduce(Interval.zero) { $0 + $1.elapsed }
    if elapsed > .zero { parts.append(elapsed.words) }
    if attempts > 1 { parts.append("\(attempts) tries") }
    if let reason { parts.append(reason) }
    if let error { parts.append(error.words) }
    return parts.joined(separator: "  ")
  }
}

extension Payload.BarrierStart {
  fileprivate var words: String { group.map { "\(stage) [\($0)]" } ?? "\(stage) [run]" }
}

extension Diagnostic {
  /// The diagnostic in one line: place, severity, code, message, remedy.
  public var line: String {
    let place = place.map { "\($0.file):\($0.mark.line):\($0.mark.column): " } ?? ""
    return "\(place)\(severity.rawValue)[\(code)]: \(message)" + (hint.map { "  (\($0))" } ?? "")
  }
}
