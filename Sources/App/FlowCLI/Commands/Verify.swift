internal import FlowBase
internal import FlowParts
internal import FlowPlan
internal import FlowRun
internal import FlowStore

extension Command {
  /// `imgflow verify [MANIFEST]`.
  static let verify = Command(.verify) { arguments, console in
    let loaded = LoadedManifest(arguments, console)
    guard let plan = loaded.plan else {
      console.say(DiagnosticText(isColoured: console.coloursErrors, line: loaded.line).text(loaded.diagnostics))
      return 2
    }
    let lock = arguments.has("no-lock") ? nil : try LockFile(at: LockFile.path(of: loaded.path))
    let report = try await Verification.make(plan, lock: lock)
    console.write(arguments.has("json") ? report.json : report.text(manifest: loaded.path))
    return report.isClean ? 0 : 3
  }
}

/// Whether the files of earlier runs are what they were, and what is locked.
struct Verification: Sendable {
  /// How many files were looked at.
  private var files = 0
  private var altered: [String] = []
  private var missing: [String] = []
  private var differences: [LockDifference] = []

  var isClean: Bool { altered.isEmpty && missing.isEmpty && differences.isEmpty }

  /// Reads every file, on a thread of its own.
  static func make(_ plan: Plan, lock: LockFile?) async throws -> Verification {
    let result = await withCheckedContinuation { continuation in
      WorkerThread.start("verify") {
        continuation.resume(returning: Result { () throws(Fault) in try Verification(plan, lock) })
      }
    }
    return try result.get()
  }

  private init(_ plan: Plan, _ lock: LockFile?) throws(Fault) {
    let folder = StateFolder(directory: plan.state.folder, stem: plan.state.stem)
    let reader = try JournalReader(path: folder.journal)
    if SmallFiles.isFolder(plan.settings.outputFolder) {
      let tree = try OutputTree(root: plan.settings.outputFolder)
      let complete = try reader.lastCompleteRun() ?? 0
      let standIns = try StandIns.all(in: reader)
      var last = 0
      while true {
        let page = try reader.outputs(after: last, limit: 512)
        guard let end = page.last else { break }
        last = end.row
        var counted: [OutputRecord] = []
        for (_, output) in page {
          // What no item makes any more is `plan`'s matter. An item that failed since has what it had before.
          var counts = output.run >= complete || standIns.contains(output.owner.item)
          if !counts { counts = try Verification.hasFailedSince(output.owner.item, complete, reader) }
          if counts { counted.append(output) }
        }
        files += counted.count
        for (output, condition) in zip(counted, try tree.conditions(of: counted)) {
          switch condition {
          case .unchanged, .touched: continue
          case .altered: altered.append(output.path)
          case .missing: missing.append(output.path)
          }
        }
      }
    } else {
      missing = [plan.settings.outputFolder]
    }
    if let lock { differences = try LockMaker.differences(of: plan, from: lock) }
  }

  private static func hasFailedSince(_ item: ItemID, _ run: Int, _ reader: JournalReader) throws(Fault) -> Bool {
    guard let standing = try reader.standing(of: item) else { return false }
    return standing.run >= run && standing.status != .ok && standing.status != .filtered
  }

  func text(manifest: String) -> String {
    var lines = altered.map { "altered  \($0)" } + missing.map { "missing  \($0)" } + differences.map(\.text)
    if isClean {
      lines.append("\(files) files are as they were")
    } else {
      lines.append(
        "\(files) files: \(altered.count) altered, \(missing.count) missing, \(differences.count) not as locked")
      if !altered.isEmpty || !missing.isEmpty { lines.append("mend them with: imgflow run \(manifest) --check digest") }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  var json: String {
    var writer = JSONWriter()
    writer.value(
      .map([
        "format_version": 1, "files": .int(files), "altered": .list(altered.map(Value.string)),
        "missing": .list(missing.map(Value.string)), "lock": .list(differences.map { .string($0.text) }),
      ]))
    return writer.text + "\n"
  }
}
