internal import FlowBase
internal import FlowExpressions
public import FlowParts

/// The files of a folder of this machine.
public struct DirectorySource: Source {
  /// What is to be said of it.
  public static let part = SourcePart(
    PartSpec(
      name: "directory", role: .source, summary: "Takes files of this machine; they need no `fetch`.",
      fields: [
        FieldSpec("path", .string, phase: .load, required: true, "The folder."),
        FieldSpec(
          "glob", .string, phase: .load, default: "*",
          "Which files: `*`, `?`, `[a-z]` and `{jpg,png}` within a name, `**` for any folders below."),
        FieldSpec(
          "key", .string, phase: .row,
          "The item's key; its row has `path` (below the folder), `name`, `stem`, `ext` and `size`."),
      ],
      shorthand: "path",
      sets: { _ in [ItemField("path", .string)] },
      example: """
        sources:
          - directory: { path: photos, glob: "**/*.{jpg,png}", key: "${row.path | slug}" }

        """)
  ) { DirectorySource() }

  /// A source.
  public init() {}

  /// Opens the folder.
  public func open(in context: SourceContext) async throws -> any SourceReader {
    let path = context.config.text("path") ?? "."
    let glob = context.config.text("glob") ?? "*"
    guard let pattern = GlobPattern(glob) else {
      throw Fault(
        "source.glob", .config,
        "`glob` is `\(glob)`: close every `[` and `{`, and name only what lies below \(path)")
    }
    let root = PathText.join(context.folder, path)
    return try DirectoryReader(root: root, name: path, pattern: pattern, key: RowText(context.config["key"]))
  }
}

/// Walks a folder in the order of the names; only the names of the folders on the way are held.
private struct DirectoryReader: SourceReader {
  /// A folder that is being walked, with the names in it that are still to come, the next one last.
  private struct Level {
    var path: String
    var progress: GlobPattern.Progress
    var directory: Descriptor
    var names: [DirectoryListing.Entry]
  }

  private static let columns = ["path", "name", "stem", "ext", "size"]
  private static let deepest = 128

  private let root: String
  private let name: String
  private let pattern: GlobPattern
  private let key: RowText?
  private var levels: [Level] = []
  /// Why some folder could not be read; the source ends with it, behind all others' items.
  private var fault: Fault?

  var total: Int? { nil }

  init(root: String, name: String, pattern: GlobPattern, key: RowText?) throws(Fault) {
    self.root = root
    self.name = name
    self.pattern = pattern
    self.key = key
    let directory = try naming("read the folder", name) { () throws(Errno) in
      try FileSystem.open(root, [.read, .directory])
    }
    try enter(directory, path: "", pattern.start)
  }

  mutating func next(upTo count: Int) async throws -> [SourceItem] {
    var items: [SourceItem] = []
    while items.count < count, !levels.isEmpty {
      guard let entry = levels[levels.count - 1].names.popLast() else {
        levels.removeLast()
        continue
      }
      if let item = try visit(entry, in: levels[levels.count - 1]) { items.append(item) }
    }
    if items.isEmpty, let fault { throw fault }
    return items
  }

  private mutating func visit(_ entry: DirectoryListing.Entry, in level: Level) throws(Fault) -> SourceItem? {
    let progress = pattern.advance(level.progress, by: entry.name)
    guard progress.isComplete || progress.canContinue else { return nil }
    let path = level.path.isEmpty ? entry.name : level.path + "/" + entry.name
    if entry.kind == .directory {
      guard progress.canContinue, levels.count < DirectoryReader.deepest else { return nil }
      do throws(Fault) {
        let directory = try naming("read the folder", shown(path)) { () throws(Errno) in
          try FileSystem.open(entry.name, [.read, .directory, .noFollow], in: level.directory)
        }
        try enter(directory, path: path, progress)
        return nil
      } catch {
        // What is below others is none the worse for it; but nobody may take what is below this one for gone. A folder
        // that somebody has removed meanwhile is gone, unless its name could not be written down as it is.
        if error.code != "disk.missing" || path.unicodeScalars.contains("\u{FFFD}") { fault = fault ?? error }
        return nil
      }
    }
    guard progress.isComplete else { return nil }
    return item(entry, path: path, in: level.directory)
  }

  /// The item of a file; links to files count as files, links to folders and everything else do not.
  private func item(_ entry: DirectoryListing.Entry, path: String, in directory: Descriptor) -> SourceItem? {
    let facts: FileFacts
    do throws(Errno) {
      facts = try FileSystem.facts(entry.name, in: directory, following: true)
    } catch {
      return SourceItem(url: nil, row: [:], path: PathText.join(root, path), fault: error.fault("read", shown(path)))
    }
    guard facts.kind == .file else { return nil }
    let dot = entry.name.dropFirst().lastIndex(of: ".")
    let row = Fields(
      names: DirectoryReader.columns,
      values: [
        .string(path), .string(entry.name), .string(dot.map { String(entry.name[..<$0]) } ?? entry.name),
        .string(dot.map { String(entry.name[entry.name.index(after: $0)...]) } ?? ""), .int(facts.size),
      ])
    var item = SourceItem(url: nil, row: row, path: PathText.join(root, path))
    do throws(Fault) {
      item.key = try key?.text(for: row)
    } catch { item.fault = error }
    return item
  }

  private mutating func enter(_ directory: Descriptor, path: String, _ progress: GlobPattern.Progress) throws(Fault) {
    let names = try naming("read the folder", shown(path)) { () throws(Errno) in
      let listing = try DirectoryListing(of: directory)
      var names: [DirectoryListing.Entry] = []
      while let entry = try listing.next() { names.append(entry) }
      return names.sorted { $0.name > $1.name }
    }
    levels.append(Level(path: path, progress: progress, directory: directory, names: names))
  }

  private func shown(_ path: String) -> String { path.isEmpty ? name : PathText.join(name, path) }
}
