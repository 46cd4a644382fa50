internal import FlowBase
internal import FlowPlan
internal import FlowRun
internal import FlowStore

extension Command {
  /// `imgflow cache key|prune [MANIFEST]`.
  static let cache = Command(.cache) { arguments, console in
    arguments.operand("VERB") == "key" ? try key(arguments, console) : try await prune(arguments, console)
  }

  private static func lockPath(_ arguments: ParsedArguments) -> String {
    LockFile.path(of: arguments.operand("MANIFEST") ?? "imgflow.yaml")
  }

  private static func key(_ arguments: ParsedArguments, _ console: Console) throws -> Int {
    let path = lockPath(arguments)
    guard let lock = try LockFile(at: path) else {
      console.say("imgflow: there is no lock `\(path)`; `imgflow lock` writes one (lock.missing)")
      return 1
    }
    console.line(lock.digest.hex)
    return 0
  }

  private static func prune(_ arguments: ParsedArguments, _ console: Console) async throws -> Int {
    guard let text = arguments.value("max-size"), let limit = ByteCount(parsing: text) else {
      throw UsageError(
        "--max-size SIZE is missing: how much may stay", hint: "type `imgflow cache prune --max-size 5GB`",
        command: "cache")
    }
    guard let folder = try self.folder(arguments, console) else { return 2 }
    var kept = Set<Digest>()
    if arguments.has("keep-lock"), let lock = try LockFile(at: lockPath(arguments)) {
      kept = Set(lock.entries.values.map(\.digest))
    }
    let pruning = try await onThread { [kept] () throws(Fault) in
      try ContentStore(path: folder).prune(toBytes: limit.bytes, keeping: kept)
    }
    if arguments.has("json") {
      var writer = JSONWriter()
      writer.value(
        .map([
          "format_version": 1, "removed_files": .int(pruning.removedFiles), "removed_bytes": .int(pruning.removedBytes),
          "left_files": .int(pruning.leftFiles), "left_bytes": .int(pruning.leftBytes),
        ]))
      console.line(writer.text)
    } else {
      console.line(
        "removed \(pruning.removedFiles) files (\(ByteCount(pruning.removedBytes).text)), left \(pruning.leftFiles) "
          + "(\(ByteCount(pruning.leftBytes).text)) in \(folder)")
    }
    return 0
  }

  /// The content store's folder: named, or the manifest's.
  private static func folder(_ arguments: ParsedArguments, _ console: Console) throws -> String? {
    if let folder = arguments.value("dir") { return PathText.absolute(folder) }
    let loaded = LoadedManifest(arguments, console)
    guard let plan = loaded.plan else {
      console.say(DiagnosticText(isColoured: console.coloursErrors, line: loaded.line).text(loaded.diagnostics))
      return nil
    }
    guard let folder = plan.state.cache else {
      throw UsageError(
        "`\(loaded.path)` names no content store", hint: "write `state: { cache: DIR }` in it, or name one with --dir",
        command: "cache")
    }
    return folder
  }

  private static func onThread<Made: Sendable>(
    _ body: @escaping @Sendable () throws(Fault) -> Made
  ) async throws -> Made {
    let result = await withCheckedContinuation { continuation in
      WorkerThread.start("cache") { continuation.resume(returning: Result { () throws(Fault) in try body() }) }
    }
    return try result.get()
  }
}
