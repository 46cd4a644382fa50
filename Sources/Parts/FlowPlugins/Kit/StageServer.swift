internal import FlowBase
internal import FlowEvents
internal import FlowExpressions
public import FlowParts

/// Makes a program of stages a plugin: they are the same as those in the box, and this speaks the protocol for them.
///
/// `main.swift` of such a program is one line, `await StageServer([Tint.part]).serve()`; its `plugin.yaml` names the
/// stages by the names of their specifications.
public struct StageServer: Sendable {
  private let parts: [StagePart]

  /// A server of some stages.
  public init(_ parts: [StagePart]) { self.parts = parts }

  /// Answers on standard output what is asked on standard input, until that ends.
  public func serve() async { await serve(.standardInput, .standardOutput) }

  /// Answers on one descriptor what is asked on another, until that ends.
  func serve(_ input: Descriptor, _ output: Descriptor) async {
    let session = ServerSession(parts: parts, output: output)
    let (lines, feed) = AsyncStream<[UInt8]>.makeStream()
    WorkerThread.start("plugin-input") {
      StageServer.read(input) { feed.yield($0) }
      feed.finish()
    }
    // Whoever answers millions of items keeps nothing of those that are done.
    await withDiscardingTaskGroup { group in
      for await line in lines {
        guard let message = try? JSONReader.read(line).asMap, let type = message["t"]?.asString else { continue }
        switch type {
        case "init": session.begin(message)
        case "item":
          let (id, work) = session.accept(message)
          // Entered before it can be done, which takes it out again.
          let task = session.running.withLock { running in
            let task = Task { await work() }
            running[id] = task
            return task
          }
          group.addTask { await task.value }
        case "cancel": session.running.withLock { $0[message["id"]?.asInt ?? -1] }?.cancel()
        case "ping": session.say(["t": "pong", "n": message["n"] ?? .null])
        case "drain": session.say(["t": "bye"])
        default: break
        }
      }
    }
    await session.close()
  }

  /// Hands out line by line what comes, and returns at its end.
  private static func read(_ input: Descriptor, _ give: ([UInt8]) -> Void) {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var rest: [UInt8] = []
    while let count = try? input.read(into: &buffer), count > 0 {
      var bytes = buffer[..<count]
      while let end = bytes.firstIndex(of: 0x0A) {
        if rest.isEmpty {
          give(Array(bytes[..<end]))
        } else {
          give(rest + bytes[..<end])
          rest = []
        }
        bytes = bytes[(end + 1)...]
      }
      rest += bytes
    }
  }
}

/// What one process of a plugin is doing.
private final class ServerSession: Sendable {
  private struct State {
    var part: StagePart?
    var stage: (any Stage)?
    var config = Config()
    var services: ServerServices?
  }

  private let parts: [StagePart]
  private let output: Descriptor
  private let state = Guarded(State())
  private let writing = Guarded(())
  /// The items under way.
  let running = Guarded<[Int: Task<Void, Never>]>([:])

  init(parts: [StagePart], output: Descriptor) {
    self.parts = parts
    self.output = output
  }

  /// Writes a message.
  func say(_ message: Fields) {
    var writer = JSONWriter()
    writer.value(.map(message))
    let line = writer.bytes + [0x0A]
    writing.withLock { _ in try? output.write(line) }
  }

  /// Takes in what the process is to do.
  func begin(_ message: Fields) {
    let name = message["op"]?.asString ?? ""
    guard let part = parts.first(where: { $0.spec.name == name }) else {
      let known = parts.map(\.spec.name).joined(separator: ", ")
      return refuse("plugin.op", "this program has no stage `\(name)`; it has \(known)", field: nil)
    }
    var config = Config()
    let given = message["config"]?.asMap ?? [:]
    for field in part.spec.fields {
      guard let value = given[field.name] ?? field.fallback.map({ ConfigDefault.value($0, field.type) }) else {
        if field.isRequired { return refuse("config.missing", "`\(field.name)` is missing", field: field.name) }
        continue
      }
      guard let converted = field.type.convert(value) else {
        return refuse(
          "config.invalid", "`\(field.name)` is `\(value.text.prefix(80))`, expected \(field.type.words)",
          field: field.name)
      }
      config[field.name] = .value(converted)
    }
    for problem in part.spec.check(config, PathText.currentFolder) {
      return refuse("config.invalid", problem, field: nil)
    }
    let services = ServerServices(
      run: message["run"]?.asString ?? "", folder: PathText.currentFolder,
      workdir: message["workdir"]?.asString ?? "/tmp"
    ) { [weak self] level, text in
      self?.say(["t": "log", "level": .string(level.rawValue), "message": .string(text)])
    }
    state.withLock { $0 = State(part: part, stage: part.make(), config: config, services: services) }
    say(["t": "ready", "v": 1])
  }

  private func refuse(_ code: String, _ message: String, field: String?) {
    var line: Fields = ["t": "error", "fatal": true, "code": .string(code), "message": .string(message)]
    if let field { line["field"] = .string("/" + field) }
    say(line)
  }

  /// The number of an item, and the work on it.
  func accept(_ message: Fields) -> (id: Int, work: @Sendable () async -> Void) {
    let id = message["id"]?.asInt ?? 0
    return (
      id,
      { [self] in
        let answer = await answer(message)
        running.withLock { $0[id] = nil }
        var line: Fields = ["t": "result", "id": .int(id)]
        for (name, value) in answer { line[name] = value }
        say(line)
      }
    )
  }

  private func answer(_ message: Fields) async -> Fields {
    let now = state.withLock { $0 }
    guard let part = now.part, let stage = now.stage, let services = now.services else {
      return ["status": "error", "code": "plugin.protocol", "message": "an item came before `init`"]
    }
    do {
      let folder = message["out"]?.asMap?["dir"]?.asString ?? services.workdir
      var context = StageContext(
        stage: part.spec.name, config: now.config, attempt: message["attempt"]?.asInt ?? 1, services: services)
      context.progress = { [self] bytes, size in
        guard let size, size > 0 else { return }
        say(["t": "progress", "id": message["id"] ?? 0, "ratio": .double(min(1, Double(bytes) / Double(size)))])
      }
      let leg = try ServerSession.leg(message)
      var result = try await stage.run(leg, in: context)
      // Bytes that go on as they came are none of its own.
      if case .file(let file)? = result.content, case .file(let given)? = leg.content, file === given {
        result.content = nil
      }
      return try await ServerSession.fields(of: result, below: folder)
    } catch {
      let fault = Fault(error)
      if fault.kind == .cancelled { return ["status": "cancelled"] }
      var line: Fields = [
        "status": "error", "code": .string(fault.code), "class": .string(fault.kind.rawValue),
        "message": .string(fault.message),
      ]
      if let pause = fault.retryAfter { line["retry_after_ms"] = .int(pause.nanoseconds / 1_000_000) }
      return line
    }
  }

  /// The leg that a message tells of.
  private static func leg(_ message: Fields) throws(Fault) -> Leg {
    var fields = message["item"]?.asMap ?? [:]
    var item = Item(
      source: fields["source"]?.asString ?? "plugin", key: message["key"]?.text ?? "",
      index: fields["index"]?.asInt ?? 0, url: fields["url"]?.asString)
    item.row = fields["row"]?.asMap ?? [:]
    item.loop = fields["for"]?.asMap ?? [:]
    let axes = fields["matrix"]?.asMap ?? [:]
    for name in ["row", "for", "matrix"] { fields[name] = nil }
    var leg = Leg(item: item, axes: axes, fields: fields)
    if let input = message["in"]?.asMap, let path = input["path"]?.asString {
      let announced = input["sha256"]?.asString.flatMap { Digest(.sha256, parsing: $0) }
      let digest: Digest
      if let announced { digest = announced } else { digest = try Digest(.sha256, ofFileAt: path) }
      leg.content = .file(
        HeldFile(path: path, bytes: input["bytes"]?.asInt ?? 0, sha256: digest, isTemporary: false) { _ in })
      if let media = input["media"] { leg.fields["media"] = media }
    }
    return leg
  }

  /// What a result is in the protocol; its bytes go into the folder for outputs.
  private static func fields(of result: StageResult, below folder: String) async throws -> Fields {
    var fields: Fields = ["status": "ok", "set": .map(result.fields)]
    switch result.verdict {
    case .pass, .unchanged:
      if let content = result.content {
        fields["out"] = .list([try await output(content, "out", result.fields["media"], folder)])
      }
    case .drop(let reason):
      fields["status"] = "drop"
      fields["reason"] = .string(reason)
    case .many(let items):
      var made: [Value] = []
      for (place, item) in items.enumerated() {
        var entry: Fields = ["key": .string(item.key), "set": .map(item.fields)]
        if let url = item.url { entry["url"] = .string(url) }
        if let row = item.row { entry["row"] = .map(row) }
        if let content = item.content {
          entry["out"] = try await output(content, "out-\(place + 1)", item.fields["media"], folder)
        }
        made.append(.map(entry))
      }
      fields["status"] = "many"
      fields["items"] = .list(made)
    }
    return fields
  }

  private static func output(_ content: Content, _ name: String, _ media: Value?, _ folder: String) async throws
    -> Value
  {
    var content = content
    if case .deferred(let work) = content { content = try await work.realise() }
    let path = PathText.join(folder, name)
    switch content {
    case .bytes(let bytes): try SmallFiles.replace(path, bytes)
    case .file(let file):
      if file.isTemporary {
        let from = try file.path
        try naming("move", from) { () throws(Errno) in try FileSystem.rename(from, to: path) }
        file.becamePublished(at: path)
      } else {
        try SmallFiles.replace(path, try SmallFiles.read(file.path))
      }
    case .deferred: throw Fault.internal("deferred", "deferred content gave deferred content")
    }
    var entry: Fields = ["path": .string(name)]
    if let media { entry["media"] = media }
    return .map(entry)
  }

  func close() async {
    let now = state.withLock { $0 }
    await now.stage?.close()
    now.services?.blocking.close()
  }
}

/// What a stage in a plugin's process can ask for: files in its work directory, and the log.
private final class ServerServices: RunServices {
  let settings: RunSettings
  let blocking = BlockingPool(name: "plugin", threads: 4)
  let workdir: String
  private let numbers = Guarded(0)
  private let resources = SharedResources()
  private let tellLog: @Sendable (LogLevel, String) -> Void

  init(run: String, folder: String, workdir: String, log: @escaping @Sendable (LogLevel, String) -> Void) {
    settings = RunSettings(name: run, folder: folder, outputFolder: workdir)
    self.workdir = workdir
    tellLog = log
  }

  private func next() -> Int {
    numbers.withLock { number in
      number += 1
      return number
    }
  }

  func makePartial() throws(Fault) -> any PartialWriter { try ServerPartial(PathText.join(workdir, "tmp-\(next())")) }

  func makeScratch() throws(Fault) -> String {
    let path = PathText.join(workdir, "scratch-\(next())")
    try SmallFiles.makeFolder(path)
    return path
  }

  func publish(_ content: Content, at path: String, options: PublishOptions) async throws(Fault) -> OutputFact {
    throw Fault(
      "plugin.publish", .permanent, "a stage in a plugin gives its bytes to the run, and the run stores them")
  }

  func shared<Resource: Sendable>(_ type: Resource.Type, make: () throws(Fault) -> Resource) throws(Fault) -> Resource {
    try resources.shared(type, make: make)
  }

  func log(_ level: LogLevel, _ message: String) { tellLog(level, message) }
}

/// A temporary file in the work directory.
private final class ServerPartial: DigestFile, PartialWriter, @unchecked Sendable {
  func finish() throws(Fault) -> HeldFile {
    HeldFile(path: path, bytes: count, sha256: takeDigest(), isTemporary: true) { try? FileSystem.remove($0) }
  }

  func abandon() { try? FileSystem.remove(path) }
}
