import FlowBase
import FlowBuiltins
import FlowEvents
import FlowManifest
import FlowParts
import FlowPlan
import FlowRun
import FlowTesting
import FlowYAML
import Testing

/// A server and a folder in which manifests are run one after the other, each stream checked as a whole.
final class Scene: Sendable {
  let server: LoopbackServer
  let place: TempPlace
  private let catalog: Catalog

  /// `answer` says what the server answers, `catalog` what manifests can name.
  init(
    catalog: Catalog = .builtins,
    _ answer: @escaping LoopbackServer.Handler = { .ok("bytes of \($0.path)") }
  ) throws {
    server = try LoopbackServer(handler: answer)
    place = try TempPlace()
    self.catalog = catalog
  }

  /// The plan of a manifest, in which `$URL` stands for the server's address.
  func plan(_ manifest: String, change: (inout PlanInputs) -> Void = { _ in }) throws -> Plan {
    var text = "imgflow: 1\n" + manifest.replacing("$URL", with: server.url)
    if !manifest.contains("\nstate:") && !manifest.hasPrefix("state:") {
      text += "\nstate: { durability: process }\n"
    }
    let read = YAMLReader.read(Array(text.utf8), file: "scene.yaml")
    var diagnostics = read.problems
    var inputs = PlanInputs(folder: place.path)
    change(&inputs)
    let loaded = Manifest.load(try #require(read.node, "\(text)")) { _ in throw Diagnostic("E0001", "none", at: nil) }
    diagnostics += loaded.diagnostics
    let made = loaded.manifest.map { Plan.make($0, catalog: catalog, inputs: inputs) }
    diagnostics += made?.diagnostics ?? []
    return try #require(made?.plan, "\(DiagnosticText().text(diagnostics))\n\(text)")
  }

  /// What is wrong with a manifest.
  func problems(_ manifest: String) -> [Diagnostic] {
    let text = "imgflow: 1\n" + manifest.replacing("$URL", with: server.url)
    let read = YAMLReader.read(Array(text.utf8), file: "scene.yaml")
    let loaded = read.node.map { Manifest.load($0) { _ in throw Diagnostic("E0001", "none", at: nil) } }
    var inputs = PlanInputs(folder: place.path)
    inputs.checksFiles = true
    let made = loaded?.manifest.map { Plan.make($0, catalog: catalog, inputs: inputs) }
    return read.problems + (loaded?.diagnostics ?? []) + (made?.diagnostics ?? [])
  }

  /// Runs a manifest to its end.
  @discardableResult
  func run(
    _ manifest: String, inputs: (inout PlanInputs) -> Void = { _ in }, options: (inout RunOptions) -> Void = { _ in },
    listeners: [Listener] = [], follow: (Runner, Event) async -> Void = { _, _ in }
  ) async throws -> Trial {
    try await run(try plan(manifest, change: inputs), options: options, listeners: listeners, follow: follow)
  }

  /// Runs a plan to its end; `follow` is told of each event as it comes.
  @discardableResult
  func run(
    _ plan: Plan, options change: (inout RunOptions) -> Void = { _ in }, listeners: [Listener] = [],
    follow: (Runner, Event) async -> Void = { _, _ in }
  ) async throws -> Trial {
    var options = RunOptions()
    change(&options)
    let runner = Runner(plan, options: options)
    for listener in listeners { runner.attach(listener) }
    var events: [Event] = []
    for await event in runner.start() {
      events.append(event)
      await follow(runner, event)
    }
    let outcome = try #require(await runner.outcome)
    let faults = StreamCheck.faults(of: events)
    #expect(faults == [], "\(events.map { NDJSON.line($0) }.joined(separator: "\n"))")
    return Trial(events: events, outcome: outcome)
  }

  /// The bytes of an output as a text; nil where it is not there.
  ///
  /// The extension that a stored text gets by its media type may be left out.
  func output(_ path: String) -> String? {
    let bytes =
      (try? SmallFiles.read(place.file("out/\(path)"))) ?? (try? SmallFiles.read(place.file("out/\(path).txt")))
    return bytes.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The names in the folder of outputs without the extension of texts, sorted.
  var outputs: [String] {
    ((try? SmallFiles.names(in: place.file("out"))) ?? []).map {
      $0.hasSuffix(".txt") ? String($0.dropLast(4)) : $0
    }.sorted()
  }

  /// The paths that the server was asked for, sorted.
  var asked: [String] { server.requests.map(\.path).sorted() }
}

/// What a run has told, and how it ended.
struct Trial {
  var events: [Event]
  var outcome: RunOutcome

  var exit: ExitCode { outcome.exit }
  var items: ItemCounts { outcome.end.items }

  /// The ends of items by their names.
  var ends: [String: Payload.ItemEnd] {
    var ends: [String: Payload.ItemEnd] = [:]
    for event in events { if case .itemEnd(let end) = event.payload { ends[event.subject?.item ?? ""] = end } }
    return ends
  }

  /// The end of an item by the last part of its name.
  func end(_ key: String) -> Payload.ItemEnd? { ends.first { $0.key.hasSuffix("/\(key)") }?.value }

  /// How many events there were of a type.
  func count(_ type: EventType) -> Int { events.count { $0.type == type } }

  /// The events of a type that concern an item.
  func events(_ type: EventType, _ key: String) -> [Event] {
    events.filter { $0.type == type && $0.subject?.item.hasSuffix("/\(key)") == true }
  }

  /// The ends of stages that gather.
  var barriers: [Payload.BarrierEnd] {
    events.compactMap { if case .barrierEnd(let end) = $0.payload { end } else { nil } }
  }

  /// The lines of the log.
  var log: [String] { events.compactMap { if case .log(let line) = $0.payload { line.message } else { nil } } }

  /// The place of the first event of which this holds.
  func first(_ condition: (Event) -> Bool) -> Int? { events.firstIndex(where: condition) }
  /// The place of the last event of which this holds.
  func last(_ condition: (Event) -> Bool) -> Int? { events.lastIndex(where: condition) }
}

extension String {
  /// A list of addresses of a scene's server, for a manifest.
  static func addresses(_ count: Int) -> String {
    "[" + (1...count).map { "{ url: \"$URL/\($0)\", key: k\($0) }" }.joined(separator: ", ") + "]"
  }
}

extension Scene {
  /// The names of the temporary files that are there.
  var temporaryNames: [String] {
    let state = place.file(".imgflow")
    let stems = (try? SmallFiles.names(in: state)) ?? []
    return stems.flatMap { (try? SmallFiles.names(in: "\(state)/\($0)/tmp")) ?? [] }
  }
}
