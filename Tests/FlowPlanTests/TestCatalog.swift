import FlowBase
import FlowExpressions
import FlowEvents
import FlowManifest
import FlowParts
import FlowPlan
import FlowYAML

/// A source, stage or sink that only has a specification.
struct Mute: Source, Stage {
  func open(in context: SourceContext) async throws -> any SourceReader { ListReader([]) }
}

struct MuteSink: Sink {
  func render(_ event: Event, into buffer: inout [UInt8]) {}
  func open() async throws {}
  func deliver(_ bytes: [UInt8]) async throws {}
  func close() async throws {}
}

extension Catalog {
  /// Parts with the keys of the real ones, as far as the planner's tests need them.
  static var forTests: Catalog {
    var catalog = Catalog()
    for spec in TestSpecs.sources { catalog.add(SourcePart(spec) { Mute() }) }
    for spec in TestSpecs.stages { catalog.add(StagePart(spec) { Mute() }) }
    for spec in TestSpecs.sinks { catalog.add(SinkPart(spec) { _, _ in MuteSink() }) }
    return catalog
  }
}

enum TestSpecs {
  static let size = 1...100_000

  static let sources: [PartSpec] = [
    PartSpec(
      name: "urls", role: .source, summary: "Addresses that stand in the manifest.",
      fields: [
        FieldSpec(
          "list",
          .list(
            .either([
              .url,
              .object([
                FieldSpec("url", .url, phase: .load, required: true, "The address."),
                FieldSpec("key", .string, phase: .load, "The key."),
                FieldSpec("mirrors", .list(.url), phase: .load, "Other addresses."),
                FieldSpec("row", .map(.anything), phase: .load, "Values for `row.*`."),
              ]),
            ])), phase: .load, required: true, "The addresses.")
      ], shorthand: "list", example: "- https://example.com/a.jpg"),
    PartSpec(
      name: "file", role: .source, summary: "The lines of a file.",
      fields: [
        FieldSpec("path", .string, phase: .load, required: true, "The file."),
        FieldSpec("url", .url, phase: .row, "The address."), FieldSpec("key", .string, phase: .row, "The key."),
        FieldSpec(
          "types", .map(.choice(["string", "integer", "number", "boolean"])), phase: .load, "Types of columns."),
        FieldSpec("format", .choice(["txt", "csv", "tsv", "jsonl"]), phase: .load, "The format."),
        FieldSpec("header", .boolean, phase: .load, "Whether there is a line of names."),
      ], shorthand: "path", example: "- file: list.txt"),
    PartSpec(
      name: "template", role: .source, summary: "Addresses from a pattern.",
      fields: [
        FieldSpec("url", .url, phase: .row, required: true, "The address."),
        FieldSpec("for", .map(.anything), phase: .load, "The values."),
        FieldSpec("key", .string, phase: .row, "The key."), FieldSpec("zip", .boolean, phase: .load, "Side by side."),
      ], example: "- template: { url: \"https://example.com/${for.n}.jpg\", for: { n: 1..3 } }"),
  ]

  static let stages: [PartSpec] = [
    PartSpec(
      name: "fetch", role: .stage, summary: "Fetches the item's address.",
      fields: [
        FieldSpec("accept", .list(.string), "Media types."), FieldSpec("min_bytes", .byteCount, "The least."),
        FieldSpec("max_bytes", .byteCount, "The most."), FieldSpec("headers", .map(.string), "Headers."),
        FieldSpec("method", .choice(["GET", "POST"]), default: "GET", "The method."),
        FieldSpec("mirrors", .list(.url), "Other addresses."), FieldSpec("idle", .interval, default: "30s", "Silence."),
        FieldSpec("min_speed", .bandwidth, "The slowest."),
      ],
      sets: { _ in
        ["final_url", "media", "sha256", "etag", "last_modified", "path"].map { ItemField($0, .string) }
          + ["status", "bytes"].map { ItemField($0, .integer) }
      }, example: "- fetch: { accept: image/* }"),
    PartSpec(
      name: "probe", role: .stage, summary: "Reads a picture's header.",
      fields: [FieldSpec("full", .boolean, default: "false", "Whether all is decoded.")],
      sets: { _ in ["width", "height"].map { ItemField($0, .integer) } + [ItemField("media", .string)] },
      example: "- probe"),
    PartSpec(
      name: "filter", role: .stage, summary: "Keeps items.",
      fields: [FieldSpec("condition", .condition, required: true, "What holds for the items that stay.")],
      shorthand: "condition", isImmediate: true, example: "- filter: item.bytes > 0"),
    PartSpec(
      name: "set", role: .stage, summary: "Sets fields.",
      fields: [FieldSpec("fields", .map(.anything), required: true, "The fields.")], shorthand: "fields",
      sets: { config in
        guard case .map(let entries)? = config["fields"] else {
          return (config.value("fields")?.asMap ?? [:]).map { ItemField($0.0, .any) }
        }
        return entries.map { ItemField($0.name, .any) }
      }, isImmediate: true, example: "- set: { title: \"${row.name}\" }"),
    PartSpec(
      name: "resize", role: .stage, summary: "Changes a picture's size.",
      fields: [
        FieldSpec("width", .integer(size), "The width."), FieldSpec("height", .integer(size), "The height."),
        FieldSpec("fit", .choice(["inside", "cover", "contain", "fill"]), default: "inside", "How it fits."),
        FieldSpec("format", .choice(["jpeg", "png", "webp"]), "The format."),
        FieldSpec("quality", .integer(1...100), default: "80", "The quality."),
        FieldSpec("background", .string, "The background."),
      ], sets: { _ in ["width", "height"].map { ItemField($0, .integer) } }, fuses: "picture",
      example: "- resize: { width: 256 }"),
    PartSpec(
      name: "store", role: .stage, summary: "Publishes the item's bytes.",
      fields: [
        FieldSpec("path", .path, default: "${item.name}", "Where it goes."),
        FieldSpec("on_exists", .choice(["keep", "skip", "overwrite", "fail"]), "What is there already."),
        FieldSpec("mode", .string, "The file's mode."), FieldSpec("sidecar", .choice(["json"]), "A file beside it."),
      ], shorthand: "path", example: "- store: \"${item.key}.webp\""),
    PartSpec(
      name: "report", role: .stage, summary: "Writes a table.",
      fields: [
        FieldSpec("path", .path, required: true, "The file."), FieldSpec("columns", .list(.string), "The columns."),
        FieldSpec("include", .choice(["ok", "all"]), default: "ok", "Which items."),
        FieldSpec("format", .choice(["csv", "jsonl"]), "The format."),
      ], shorthand: "path", per: [.run, .group], example: "- report: index.csv"),
    PartSpec(
      name: "montage", role: .stage, summary: "A contact sheet.",
      fields: [
        FieldSpec("columns", .integer(1...100), default: "4", "Columns."),
        FieldSpec("path", .path, required: true, "The file."),
      ], per: [.run, .group], example: "- montage: { path: sheet.jpg }"),
    {
      var spec = PartSpec(
        name: "exec", role: .stage, summary: "Runs a program.",
        fields: [
          FieldSpec("argv", .list(.string), required: true, "The program and its arguments."),
          FieldSpec("env", .map(.string), "Variables."), FieldSpec("cwd", .string, "The folder."),
        ], shorthand: "argv", per: [.leg, .item, .group, .run], example: "- exec: [cp, a, b]")
      spec.runsProgram = true
      return spec
    }(),
  ]

  static let sinks: [PartSpec] = [
    PartSpec(
      name: "ndjson", role: .sink, summary: "A line of JSON an event.",
      fields: [FieldSpec("to", .string, phase: .load, default: "stdout", "Where it goes.")], shorthand: "to",
      example: "- ndjson: { to: stdout }"),
    PartSpec(
      name: "log", role: .sink, summary: "A line of words an event.",
      fields: [
        FieldSpec("to", .string, phase: .load, default: "stderr", "Where it goes."),
        FieldSpec("level", .choice(["debug", "info", "warn", "error"]), phase: .load, default: "info", "How much."),
      ], shorthand: "to", example: "- log: { to: run.log }"),
    PartSpec(
      name: "webhook", role: .sink, summary: "Posts events.",
      fields: [
        FieldSpec("url", .url, phase: .load, required: true, "The address."),
        FieldSpec("secret", .list(.string), phase: .load, "The signing key."),
        FieldSpec("headers", .map(.string), phase: .load, "Headers."),
      ], shorthand: "url", example: "- webhook: { url: https://ci.example.com/hook }"),
  ]
}

/// A manifest read from text, with everything that is wrong.
struct Reading {
  var plan: Plan?
  var diagnostics: [Diagnostic]
  var text: String

  init(
    _ text: String, file: String = "m.yaml", overlays: Overlays = Overlays(), files: [String: String] = [:],
    catalog: Catalog = .forTests, change: (inout PlanInputs) -> Void = { _ in }
  ) {
    let sources = files.merging([file: text]) { $1 }
    let lines = sources.mapValues { $0.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
    let line: @Sendable (String, Int) -> String? = { name, number in
      lines[name].flatMap { $0.indices.contains(number - 1) ? $0[number - 1] : nil }
    }
    let (node, problems) = YAMLReader.read(Array(text.utf8), file: file)
    var inputs = PlanInputs(folder: "/site")
    inputs.environment = ["HOME": "/home/me"]
    inputs.line = line
    change(&inputs)
    var found = problems
    if let node {
      let (manifest, shape) = Manifest.load(node, overlays: overlays) { path in
        guard let text = sources[path] else { throw Fault("file.missing", .config, "no such file") }
        guard let node = YAMLReader.read(Array(text.utf8), file: path).node else { throw Fault("yaml", .config, "bad") }
        return node
      }
      found += shape
      if let manifest {
        let (plan, wrong, _) = Plan.make(manifest, catalog: catalog, inputs: inputs)
        self.plan = plan
        found += wrong
      }
    }
    diagnostics = found.sortedByPlace()
    self.text = DiagnosticText(line: line).text(diagnostics)
  }
}
