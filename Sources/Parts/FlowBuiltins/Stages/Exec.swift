internal import FlowBase
internal import FlowExpressions
public import FlowParts

/// Runs a program for each leg, or once for a group or the run: a list of words, never a line for a shell.
public struct Exec: Stage {
  /// What is to be said of it.
  public static let part: StagePart = {
    var spec = PartSpec(
      name: "exec", role: .stage, summary: "Runs a program: a list of words, never a line for a shell.",
      fields: [
        FieldSpec(
          "argv", .list(.string), required: true,
          "The program and its arguments; `${item.path}` is the file of the item's bytes, `${out.path}` the one to "
            + "write, to which an extension may be added."),
        FieldSpec(
          "env", .map(.string), "Variables beside `PATH`, `HOME`, `LANG` and `TMPDIR`, which it has anyway."),
        FieldSpec("cwd", .string, "The folder that it starts in; the manifest's unless named."),
      ], shorthand: "argv", per: [.leg, .item, .group, .run],
      example: """
        stages:
          - fetch
          - exec: [jpegtran, -optimize, -outfile, "${out.path}", "${item.path}"]
            timeout: 30s

        """)
    spec.runsProgram = true
    return StagePart(spec) { Exec() }
  }()

  /// Runs the program on the leg; what it writes to `out.path` is the leg's content from then on.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    let needs = Exec.needs(context.config)
    guard needs.input || needs.output else {
      try await Exec.run(context.config, context)
      return StageResult()
    }
    let scratch = try context.services.makeScratch()
    defer { try? FileSystem.removeTree(scratch) }
    var input: HeldFile?
    var path = leg.value(of: Reference(.item, ["path"]))?.asString
    if needs.input, let content = leg.content {
      let file = try await context.services.file(of: content, in: scratch, named: "in")
      path = try file.path
      input = file
    }
    if needs.input, path == nil {
      throw Fault(
        "content.missing", .permanent,
        "`item.path` stands in \(context.stage), and the item has no bytes yet: it stands behind no stage that gives "
          + "them")
    }
    let folder = PathText.join(scratch, "out")
    try SmallFiles.makeFolder(folder)
    let scope = ProgramScope(input: path, output: PathText.join(folder, "out"), inner: leg)
    // A file of the user's own is the user's own; ours is read by others too, and is what its digest says.
    let ours = path == leg.item.fields["path"]?.asString ? nil : path
    let before = ours.flatMap(Exec.facts)
    try await Exec.run(try context.config.resolved(in: scope), context)
    if let ours, let before, Exec.facts(of: ours) != before {
      throw Fault(
        "exec.input", .permanent,
        "the program of \(context.stage) has changed the file `${item.path}` that it was given to read; "
          + "let it write to `${out.path}`")
    }
    // The file of bytes that were in memory goes with the scratch folder, and not before the program has ended.
    withExtendedLifetime(input) {}
    return needs.output ? try Exec.result(in: folder, context) : StageResult()
  }

  /// Runs the program once.
  public func gather(_ gathering: Gathering, in context: StageContext) async throws -> StageResult {
    if Exec.needs(context.config).output {
      throw Fault(
        "config.exec", .config,
        "`out.path` means nothing where \(context.stage) runs once for many items; "
          + "let the program write where it is to write")
    }
    try await Exec.run(context.config, context)
    return StageResult()
  }

  /// What tells whether a file was written: its length, its time, and whether it is another.
  private static func facts(of path: String) -> [Int]? {
    (try? FileSystem.facts(path)).map { [$0.size, $0.modified, Int(truncatingIfNeeded: $0.inode)] }
  }

  private static func run(_ config: Config, _ context: StageContext) async throws(Fault) {
    let words = config.texts("argv")
    guard let program = words.first, !program.isEmpty else {
      throw Fault("config.exec", .config, "`argv` of \(context.stage) names no program")
    }
    let settings = context.services.settings
    let folder = config.text("cwd").map { PathText.absolute($0, from: settings.folder) } ?? settings.folder
    var environment = ProgramOrder.plainEnvironment
    for (name, value) in config.value("env")?.asMap ?? [:] { environment[name] = value.text }
    let report = await ProgramLoop.shared.run(ProgramOrder(words, environment: environment, folder: folder))
    if Task.isCancelled { throw Fault(CancellationError()) }
    switch report.end {
    case .exited(0): return
    case .unstartable(let reason):
      throw Fault(
        "config.exec", .config,
        "`\(program)` cannot be started: \(reason.words); install it, or give its whole path")
    case .exited, .signalled:
      let words = report.lastLines()
      throw Fault(
        "exec.failed", .permanent, "`\(program)` \(report.end.words)" + (words.isEmpty ? "" : ": \(words)"))
    }
  }

  /// The one file that the program has written.
  private static func result(in folder: String, _ context: StageContext) throws(Fault) -> StageResult {
    let names = try SmallFiles.names(in: folder)
    guard names.count == 1, let name = names.first else {
      throw Fault(
        "exec.output", .permanent,
        names.isEmpty
          ? "the program of \(context.stage) ended well and has not written `${out.path}`"
          : "the program of \(context.stage) has written \(names.count) files, and one was expected: "
            + names.sorted().prefix(5).joined(separator: " "))
    }
    let (file, media) = try context.services.takeOver(name, below: folder)
    var fields: Fields = ["bytes": .int(file.bytes), "sha256": .string(file.sha256.hex)]
    if let path = file.writtenPath { fields["path"] = .string(path) }
    if let media { fields["media"] = .string(media) }
    return StageResult(content: .file(file), fields: fields)
  }

  /// Whether the words name the item's file, and the file to write.
  private static func needs(_ config: Config) -> (input: Bool, output: Bool) {
    let references = config.entries.flatMap { $0.value.openReferences }
    return (
      references.contains { $0.namespace == .item && $0.path == ["path"] },
      references.contains { $0.namespace == .out }
    )
  }
}

/// The files that a program works on, over what the leg says.
private struct ProgramScope: Scope {
  var input: String?
  var output: String
  var inner: Leg

  func value(of reference: Reference) -> Value? {
    switch reference.namespace {
    case .out: reference.path == ["path"] ? .string(output) : .null
    case .item where reference.path == ["path"]: input.map(Value.string) ?? .null
    default: inner.value(of: reference)
    }
  }
}

extension ConfigValue {
  /// The names that are still without a value.
  fileprivate var openReferences: [Reference] {
    switch self {
    case .value: []
    case .template(let template, _): template.references
    case .condition(let expression): expression.references
    case .list(let elements): elements.flatMap(\.openReferences)
    case .map(let entries): entries.flatMap(\.value.openReferences)
    }
  }
}
