@testable import FlowPlugins
import FlowBase
import FlowEvents
import FlowExpressions
import FlowParts
import FlowTesting
import Testing

/// A plugin in a folder of its own, written in Python or shell, and its stage over one leg after another.
final class Workbench: Sendable {
  let services: ScratchServices
  let plugin: PluginManifest
  let stage: any Stage
  private let config: Config

  /// `program` is what the plugin does for the item in `m`, with `say` to answer; `prelude` runs at its start.
  init(
    _ program: String, prelude: String = "", limits: String = "{}", ops: String = "", more: String = "",
    config: [String: Value] = [:], launcher: String? = Tool.path, times: (inout HostMachine.Limits) -> Void = { _ in }
  ) throws {
    services = try ScratchServices()
    let folder = services.place.file("plugin")
    try SmallFiles.makeFolder(folder)
    let indented = program.split(separator: "\n", omittingEmptySubsequences: false).map { "        " + $0 }
    let source = """
      import json, os, sys, time, signal
      out = sys.stdout
      def say(m):
          out.write(json.dumps(m) + "\\n")
          out.flush()
      def ok(m, **more):
          say({"t": "result", "id": m["id"], "status": "ok", **more})
      seen = []
      init = None
      \(prelude)
      for line in sys.stdin:
          m = json.loads(line)
          if m["t"] == "init":
              init = m
              if not globals().get("silent"):
                  say(globals().get("greeting", {"t": "ready", "v": 1}))
          elif m["t"] == "item":
              seen.append(m)
      \(indented.joined(separator: "\n"))
          elif m["t"] == "cancel":
              globals().get("cancelled", lambda m: None)(m)
          elif m["t"] == "drain" and not globals().get("stays"):
              say({"t": "bye"})

      """
    try SmallFiles.replace(PathText.join(folder, "main.py"), Array(source.utf8))
    let yaml = """
      imgflow_plugin: 1
      name: test.plugin
      version: 1.0.0
      summary: A plugin under test
      run: [python3, main.py]
      ops:
        test.op:
          kind: stage
          gives: { set: { n: integer, text: string } }
          config: { type: object, properties: { margin: { type: number, minimum: 0, maximum: 1, default: 0.5 } } }
      \(ops)
      limits: \(limits)
      errors: { model.overloaded: transient }
      \(more)
      """
    let read = PluginManifest.parse(Array(yaml.utf8), file: "plugin.yaml", folder: folder)
    plugin = try #require(read.manifest, "\(DiagnosticText().text(read.problems))\n\(yaml)")
    var surroundings = PluginSurroundings(launcher: launcher)
    surroundings.limits.grace = .milliseconds(300)
    surroundings.limits.killAfter = .milliseconds(300)
    surroundings.limits.drain = .milliseconds(500)
    surroundings.limits.shortestPause = .milliseconds(10)
    times(&surroundings.limits)
    stage = PluginStage(plugin, plugin.ops[0], surroundings)
    self.config = Config(config.map { Config.Entry($0.key, .value($0.value)) })
  }

  func run(_ key: String = "k", content: Content? = nil, fields: Fields = [:]) async throws -> StageResult {
    let (context, leg) = leg(key, content, fields)
    return try await stage.run(leg, in: context)
  }

  /// What comes of an item that is begun without a task.
  func prompt(_ key: String, cancels: Bool = false) async -> Result<StageResult, Fault> {
    let (context, leg) = leg(key, nil, [:])
    return await withCheckedContinuation { continuation in
      do throws(Fault) {
        let begun = try stage.asPromptStage?.begin(leg, in: context) { continuation.resume(returning: $0) }
        if cancels { begun?.cancel() }
        if begun == nil { continuation.resume(returning: .failure(Fault("test.task", .permanent, "needs a task"))) }
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
  }

  /// Whether work on an item begins without a task.
  func begins(content: Content? = nil, fields: Fields = [:]) throws -> Bool {
    let (context, leg) = leg("k", content, fields)
    return try stage.asPromptStage?.begin(leg, in: context, done: { _ in }) != nil
  }

  private func leg(_ key: String, _ content: Content?, _ fields: Fields) -> (StageContext, Leg) {
    let item = Item(source: "s", key: key, index: 1, url: nil, fields: ["key": .string(key)])
    return (
      StageContext(stage: "op", config: config, attempt: 1, services: services),
      Leg(item: item, fields: fields, content: content)
    )
  }

  /// The code of the fault that an item fails with; nil where it goes well.
  func code(_ key: String = "k", content: Content? = nil) async -> String? {
    do {
      _ = try await run(key, content: content)
      return nil
    } catch {
      return Fault(error).code
    }
  }

  /// What becomes of many items side by side: the code of each one's fault, or the field `n`.
  func all(_ keys: [String]) async -> [String: String] {
    await withTaskGroup(of: (String, String).self) { group in
      for key in keys {
        group.addTask { [self] in
          do {
            return (key, try await run(key).fields["n"]?.text ?? "ok")
          } catch {
            return (key, Fault(error).code)
          }
        }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
  }

  func close() async { await stage.close() }

  var crashes: [Payload.PluginCrash] {
    services.told.compactMap { if case .pluginCrash(let crash) = $0 { crash } else { nil } }
  }
  var noises: [String] { services.told.compactMap { if case .pluginNoise(let noise) = $0 { noise.line } else { nil } } }
  var starts: Int { services.told.count { if case .pluginStart = $0 { true } else { false } } }

  /// What a plugin has written into a file beside its program.
  func note(_ name: String) -> String? {
    (try? SmallFiles.read(PathText.join(plugin.folder, name))).map { String(decoding: $0, as: UTF8.self) }
  }
}
