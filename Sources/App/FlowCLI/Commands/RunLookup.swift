internal import FlowBase
internal import FlowRun
internal import FlowStore
internal import FlowYAML

/// Finds the runs that a command line means: an id, the beginning of one, `last`, or a manifest's path.
struct RunLookup {
  /// A run and the state that holds it.
  struct Found {
    var run: RunRecord
    var folder: StateFolder
    var reader: JournalReader
    /// Its manifest's path: from here where it was found by that, and else as it was typed for the run.
    var manifest: String
    /// Whether a process still works on it.
    var isUnderWay: Bool
    /// How its items stand, where the journal was asked because the run has not written down its end.
    var counts: [ItemStatus: Int] = [:]
  }

  private let state: String
  /// Whether the command line names the state directory.
  private let isNamed: Bool

  init(_ arguments: ParsedArguments) {
    state = PathText.absolute(arguments.value("state") ?? ".imgflow")
    isNamed = arguments.value("state") != nil
  }

  /// The states below a state directory, by their manifests' stems.
  private func folders(in state: String) -> [StateFolder] {
    let names = (try? SmallFiles.names(in: state)) ?? []
    return names.sorted().map { StateFolder(directory: state, stem: $0) }.filter(\.exists)
  }

  /// All runs, the newest first.
  func all(limit: Int = 1000) throws -> [Found] { try all(in: folders(in: state), limit: limit) }

  private func all(in folders: [StateFolder], limit: Int = 1000) throws -> [Found] {
    var found: [Found] = []
    for folder in folders {
      let reader = try JournalReader(path: folder.journal)
      for run in try reader.runs(limit: limit) {
        let isUnderWay = run.ended == nil && ControlWire.isListening(folder: folder.run(run.id))
        found.append(
          Found(run: run, folder: folder, reader: reader, manifest: run.manifest, isUnderWay: isUnderWay))
      }
    }
    return found.sorted { ($1.run.started, $0.run.id) < ($0.run.started, $1.run.id) }
  }

  /// The same runs with the counts of those that have no end; each journal is asked once.
  func counted(_ found: [Found]) throws -> [Found] {
    var counts: [StateFolder: [Int: [ItemStatus: Int]]] = [:]
    return try found.map { entry in
      guard entry.run.ended == nil else { return entry }
      let known = try counts[entry.folder] ?? entry.reader.countsOfOpenRuns()
      counts[entry.folder] = known
      var entry = entry
      entry.counts = known[entry.run.number] ?? [:]
      return entry
    }
  }

  /// The run that is meant; a fault with words where there is none, or more than one.
  func find(_ name: String?) throws -> Found {
    let name = name ?? "last"
    let meant = try list(name)
    guard meant.count == 1 || isManifest(name) else {
      throw Fault(
        "run.ambiguous", .permanent,
        "`\(name)` may be \(meant.prefix(3).map(\.run.id).joined(separator: " or ")); give more of the id")
    }
    return meant[0]
  }

  /// A run as it is now.
  func renewed(_ found: Found) throws -> Found {
    var now = try all(in: [found.folder]).first { $0.run.id == found.run.id } ?? found
    now.manifest = found.manifest
    return now
  }

  /// All runs that are meant, the newest first: at least one, and else a fault with words.
  func list(_ name: String) throws -> [Found] {
    if isManifest(name) { return try list(ofManifest: name) }
    let runs = try all()
    if runs.isEmpty {
      throw Fault(
        "run.unknown", .permanent,
        "no run was made here (looked in \(state)); a manifest's path finds its runs, and `--state DIR` looks elsewhere"
      )
    }
    if name == "last" { return [runs[0]] }
    let matching = runs.filter { $0.run.id.hasPrefix(name.uppercased()) }
    if let exact = matching.first(where: { $0.run.id == name.uppercased() }) { return [exact] }
    if matching.isEmpty { throw Fault("run.unknown", .permanent, "no run `\(name)`; `imgflow runs` lists them") }
    return matching
  }

  /// The runs of a manifest, whose state lies beside it unless it says otherwise.
  private func list(ofManifest name: String) throws -> [Found] {
    let stem = stem(of: name)
    let states = isNamed ? [state] : RunLookup.states(ofManifest: name)
    for state in states {
      let made = try all(in: folders(in: state).filter { PathText.name(of: $0.path) == stem })
      if made.isEmpty { continue }
      return made.map { run in
        var run = run
        run.manifest = name
        return run
      }
    }
    throw Fault(
      "run.unknown", .permanent,
      "the manifest `\(name)` was not run yet (looked in \(states.joined(separator: " and ")))")
  }

  /// Where the state of a manifest may lie: where it says, or else beside it.
  private static func states(ofManifest name: String) -> [String] {
    let folder = PathText.parent(of: PathText.absolute(name))
    let node = (try? SmallFiles.read(name, limit: 1 << 20)).flatMap { YAMLReader.read($0, file: name).node }
    // What expressions and other layers say of it is known to runs alone.
    let literal = node?["state"]?["dir"]?.scalar.flatMap { $0.contains("${") ? nil : $0 }
    let named = literal.map { $0.hasPrefix("/") ? $0 : PathText.join(folder, $0) }
    return [named, PathText.join(folder, ".imgflow")].compactMap { $0 }
  }

  private func isManifest(_ name: String) -> Bool {
    name.contains("/") || name.hasSuffix(".yaml") || name.hasSuffix(".yml")
  }

  private func stem(of path: String) -> String {
    let name = PathText.name(of: path)
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
    return String(name[..<dot])
  }
}
