public import FlowBase

/// Finds plugins: folders with a `plugin.yaml`, and folders of such folders.
public struct PluginFinder: Sendable {
  /// The places that are searched, in this order; of two plugins with one op the first counts.
  public var places: [Place]

  /// A place where plugins may lie.
  public struct Place: Sendable, Hashable {
    /// Its absolute path.
    public var path: String
    /// Whether somebody has named it, so that nothing being there is a mistake.
    public var isNamed: Bool
    /// Where it was named.
    public var mark: FlowBase.Place?

    /// A place.
    public init(path: String, isNamed: Bool, mark: FlowBase.Place? = nil) {
      self.path = path
      self.isNamed = isNamed
      self.mark = mark
    }
  }

  /// A search.
  public init(places: [Place]) { self.places = places }

  /// The places beside those of a manifest: `$IMGFLOW_PLUGIN_PATH`, `plugins/` beside the program, the user's data.
  public static func usualPlaces(environment: [String: String], program: String) -> [Place] {
    var places: [Place] = []
    for path in (environment["IMGFLOW_PLUGIN_PATH"] ?? "").split(separator: ":") {
      places.append(Place(path: PathText.absolute(String(path)), isNamed: true))
    }
    let beside = PathText.parent(of: program)
    places.append(Place(path: PathText.join(beside, "plugins"), isNamed: false))
    places.append(Place(path: PathText.join(beside, "../share/imgflow/plugins"), isNamed: false))
    if let data = environment["XDG_DATA_HOME"].flatMap({ $0.isEmpty ? nil : $0 })
      ?? environment["HOME"].map({ PathText.join($0, ".local/share") })
    {
      places.append(Place(path: PathText.join(data, "imgflow/plugins"), isNamed: false))
    }
    return places
  }

  /// All plugins that can be used, and what is wrong with the others.
  public func find() -> (plugins: [PluginManifest], problems: [Diagnostic]) {
    var plugins: [PluginManifest] = []
    var problems: [Diagnostic] = []
    var seen: Set<String> = []
    for place in places {
      let folders = PluginFinder.folders(at: place.path)
      if folders.isEmpty, place.isNamed {
        problems.append(
          Diagnostic(
            "E0601", "there is no plugin at `\(place.path)`", at: place.mark,
            notes: ["a plugin is a folder with a `plugin.yaml`; a folder of such folders will do as well"]))
      }
      for folder in folders where seen.insert(folder).inserted {
        let read = PluginManifest.read(folder: folder)
        // What is wrong with a plugin that nobody has named is no business of this manifest.
        if place.isNamed { problems += read.problems }
        guard var plugin = read.manifest else { continue }
        plugin.digest = PluginFinder.digest(of: folder)
        plugins.append(plugin)
      }
    }
    return (plugins, problems)
  }

  private static func folders(at path: String) -> [String] {
    if SmallFiles.exists(PathText.join(path, "plugin.yaml")) { return [path] }
    let names = ((try? SmallFiles.names(in: path)) ?? []).sorted()
    return names.map { PathText.join(path, $0) }.filter { SmallFiles.exists(PathText.join($0, "plugin.yaml")) }
  }

  /// The digest of what lies in a plugin's folder; of large files their size and time stand for them.
  static func digest(of folder: String) -> String {
    let digest = DigestStream(.sha256)
    for name in ((try? SmallFiles.names(in: folder)) ?? []).sorted() where !name.hasPrefix(".") && name != "tests" {
      let path = PathText.join(folder, name)
      guard let facts = try? FileSystem.facts(path), facts.kind == .file else { continue }
      digest.update(Array(name.utf8))
      if facts.size <= 4 << 20, let bytes = try? FileSystem.read(path) {
        digest.update(bytes)
      } else {
        digest.update(Array("\(facts.size) \(facts.modified)".utf8))
      }
    }
    return String(digest.finish().hex.prefix(32))
  }
}
