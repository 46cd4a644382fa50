public import FlowBase
internal import FlowExpressions
public import FlowManifest
public import FlowParts
internal import FlowYAML

extension Plan {
  /// Works out what exactly can happen, with everything that is wrong.
  ///
  /// There is a plan only where nothing is wrong; warnings stand in the plan and among the diagnostics. The
  /// diagnostics are sorted by place. The sinks are those that nothing is wrong with, so that they can be told of a
  /// run that cannot begin.
  public static func make(
    _ manifest: Manifest, catalog: Catalog, inputs: PlanInputs
  ) -> (plan: Plan?, diagnostics: [Diagnostic], sinks: [PlannedSink]) {
    var planner = Planner(manifest: manifest, catalog: catalog, inputs: inputs)
    let plan = planner.plan()
    let diagnostics = planner.reader.diagnostics.sortedByPlace()
    return (diagnostics.contains { $0.severity == .error } ? nil : plan, diagnostics, planner.soundSinks)
  }
}

/// Turns a manifest into a plan, step by step; each step leaves what the next ones build on.
struct Planner {
  let manifest: Manifest
  let catalog: Catalog
  let inputs: PlanInputs
  var reader: ConfigReader
  var load = LoadScope()
  /// The literal paths below `output.dir` that stages write, in the form in which file systems may take them for one.
  var literalPaths: [String: String] = [:]
  /// The ops of whose configuration something could not be read.
  var misread: Set<Place> = []
  /// The sinks that nothing is wrong with.
  var soundSinks: [PlannedSink] = []

  init(manifest: Manifest, catalog: Catalog, inputs: PlanInputs) {
    self.manifest = manifest
    self.catalog = catalog
    self.inputs = inputs
    reader = ConfigReader(line: inputs.line)
  }

  /// The plan as far as it can be made; the reader holds what is wrong.
  mutating func plan() -> Plan {
    readLoadScope()
    var settings = readSettings()
    let state = readState()
    let sources = planSources(of: resolve(manifest.sources, as: .source))
    let drafts = draftStages(of: resolve(manifest.stages, as: .stage))
    let edges = planEdges(drafts)
    let built = buildStages(drafts, edges: edges, sources: sources)
    let sinks = planSinks(of: resolve(manifest.sinks, as: .sink))
    settings.literalHosts = literals.allowed
    checkLiterals(in: settings)
    var plan = Plan(
      manifest: manifest.file, manifestDigest: inputs.manifestDigest, settings: settings, state: state,
      sources: sources.map(\.planned), stages: built.stages, nodes: built.nodes, sinks: sinks)
    readPolicy(into: &plan)
    plan.secrets = load.secrets.values.compactMap(\.text).filter { !$0.isEmpty }.sorted()
    plan.secretNames = load.secrets.keys.sorted()
    plan.environment = load.environment.keys.sorted()
    plan.warnings = reader.diagnostics.filter { $0.severity == .warning }.sortedByPlace()
    return plan
  }

  /// The literal addresses that have been met so far.
  var literals = LiteralAddresses()

  /// The names that may stand in a part of the manifest that is read when it is loaded.
  func loadTypes(_ subject: String, allowsSecrets: Bool = false) -> PlaceTypes {
    PlaceTypes(
      subject: subject, load: load, allowsSecrets: allowsSecrets, absence: "this is decided before there are items")
  }

  func site(_ owner: String, allowsSecrets: Bool = false) -> ConfigReader.Site {
    ConfigReader.Site(name: owner, owner: owner, types: loadTypes("`\(owner)`", allowsSecrets: allowsSecrets))
  }

  /// A path of the manifest as an absolute path.
  func absolute(_ path: String) -> String {
    PathText.absolute(path, from: inputs.folder)
  }
}

extension PathText {
  /// The name of a file without its folders and its last extension.
  static func stem(_ path: String) -> String {
    let name = name(of: path)
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
    return String(name[..<dot])
  }
}
