internal import FlowBase
internal import FlowBuiltins
internal import FlowManifest
internal import FlowParts
internal import FlowPlugins
internal import FlowYAML

/// The catalog for a manifest: what ships in the box, and what plugins bring.
///
/// Nobody looks for plugins unless the manifest names some or calls an op with a dot, so that all others start as fast
/// as before.
enum PluginCatalog {
  /// The catalog, and what is wrong with the plugins that the manifest names.
  static func make(
    for manifest: Manifest, folder: String, environment: [String: String], recorder: PluginRecorder? = nil
  ) -> (catalog: Catalog, problems: [Diagnostic]) {
    guard manifest[.plugins] != nil || callsPlugins(manifest) else { return (.builtins, []) }
    var places: [PluginFinder.Place] = []
    var problems: [Diagnostic] = []
    for node in manifest[.plugins].map({ $0.elements ?? [$0] }) ?? [] {
      guard let path = node.scalar, !path.isEmpty else { continue }
      if path.contains("${") {
        problems.append(
          Diagnostic(
            "E0601", "`plugins` takes paths as they are, without `${…}`", at: node.place,
            hint: "plugins are read before anything is evaluated"))
      } else {
        places.append(PluginFinder.Place(path: PathText.absolute(path, from: folder), isNamed: true, mark: node.place))
      }
    }
    places += PluginFinder.usualPlaces(environment: environment, program: ProcessFacts.program)
    let found = PluginFinder(places: places).find()
    var catalog = Catalog.builtins
    let surroundings = PluginSurroundings(launcher: launcher, recorder: recorder)
    for plugin in found.plugins.reversed() { plugin.add(to: &catalog, in: surroundings) }
    return (catalog, problems + found.problems)
  }

  /// The catalog without a manifest, or with that of this folder: for help and schemas.
  ///
  /// A folder that is named brings its plugin too.
  static func usual(_ environment: [String: String], and folder: String? = nil) -> Catalog {
    var places = PluginFinder.usualPlaces(environment: environment, program: ProcessFacts.program)
    if let bytes = try? SmallFiles.read("imgflow.yaml", limit: 16 << 20),
      let node = YAMLReader.read(bytes, file: "imgflow.yaml").node?["plugins"]
    {
      places =
        (node.elements ?? [node]).compactMap(\.scalar).map {
          PluginFinder.Place(path: PathText.absolute($0), isNamed: false)
        } + places
    }
    if let folder, SmallFiles.exists(PathText.join(folder, "plugin.yaml")) {
      places.insert(PluginFinder.Place(path: PathText.absolute(folder), isNamed: false), at: 0)
    }
    var catalog = Catalog.builtins
    for plugin in PluginFinder(places: places).find().plugins.reversed() {
      plugin.add(to: &catalog, in: PluginSurroundings(launcher: launcher))
    }
    return catalog
  }

  /// This program, which sets the bounds of plugins before it becomes them.
  static var launcher: String? {
    let program = ProcessFacts.program
    if PathText.name(of: program) == "imgflow" { return program }
    let beside = PathText.join(PathText.parent(of: program), "imgflow")
    return SmallFiles.exists(beside) ? beside : nil
  }

  private static func callsPlugins(_ manifest: Manifest) -> Bool {
    (manifest.sources + manifest.stages + manifest.sinks).contains { entry in
      entry.candidates.contains { $0.key.contains(".") }
    }
  }
}
