internal import FlowArchive
internal import FlowBase
internal import FlowExpressions
public import FlowParts

/// Takes an archive apart: its members become items, or files below a folder.
public struct Unpack: Stage {
  /// What is to be said of it.
  public static let part: StagePart = {
    var spec = PartSpec(
      name: "unpack", role: .stage, summary: "Takes an archive apart into items, or into files below a folder.",
      fields: [
        FieldSpec(
          "match", .list(.string), "Which members are taken, by globs over their paths such as `photos/**/*.jpg`."),
        FieldSpec(
          "path", .path,
          "The folder below `output.dir` into which the members go as they are; without it they become items."),
        FieldSpec("max_members", .integer(1...10_000_000), default: "10000", "More members fail the item."),
        FieldSpec("max_bytes", .byteCount, default: "4GB", "More bytes, over all members, fail the item."),
      ], shorthand: "match",
      sets: { config in
        config["path"] == nil
          ? [
            ItemField("name", .string), ItemField("stem", .string), ItemField("ext", .string),
            ItemField("bytes", .integer), ItemField("sha256", .string), ItemField("member", .string),
          ] : []
      },
      example: "stages:\n  - fetch\n  - unpack: { match: ['**/*.png'] }\n  - store: \"${item.key | path}\"\n")
    spec.makesItems = true
    // Said of the manifest, and not of the first archive after an hour of downloads.
    spec.check = { _, _ in [ArchiveReader.problem].compactMap(\.self) }
    return StagePart(spec) { Unpack() }
  }()

  /// Goes over the members, in the archive's order.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    let content = try await leg.bytes(for: context)
    let archive = try await Unpack.file(content, in: context)
    var walk = try MemberWalk(context.config, name: leg.item.name)
    let reader = try ArchiveReader(path: archive.path, name: leg.item.name)
    guard let folder = context.config.text("path") else {
      return StageResult(.many(try Unpack.items(reader, &walk, in: context)))
    }
    var outputs: [OutputFact] = []
    while let member = try walk.next(of: reader) {
      let file = try Unpack.held(reader, &walk, in: context)
      let options = try Store.options(of: context, leg: leg, media: nil)
      outputs.append(
        try await context.services.publish(.file(file), at: folder + "/" + member.text, options: options))
    }
    return StageResult(content: content, outputs: outputs)
  }

  private static func items(
    _ reader: ArchiveReader, _ walk: inout MemberWalk, in context: StageContext
  ) throws(Fault) -> [MadeItem] {
    var items: [MadeItem] = []
    while let member = try walk.next(of: reader) {
      if Task.isCancelled { throw Fault(CancellationError()) }
      let file = try held(reader, &walk, in: context)
      items.append(
        MadeItem(
          key: member.text, content: .file(file),
          fields: [
            "name": .string(member.name), "stem": .string(member.stem), "ext": .string(member.ext),
            "bytes": .int(file.bytes), "sha256": .string(file.sha256.hex), "member": .string(member.text),
          ]))
    }
    return items
  }

  /// The current member's bytes as a temporary file.
  private static func held(
    _ reader: ArchiveReader, _ walk: inout MemberWalk, in context: StageContext
  ) throws(Fault) -> HeldFile {
    let partial = try context.services.makePartial()
    do throws(Fault) {
      walk.took(try reader.read(into: partial, atMost: walk.left))
      return try partial.finish()
    } catch {
      partial.abandon()
      throw error
    }
  }

  /// The archive as a file: bytes in memory are written to one.
  private static func file(_ content: Content, in context: StageContext) async throws -> HeldFile {
    switch content {
    case .file(let file): return file
    case .bytes(let bytes):
      let partial = try context.services.makePartial()
      try unsafe bytes.withUnsafeBytes { try unsafe partial.write($0) }
      return try partial.finish()
    case .deferred(let work): return try await file(try await work.realise(), in: context)
    }
  }
}

/// Which members of an archive are taken, and whether it holds more than it may.
struct MemberWalk {
  private let patterns: [GlobPattern]
  private let takesAll: Bool
  private let mostMembers: Int
  private let name: String
  private var members = 0
  private var seen: Set<String> = []
  /// How many bytes may still come.
  private(set) var left: Int

  init(_ config: Config, name: String) throws(Fault) {
    let texts = config.texts("match")
    takesAll = texts.isEmpty
    var patterns: [GlobPattern] = []
    for text in texts {
      guard let pattern = GlobPattern(text) else {
        throw Fault("config.glob", .config, "`match` of `unpack`: `\(text)` is no pattern, such as `photos/**/*.jpg`")
      }
      patterns.append(pattern)
    }
    self.patterns = patterns
    mostMembers = config.int("max_members") ?? 10_000
    left = config.int("max_bytes") ?? 4_000_000_000
    self.name = name
  }

  mutating func took(_ bytes: Int) { left -= bytes }

  /// The next member that is taken, by its path; folders, links and other things are passed over.
  mutating func next(of reader: ArchiveReader) throws(Fault) -> RelativePath? {
    while let member = try reader.next() {
      members += 1
      if members > mostMembers {
        throw Fault("archive.too_large", .permanent, "\(name) has more than \(mostMembers) members (`max_members`)")
      }
      guard member.kind == .file else { continue }
      let path = try MemberWalk.path(member.path, of: name)
      guard takesAll || patterns.contains(where: { $0.matches(path.components) }) else { continue }
      if let size = member.size, size > left {
        throw Fault("archive.too_large", .permanent, "\(name) holds more bytes than `max_bytes` allows")
      }
      guard seen.insert(path.foldedForCollision).inserted else {
        throw Fault("path.collision", .permanent, "\(name) holds two members `\(path.text)`")
      }
      return path
    }
    return nil
  }

  /// A member's path with safe names; one that leads out of the archive is refused.
  private static func path(_ text: String, of name: String) throws(Fault) -> RelativePath {
    do throws(Fault) {
      // Archives of some systems separate by backslashes, which are no way out either.
      let path = try RelativePath(parsing: text.replacing("\\", with: "/"))
      return try RelativePath(parsing: path.components.map { FileName.safe($0) }.joined(separator: "/"))
    } catch {
      throw Fault(error.code, error.kind, "\(name) holds a member that is refused: \(error.message)")
    }
  }
}

extension GlobPattern {
  /// Whether a path is meant.
  func matches(_ components: [String]) -> Bool {
    var progress = start
    for (place, component) in components.enumerated() {
      progress = advance(progress, by: component)
      if place + 1 < components.count, !progress.canContinue { return false }
    }
    return progress.isComplete
  }
}
