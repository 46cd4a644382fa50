internal import FlowBase
internal import FlowExpressions
public import FlowParts
internal import FlowScript

/// Calls a function of a Lua script for each leg.
///
/// What the function returns decides: fields to set, `false` to drop the item, a text as its new name, or a list of
/// items that go on in its place. Each thread that works has a state of its own.
public final class Script: Stage {
  /// What is to be said of it.
  public static let part: StagePart = {
    var spec = PartSpec(
      name: "script", role: .stage,
      summary: "Calls a Lua function that sets fields, names, drops or multiplies items.",
      fields: [
        FieldSpec("file", .string, phase: .load, required: true, "The script's path."),
        FieldSpec("function", .string, phase: .load, default: "item", "The function that is called."),
        FieldSpec("args", .map(.anything), "Values that the function gets as its second argument."),
        FieldSpec(
          "sets", .map(.choice(["string", "integer", "number", "boolean", "list", "map", "any"])), phase: .load,
          "The fields that it sets, with their types; unless named, every field counts as possible behind it."),
      ], shorthand: "file", sets: fields,
      example: "stages:\n  - fetch\n  - script: { file: rules.lua, sets: { title: string } }\n")
    spec.isOpen = { $0["sets"] == nil }
    spec.makesItems = true
    spec.readsBeside = { _ in [Reference(.row, []), Reference(.for, [])] }
    spec.digest = { ScriptFile.digest($0, $1) }
    spec.check = { ScriptFile.problems($0, $1, function: "item") }
    return StagePart(spec) { Script() }
  }()

  private let pool = ScriptPool()

  init() {}

  /// Asks the function about the leg.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    let function = context.config.text("function") ?? "item"
    let arguments: [Value] = [.map(try Script.table(of: leg)), .map(context.config.value("args")?.asMap ?? [:])]
    let answer = try pool.use(context) { script throws(ScriptProblem) in
      try script.call(function, arguments, results: 2)
    }
    return try Script.result(answer[0], reason: answer[1].asString, leg: leg, file: context.config.text("file") ?? "")
  }

  /// The item as the script sees it: its fields, and `row`, `matrix` and `for` as tables in it.
  static func table(of leg: Leg) throws(Fault) -> Fields {
    var table = leg.item.fields.merging(leg.fields)
    if table["path"] == nil, case .file(let file)? = leg.content { table["path"] = .string(try file.path) }
    if !leg.item.row.isEmpty { table["row"] = .map(leg.item.row) }
    if !leg.axes.isEmpty { table["matrix"] = .map(leg.axes) }
    if !leg.item.loop.isEmpty { table["for"] = .map(leg.item.loop) }
    if !leg.from.isEmpty { table["from"] = .map(leg.from) }
    return table
  }

  /// What an answer of the function means.
  static func result(_ answer: Value, reason: String?, leg: Leg, file: String) throws(Fault) -> StageResult {
    switch answer {
    case .null, .bool(true): return StageResult()
    case .bool(false): return StageResult(.drop(reason: reason ?? "the script has dropped it"))
    case .map(let fields): return StageResult(fields: fields)
    case .list(let entries) where entries.isEmpty: return StageResult(.many([]))
    case .list(let entries):
      var made: [MadeItem] = []
      for (place, entry) in entries.enumerated() { made.append(try item(entry, number: place + 1, file: file)) }
      return StageResult(.many(made))
    case .string(let name):
      return StageResult(fields: [
        "name": .string(name), "stem": .string(FileName.stem(of: name)), "ext": .string(FileName.ext(of: name)),
      ])
    case .int, .double:
      throw Fault(
        "script.result", .permanent,
        "\(file): the function returned \(answer.kindName) `\(answer.text)`; expected is a table of fields to set, "
          + "`false` to drop the item, a text as its name, or a list of items")
    }
  }

  private static func item(_ entry: Value, number: Int, file: String) throws(Fault) -> MadeItem {
    if let url = entry.asString { return MadeItem(key: String(number), url: url) }
    guard var fields = entry.asMap else {
      throw Fault(
        "script.result", .permanent,
        "\(file): item \(number) of the list is \(entry.kindName); expected is a table such as { key = \"a\" }")
    }
    var made = MadeItem(key: fields["key"]?.text ?? String(number))
    made.url = fields["url"]?.asString
    made.row = fields["row"]?.asMap
    for name in ["key", "url", "row"] { fields[name] = nil }
    made.fields = fields
    return made
  }

  /// The fields that a configuration declares.
  private static func fields(of config: Config) -> [ItemField] {
    (config.value("sets")?.asMap ?? [:]).map { name, type in
      let kind: ValueType =
        switch type.text {
        case "string": .string
        case "integer": .integer
        case "number": .number
        case "boolean": .bool
        case "list": .list(.any)
        case "map": .map
        default: .any
        }
      return ItemField(name, kind)
    }
  }
}

/// A script's file, as far as it can be looked at before anything runs.
enum ScriptFile {
  /// The most bytes that a script may have.
  static let limit = 4 << 20

  static func path(_ config: Config, _ folder: String) -> String? {
    config.text("file").map { PathText.absolute($0, from: folder) }
  }

  /// The digest of the script's text.
  static func digest(_ config: Config, _ folder: String) -> String {
    guard let path = path(config, folder), let text = try? SmallFiles.read(path, limit: limit) else { return "" }
    return String(Digest.sha256(of: text).hex.prefix(32))
  }

  /// Why the script cannot work: it is missing, no Lua, or lacks its function.
  static func problems(_ config: Config, _ folder: String, function: String) -> [String] {
    guard let path = path(config, folder) else { return [] }
    do {
      let script = try ScriptState(SmallFiles.read(path, limit: limit), name: config.text("file") ?? path)
      let function = config.text("function") ?? function
      return script.has(function) ? [] : ["\(script.name) has no function `\(function)`"]
    } catch let problem as ScriptProblem {
      return [problem.message]
    } catch let fault as Fault {
      return [fault.message]
    } catch {
      return ["\(error)"]
    }
  }
}

/// The states of one script: as many as threads have worked at once.
final class ScriptPool: Sendable {
  private struct State {
    var idle: [ScriptState] = []
    var text: [UInt8]?
  }
  private let state = Guarded(State())

  /// Lets nobody else use a script's state meanwhile.
  func use<Result>(
    _ context: StageContext, _ body: (ScriptState) throws(ScriptProblem) -> Result
  ) throws(Fault) -> Result {
    let script: ScriptState
    if let idle = state.withLock({ $0.idle.popLast() }) { script = idle } else { script = try load(context) }
    do throws(ScriptProblem) {
      let result = try body(script)
      state.withLock { $0.idle.append(script) }
      return result
    } catch {
      // After an error of its own a script goes on; one that met a limit may be in any state.
      if error.kind == .error || error.kind == .result { state.withLock { $0.idle.append(script) } }
      throw error.fault
    }
  }

  private func load(_ context: StageContext) throws(Fault) -> ScriptState {
    let name = context.config.text("file") ?? ""
    let path = ScriptFile.path(context.config, context.services.settings.folder) ?? ""
    let text = try state.withLock { (state) throws(Fault) in
      if let text = state.text { return text }
      let text = try SmallFiles.read(path, limit: ScriptFile.limit)
      state.text = text
      return text
    }
    let services = context.services
    do throws(ScriptProblem) {
      return try ScriptState(text, name: name) { services.log(.info, "\(name): \($0)") }
    } catch {
      throw Fault("config.script", .config, error.message)
    }
  }
}

extension ScriptProblem {
  /// The fault that an item fails with.
  var fault: Fault {
    switch kind {
    case .syntax, .missing: Fault("config.script", .config, message)
    case .error: Fault("script.error", .permanent, message)
    case .limit: Fault("script.limit", .permanent, message)
    case .result: Fault("script.result", .permanent, message)
    }
  }
}
