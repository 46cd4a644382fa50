internal import FlowBase
internal import FlowBuiltins
internal import FlowManifest
internal import FlowParts
internal import FlowPlan
internal import FlowPlugins
internal import FlowYAML

/// A manifest with its layers, as a command was asked for it, and everything that is wrong with it.
struct LoadedManifest: Sendable {
  /// The path as the user wrote it.
  var path: String
  /// The manifest, as far as its shape could be read.
  var manifest: Manifest?
  /// The plan; nil where there is an error.
  var plan: Plan?
  /// The sinks that nothing is wrong with.
  var sinks: [PlannedSink] = []
  /// The folder that a sink's paths start from.
  var folder: String { path == "-" ? PathText.currentFolder : PathText.parent(of: PathText.absolute(path)) }
  /// All that is wrong, and all that is odd, in the order of the places.
  var diagnostics: [Diagnostic]
  private var files: ManifestFiles

  /// The errors among the diagnostics.
  var errors: [Diagnostic] { diagnostics.filter { $0.severity == .error } }

  /// A line of one of the manifest's files.
  @Sendable func line(_ file: String, _ number: Int) -> String? { files.line(file, number) }

  /// Reads the manifest that a command line names, or `imgflow.yaml` here.
  init(_ arguments: ParsedArguments, _ console: Console) {
    self.init(path: arguments.operand("MANIFEST") ?? "imgflow.yaml", arguments, console)
  }

  /// Reads one of several manifests.
  init(path: String, _ arguments: ParsedArguments, _ console: Console) {
    let read: Result<[UInt8], Fault> = Result { () throws(Fault) in
      try path == "-" ? console.input() : LoadedManifest.read(path)
    }
    switch read {
    case .success(let bytes): self.init(path: path, bytes: bytes, arguments, console)
    case .failure(let fault): self.init(path: path, unreadable: fault)
    }
  }

  /// A manifest that cannot be read at all.
  private init(path: String, unreadable fault: Fault) {
    self.path = path
    files = ManifestFiles()
    let isDefault = path == "imgflow.yaml"
    let absence = "there is no manifest `\(path)`" + (isDefault ? " here" : "")
    diagnostics = [
      Diagnostic(
        "E0098", SmallFiles.exists(path) ? fault.message : absence, at: nil,
        notes: isDefault ? ["`imgflow init` writes one; `imgflow run PATH` takes another"] : [])
    ]
  }

  /// Reads a manifest from bytes, as if they stood in a file.
  init(
    path: String, bytes: [UInt8], files: ManifestFiles = ManifestFiles(), _ arguments: ParsedArguments,
    _ console: Console
  ) {
    self.path = path
    self.files = files
    files.remember(path, bytes)
    let read = YAMLReader.read(bytes, file: path)
    diagnostics = read.problems
    guard let node = read.node else { return }
    let overlays = Overlays(
      profiles: arguments.all("profile"),
      settings: arguments.assignments("set").map { Overlays.Setting(path: $0.name, value: $0.value) }
        + LoadedManifest.implied(arguments),
      variables: arguments.assignments("var").map { Overlays.Setting(path: $0.name, value: $0.value) })
    let loaded = Manifest.load(node, overlays: overlays) { path in
      let bytes = try LoadedManifest.read(path)
      files.remember(path, bytes)
      let read = YAMLReader.read(bytes, file: path)
      if let problem = read.problems.first { throw problem }
      guard let node = read.node else { throw Diagnostic("E0001", "`\(path)` is empty", at: nil) }
      return node
    }
    manifest = loaded.manifest
    diagnostics += loaded.diagnostics
    if let manifest {
      let inputs = inputs(bytes, arguments, console)
      var recorder: PluginRecorder?
      if let path = arguments.value("record") {
        do throws(Fault) { recorder = try PluginRecorder(path: path) } catch {
          diagnostics.append(Diagnostic("E0099", "--record: \(error.message)", at: nil))
        }
      }
      let plugins = PluginCatalog.make(
        for: manifest, folder: inputs.folder, environment: console.environment, recorder: recorder)
      diagnostics += plugins.problems
      let made = Plan.make(manifest, catalog: plugins.catalog, inputs: inputs)
      plan = made.plan
      sinks = made.sinks
      diagnostics += made.diagnostics
    }
    diagnostics = diagnostics.sortedByPlace()
    if !errors.isEmpty { plan = nil }
  }

  /// Settings that have flags of their own.
  private static func implied(_ arguments: ParsedArguments) -> [Overlays.Setting] {
    arguments.value("durability").map { [Overlays.Setting(path: "state.durability", value: $0)] } ?? []
  }

  private func inputs(_ bytes: [UInt8], _ arguments: ParsedArguments, _ console: Console) -> PlanInputs {
    var inputs = PlanInputs(folder: folder)
    inputs.environment = console.environment
    inputs.checksFiles = true
    inputs.readFile = { path in
      (try? SmallFiles.read(path, limit: 1 << 20)).map { String(decoding: $0, as: UTF8.self) }
    }
    let files = files
    inputs.line = { files.line($0, $1) }
    inputs.manifestDigest = Digest.sha256(of: bytes).hex
    inputs.outputFolder = arguments.value("out").map { PathText.absolute($0) }
    inputs.stateFolder = arguments.value("state").map { PathText.absolute($0) }
    inputs.connections = arguments.int("concurrency")
    inputs.take = arguments.int("take")
    inputs.onlySources = arguments.all("only")
    inputs.allowsPrivate = arguments.has("allow-private")
    return inputs
  }

  private static func read(_ path: String) throws(Fault) -> [UInt8] { try SmallFiles.read(path, limit: 17 << 20) }
}

/// The lines of the files that a manifest is made of, for messages.
final class ManifestFiles: Sendable {
  private let lines = Guarded<[String: [String]]>([:])

  func remember(_ file: String, _ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let split = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.hasSuffix("\r") ? String(line.dropLast()) : String(line)
    }
    lines.withLock { $0[file] = split }
  }

  func line(_ file: String, _ number: Int) -> String? {
    lines.withLock { lines in
      guard let list = lines[file], list.indices.contains(number - 1) else { return nil }
      return list[number - 1]
    }
  }
}
