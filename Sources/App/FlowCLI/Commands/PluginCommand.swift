internal import FlowBase
internal import FlowPlugins

extension Command {
  /// `imgflow plugin new|check|test|bench|replay`.
  static let plugin = Command(.plugin) { arguments, console in
    let name = arguments.operand("NAME|DIR|FILE") ?? "."
    switch arguments.operand("VERB") {
    case "new": return try PluginTool(arguments, console).make(name)
    case "check": return try await PluginTool(arguments, console).check(name)
    case "test": return try await PluginTool(arguments, console).test(name)
    case "bench": return try await PluginTool(arguments, console).bench(name)
    default: return try await PluginTool(arguments, console).replay(name)
    }
  }
}

/// What the command line does for who writes a plugin.
struct PluginTool: Sendable {
  private let arguments: ParsedArguments
  private let console: Console

  init(_ arguments: ParsedArguments, _ console: Console) {
    self.arguments = arguments
    self.console = console
  }

  /// Writes a first plugin into a folder of its name.
  func make(_ path: String) throws -> Int {
    let language = arguments.value("lang").flatMap(PluginTemplate.Language.init(rawValue:)) ?? .python
    let template = PluginTemplate(language, name: PathText.name(of: path))
    guard template.isNamed else {
      throw UsageError(
        "`\(path)` cannot name a plugin",
        hint: "words of letters, digits, `_` and `-` with a dot between: acme.face-crop",
        command: "plugin")
    }
    let folder = PathText.absolute(path)
    if SmallFiles.exists(folder) {
      console.say("imgflow: `\(path)` is there already; nothing was changed")
      return 1
    }
    for file in template.files {
      let target = PathText.join(folder, file.path)
      try SmallFiles.makeFolder(PathText.parent(of: target))
      try SmallFiles.create(target, Array(file.text.utf8), mode: file.isProgram ? 0o777 : 0o666)
    }
    console.line("\(path): a plugin with the op `\(template.name)`")
    if language == .swift { console.line("  \(path)/build.sh               build it") }
    console.line("  imgflow plugin test \(path)     run its tests")
    console.line("  imgflow plugin check \(path)    try what every plugin must do")
    return 0
  }

  /// Tries what the protocol asks of every plugin.
  func check(_ folder: String) async throws -> Int {
    guard let kit = kit(for: folder) else { return 2 }
    return try await told { report in try await kit.check(report: report) }
  }

  /// Runs the plugin's own tests.
  func test(_ folder: String) async throws -> Int {
    guard let kit = kit(for: folder) else { return 2 }
    return try await told { report in try await kit.test(report: report) }
  }

  /// Says how many items a second the plugin takes.
  func bench(_ folder: String) async throws -> Int {
    guard let kit = kit(for: folder) else { return 2 }
    let measure = try await kit.bench(op: arguments.value("op"), items: arguments.int("items"))
    if arguments.has("json") {
      var writer = JSONWriter()
      writer.value([
        "items": .int(measure.items), "seconds": .double(measure.elapsed.seconds), "window": .int(measure.window),
        "items_per_s": .double(measure.perSecond), "us_per_item": .double(measure.microseconds),
      ])
      console.line(writer.text)
    } else {
      console.line(
        "\(measure.items) items in \(decimal(measure.elapsed.seconds, digits: 2)) s: "
          + "\(decimal(measure.perSecond, digits: 0)) a second, \(decimal(measure.microseconds, digits: 1)) µs each "
          + "with a window of \(measure.window)")
    }
    return 0
  }

  /// Says to the recorded plugins what was said to them, and compares what they answer.
  func replay(_ file: String) async throws -> Int {
    let record = try PluginRecord(bytes: SmallFiles.read(file, limit: 1 << 30))
    return try await told { report in
      try await record.replay(in: PluginSurroundings(launcher: PluginCatalog.launcher), report: report)
    }
  }

  private func kit(for folder: String) -> PluginKit? {
    let read = PluginManifest.read(folder: folder)
    if !read.problems.isEmpty {
      console.say(DiagnosticText(isColoured: console.coloursErrors).text(read.problems))
    }
    return read.manifest.map { PluginKit($0, in: PluginSurroundings(launcher: PluginCatalog.launcher)) }
  }

  /// Writes each finding as it comes; 0 if all went well, 1 if not.
  private func told(_ body: (@escaping (PluginKit.Finding) -> Void) async throws -> Void) async throws -> Int {
    let counts = Guarded((all: 0, failed: 0))
    let asJSON = arguments.has("json")
    try await body { [console] finding in
      counts.withLock { counts in
        counts.all += 1
        if finding.failure != nil { counts.failed += 1 }
      }
      if asJSON {
        var writer = JSONWriter()
        writer.value([
          "what": .string(finding.what), "ok": .bool(finding.failure == nil),
          "failure": finding.failure.map(Value.string) ?? .null,
        ])
        console.line(writer.text)
      } else {
        console.line(finding.failure.map { "FAIL  \(finding.what): \($0)" } ?? "ok    \(finding.what)")
      }
    }
    let (all, failed) = counts.withLock { ($0.all, $0.failed) }
    if !asJSON {
      console.line(
        all == 0 ? "there is nothing to try" : failed == 0 ? "all \(all) went well" : "\(failed) of \(all) failed")
    }
    return failed == 0 ? 0 : 1
  }
}
