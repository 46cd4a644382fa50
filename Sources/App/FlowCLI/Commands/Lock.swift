internal import FlowBase
internal import FlowBuiltins
internal import FlowEvents
internal import FlowParts
internal import FlowPlan
internal import FlowRun

extension Command {
  /// `imgflow lock [MANIFEST]`.
  static let lock = Command(.lock) { arguments, console in
    let (arguments, globs) = try globs(arguments)
    let loaded = LoadedManifest(arguments, console)
    guard let plan = loaded.plan else {
      console.say(DiagnosticText(isColoured: console.coloursErrors, line: loaded.line).text(loaded.diagnostics))
      return 2
    }
    let path = LockFile.path(of: loaded.path)
    let old = try LockFile(at: path)
    let maker = LockMaker(plan, old: old) { item in globs.contains { LockChanges.matches(item, $0) } }
    let made = try await maker.make(tool: CommandLineTool.version) { runner in
      if !arguments.has("quiet") { runner.attach(Listener("progress", ProgressSink(style: .auto))) }
    }
    if let fault = made.outcome.fault { console.say("imgflow: \(fault.message) (\(fault.code))") }
    guard made.outcome.exit == .done else {
      console.say("imgflow: the lock was not written, because not all items could be fetched")
      return made.outcome.end.exit
    }
    let bytes = made.lock.bytes
    if (try? SmallFiles.read(path)) != bytes { try SmallFiles.replace(path, bytes) }
    let changes = LockChanges(from: old ?? LockFile(), to: made.lock)
    if arguments.has("json") {
      console.line(changes.json(path, made))
    } else {
      for line in changes.lines { console.line(line) }
      console.line(
        "locked \(made.lock.entries.count) items in \(path): \(made.fetched) fetched, "
          + "\(made.lock.entries.count - made.fetched) known already")
    }
    return 0
  }

  /// Which items are fetched anew; the manifest may be left out before a pattern.
  private static func globs(_ arguments: ParsedArguments) throws -> (ParsedArguments, [String]) {
    var arguments = arguments
    var globs = arguments.operands("GLOB")
    if arguments.has("update"), let first = arguments.operand("MANIFEST"), first != "-", !SmallFiles.exists(first),
      !first.hasSuffix(".yaml"), !first.hasSuffix(".yml")
    {
      globs.insert(first, at: 0)
      arguments.namedOperands["MANIFEST"] = nil
    }
    if !arguments.has("update"), let glob = globs.first {
      throw UsageError("`\(glob)` goes with --update", hint: "type `imgflow lock --update '\(glob)'`", command: "lock")
    }
    return (arguments, arguments.has("update") && globs.isEmpty ? ["*/*"] : globs)
  }
}

extension LockFile {
  /// The lock in a file; nil where there is none.
  init?(at path: String) throws(Fault) {
    guard SmallFiles.exists(path) else { return nil }
    try self.init(parsing: try SmallFiles.read(path), path: path)
  }
}

/// What a new lock changes.
struct LockChanges {
  private var added: [LockFile.Entry] = []
  private var changed: [LockFile.Entry] = []
  private var removed: [LockFile.Entry] = []

  init(from old: LockFile, to new: LockFile) {
    for (name, entry) in new.entries {
      guard let before = old.entries[name] else {
        added.append(entry)
        continue
      }
      if before.digest != entry.digest || before.url != entry.url || before.size != entry.size { changed.append(entry) }
    }
    removed = old.entries.values.filter { new.entries[$0.name] == nil }
  }

  /// A line for each item that changes, as far as a screen takes them.
  var lines: [String] {
    let all =
      added.map { ("+", $0) } + changed.map { ("~", $0) } + removed.map { ("-", $0) }
    let sorted = all.sorted { $0.1.name < $1.1.name }
    let shown = sorted.prefix(20).map { "\($0.0) \($0.1.name)  \(ByteCount($0.1.size).text)  \($0.1.digest.integrity)" }
    return sorted.count > 20 ? shown + ["… and \(sorted.count - 20) more"] : Array(shown)
  }

  func json(_ path: String, _ made: LockMaker.Made) -> String {
    var writer = JSONWriter()
    writer.value(
      .map([
        "format_version": 1, "lock": .string(path), "items": .int(made.lock.entries.count),
        "fetched": .int(made.fetched), "added": .int(added.count), "changed": .int(changed.count),
        "removed": .int(removed.count), "digest": .string(made.lock.digest.hex),
      ]))
    return writer.text
  }

  /// Whether an item, `source/key`, is meant by a pattern with `*` and `?`; a pattern without `/` is about keys.
  static func matches(_ item: String, _ pattern: String) -> Bool {
    let whole = pattern.contains("/") ? item : item.split(separator: "/", maxSplits: 1).last.map(String.init) ?? item
    return matches(Array(whole)[...], Array(pattern)[...])
  }

  private static func matches(_ text: ArraySlice<Character>, _ pattern: ArraySlice<Character>) -> Bool {
    // The place behind the last star, and what it was tried on: no other star needs to be tried again.
    var (text, pattern) = (text, pattern)
    var star: (pattern: ArraySlice<Character>, text: ArraySlice<Character>)?
    while let character = text.first {
      if pattern.first == "*" {
        pattern = pattern.dropFirst()
        star = (pattern, text)
      } else if let expected = pattern.first, expected == "?" || expected == character {
        pattern = pattern.dropFirst()
        text = text.dropFirst()
      } else if let last = star {
        star = (last.pattern, last.text.dropFirst())
        pattern = last.pattern
        text = last.text.dropFirst()
      } else {
        return false
      }
    }
    return pattern.allSatisfy { $0 == "*" }
  }
}
