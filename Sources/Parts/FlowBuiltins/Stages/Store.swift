public import FlowBase
internal import FlowExpressions
public import FlowParts

/// Publishes an item's bytes under a name below `output.dir`.
public struct Store: PromptStage {
  /// What is to be said of it.
  public static let part: StagePart = {
    var spec = PartSpec(
      name: "store", role: .stage, summary: "Publishes the item's bytes as a file below `output.dir`.",
      fields: [
        FieldSpec(
          "path", .path, default: "${item.name}",
          "Where the file goes; without an extension it gets the one of the item's media type."),
        FieldSpec(
          "on_exists", .choice(OnExists.allCases.map(\.rawValue)), phase: .load,
          "What to do about a file that is there already; `output.on_exists` unless named."),
        FieldSpec(
          "mode", .string, phase: .load, "The file's permissions in octal, such as `0644`; the umask's unless named."),
        FieldSpec(
          "sidecar", .choice(["json"]), phase: .load, "A file `<path>.json` with all that is known of the item."),
      ], shorthand: "path", example: "stages:\n  - fetch\n  - store: \"${item.source}/${item.name}\"\n")
    // A sidecar has all that is known of its item.
    spec.readsBeside = { $0["sidecar"] == nil ? [] : [Reference(.row, []), Reference(.for, [])] }
    return StagePart(spec) { Store() }
  }()

  /// Publishes the leg's bytes, and its sidecar behind them.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    let content = try await leg.bytes(for: context)
    var media = leg.text("media")
    // What nobody has looked at yet shows by its first bytes what it is.
    if media == nil { media = MediaType.sniff(try await content.prefix(on: context.services.blocking)) }
    let hasSidecar = context.config.text("sidecar") == "json"
    let path = Store.path(
      context.config.text("path") ?? "", media: media, room: hasSidecar ? Store.sidecarEnd.utf8.count : 0)
    let options = try Store.options(of: context, leg: leg, media: media)
    var fact = try await context.services.publish(content, at: path, options: options)
    fact.width = fact.width ?? leg.number("width")
    fact.height = fact.height ?? leg.number("height")
    var outputs = [fact]
    if hasSidecar {
      var options = options
      options.media = "application/json"
      let bytes = Sidecar.json(of: leg, output: fact, redact: context.services.redact)
      outputs.append(
        try await context.services.publish(.bytes(bytes), at: fact.path + Store.sidecarEnd, options: options))
    }
    return StageResult(content: content, outputs: outputs)
  }

  /// Publishes at once what needs no look into it and no sidecar.
  public func begin(
    _ leg: Leg, in context: StageContext, done: @escaping @Sendable (Result<StageResult, Fault>) -> Void
  ) throws(Fault) -> BegunWork? {
    guard let content = leg.content, let media = leg.text("media"), context.config.text("sidecar") == nil else {
      return nil
    }
    if case .deferred = content { return nil }
    let (width, height) = (leg.number("width"), leg.number("height"))
    let path = Store.path(context.config.text("path") ?? "", media: media)
    let options = try Store.options(of: context, leg: leg, media: media)
    context.services.publish(content, at: path, options: options) { outcome in
      done(
        outcome.map { fact in
          var fact = fact
          fact.width = fact.width ?? width
          fact.height = fact.height ?? height
          return StageResult(content: content, outputs: [fact])
        })
    }
    // What the ledger has been told it does; there is nothing to stop.
    return BegunWork {}
  }

  private static let sidecarEnd = ".json"

  /// The path with the extension that fits the bytes, where its last segment has none.
  ///
  /// A name that is too long for it is cut, and with `room` for what comes behind it.
  static func path(_ path: String, media: String?, room: Int = 0) -> String {
    let name = PathText.name(of: path)
    if path.hasSuffix("/") { return path }
    let usual = FileName.ext(of: name).isEmpty ? media.flatMap(FileExtension.usual) : nil
    let end = usual.map { "." + $0 } ?? ""
    let most = FileName.longest - room - end.utf8.count
    guard name.utf8.count > most, name.utf8.count <= FileName.longest, room > 0 || !end.isEmpty else {
      return path + end
    }
    let stem = usual == nil ? FileName.stem(of: name) : name
    let ext = end.isEmpty ? String(name.dropFirst(stem.count)) : end
    let folder = String(Substring(path.utf8.dropLast(name.utf8.count)))
    return folder + FileName.segment(stem, upTo: FileName.longest - room - ext.utf8.count) + ext
  }

  static func options(of context: StageContext, leg: Leg, media: String?) throws(Fault) -> PublishOptions {
    let onExists =
      context.config.text("on_exists").flatMap(OnExists.init(rawValue:)) ?? context.services.settings.onExists
    var mode: Int?
    if let text = context.config.text("mode") {
      guard let bits = Int(text, radix: 8), (0...0o777).contains(bits) else {
        throw Fault("config.mode", .config, "`mode` is permissions in octal such as `0644`, not `\(text)`")
      }
      mode = bits
    }
    let axes = leg.axes.map { " \($0.0)=\($0.1.text)" }.joined()
    return PublishOptions(onExists: onExists, mode: mode, owner: leg.item.name + axes, media: media)
  }
}

extension Leg {
  /// A field as a text, whoever has set it.
  func text(_ name: String) -> String? { (fields[name] ?? item.fields[name])?.asString }
  /// A field as a whole number.
  func number(_ name: String) -> Int? { (fields[name] ?? item.fields[name])?.asInt }
}
