public import FlowParts

/// The keys that belong to the language and not to a part: those of the sections and those beside an op.
///
/// They are described like the keys of parts, so that validation, help and the schema treat both alike.
public enum SectionFields {
  /// The most that a count can be.
  static let many = 1...1_000_000

  /// The keys beside a source's op.
  public static let source: [FieldSpec] = [
    id,
    FieldSpec("where", .condition, phase: .row, "Keeps the items for which it is true."),
    sample,
    take,
    note,
  ]

  /// The keys beside a stage's op.
  public static let stage: [FieldSpec] = [
    id,
    FieldSpec("needs", .list(.string), phase: .load, "Stages whose results it takes; the one above unless named."),
    FieldSpec("after", .list(.string), phase: .load, "Stages that must be wholly finished before it starts."),
    FieldSpec(
      "per",
      .either([
        .choice(["leg", "item", "run"]),
        .object([
          FieldSpec("group", .condition, required: true, "The expression that names an item's group.")
        ]),
      ]), phase: .leg, "How often it runs."),
    FieldSpec(
      "if", .either([.choice(["success", "always"]), .condition]), default: "success", "When it runs."),
    FieldSpec("matrix", matrix, phase: .load, "Axes and their values; it runs once for each combination."),
    FieldSpec(
      "on_error", .choice(["fail", "use_input", "drop", "stop"]), phase: .load, default: "fail",
      "What happens when it fails for good."),
    FieldSpec("concurrency", .integer(many), phase: .load, "The most operations at once."),
    FieldSpec("interval", .interval, phase: .load, "The time between two starts."),
    FieldSpec(
      "retry",
      .object([
        FieldSpec("attempts", .integer(1...1000), phase: .load, default: "5", "All tries, the first included."),
        FieldSpec(
          "backoff", .string, phase: .load, default: "500ms..60s", "The shortest and the longest wait between two."),
        FieldSpec(
          "classes", .list(.choice(["transient", "quota", "permanent", "auth", "local", "internal"])), phase: .load,
          default: "[transient, quota]", "The classes of errors that are tried again."),
      ]), phase: .load, "How often and when it is tried again."),
    FieldSpec("timeout", .interval, phase: .load, "The time for one try."),
    FieldSpec("deadline", .interval, phase: .load, "The time for all tries and waits."),
    FieldSpec("pool", .string, phase: .load, "The pool that each operation takes a token of."),
    note,
  ]

  /// The keys beside a sink's op.
  public static let sink: [FieldSpec] = [
    id,
    FieldSpec(
      "events", .list(.string), phase: .load, "The types of events that it is told, with `*`; all unless named."),
    FieldSpec(
      "required", .boolean, phase: .load, default: "false", "Whether the run fails when this sink cannot deliver."),
    note,
  ]

  /// The keys beside an op of some role.
  public static func beside(_ role: Role) -> [FieldSpec] {
    switch role {
    case .source: source
    case .stage: stage
    case .sink: sink
    }
  }

  /// The keys of `output`.
  public static let output: [FieldSpec] = [
    FieldSpec("dir", .string, phase: .load, default: "out", "The folder below which everything is written."),
    FieldSpec(
      "on_exists", .choice(OnExists.allCases.map(\.rawValue)), phase: .load, default: "keep",
      "What to do about a file that is there already."),
  ]

  /// The keys of `state`.
  public static let state: [FieldSpec] = [
    FieldSpec("dir", .string, phase: .load, default: ".imgflow", "The folder of journals and temporary files."),
    FieldSpec(
      "cache", .string, phase: .load,
      "The folder of a content store: what is fetched is kept there by its SHA-256, for all projects that name it."),
    FieldSpec(
      "rerun_on", .list(.choice(StateSettings.RerunOn.allCases.map(\.rawValue))), phase: .load,
      default: "[input, config, plugin, output_missing]", "What makes the result of an earlier run stale."),
    FieldSpec(
      "refresh", .choice(StateSettings.Refresh.allCases.map(\.rawValue)), phase: .load, default: "never",
      "Whether what an earlier run fetched is asked for again."),
    FieldSpec(
      "durability", .choice(StateSettings.Durability.allCases.map(\.rawValue)), phase: .load,
      "How safe a file is before it is announced; `full` for the first 10,000 items, then `batch`, unless named."),
  ]

  /// The keys of `limits`.
  public static let limits: [FieldSpec] = [
    FieldSpec(
      "connections", .either([.choice(["auto"]), .integer(many)]), phase: .load, default: "auto",
      "The most connections at once."),
    FieldSpec("bandwidth", .bandwidth, phase: .load, "The most bytes a second over all transfers."),
    FieldSpec("memory", .byteCount, phase: .load, "The most memory for pictures and small bodies."),
    FieldSpec("temp", .byteCount, phase: .load, "The most bytes of temporary files."),
    FieldSpec("cpu", .integer(1...4096), phase: .load, "The most cores that are used; all unless named."),
    FieldSpec("pools", .map(.integer(many)), phase: .load, "Sizes of the pools that stages share, by name."),
  ]

  /// The keys of a line of `hosts`.
  public static let host: [FieldSpec] = [
    FieldSpec(
      "connections", .either([.choice(["auto"]), .integer(many)]), phase: .load, default: "6",
      "The most connections to the host."),
    FieldSpec("streams", .integer(many), phase: .load, default: "64", "The most streams on an HTTP/2 connection."),
    FieldSpec("bandwidth", .bandwidth, phase: .load, "The most bytes a second from the host."),
    FieldSpec("rate", .rate, phase: .load, "The most requests in a time."),
    FieldSpec("interval", .interval, phase: .load, "The time between the starts of two requests."),
    FieldSpec("user_agent", .string, phase: .load, "The `User-Agent` of requests."),
    FieldSpec("robots", .boolean, phase: .load, "Whether the host's robots.txt is asked for first, and heeded."),
    FieldSpec(
      "auth",
      .object([
        FieldSpec("basic", .string, phase: .load, "`name:password`."),
        FieldSpec("bearer", .string, phase: .load, "A token."),
        FieldSpec("netrc", .boolean, phase: .load, "Whether `~/.netrc` is read."),
      ]), phase: .load, "Credentials for this host alone."),
    FieldSpec("headers", .map(.string), phase: .load, "Request headers for this host alone."),
    FieldSpec("query", .map(.string), phase: .load, "Query parameters for this host alone."),
    FieldSpec("cookies", .string, phase: .load, "The path of a cookie jar."),
    FieldSpec(
      "tls",
      .object([
        FieldSpec("ca", .string, phase: .load, "The path of certificates to trust."),
        FieldSpec("cert", .string, phase: .load, "The path of a client certificate."),
        FieldSpec("key", .string, phase: .load, "The path of its key."),
      ]), phase: .load, "Certificates."),
    FieldSpec("proxy", .string, phase: .load, "The address of a proxy."),
    FieldSpec("http", .choice(["auto", "1.1", "2"]), phase: .load, default: "auto", "The version of HTTP."),
    FieldSpec("allow", .boolean, phase: .load, "Permission to reach what is refused by default."),
  ]

  /// The keys of a declared variable.
  public static let variable: [FieldSpec] = [
    FieldSpec(
      "type", .choice(["string", "integer", "number", "boolean", "list", "map"]), phase: .load, "The type of its value."
    ),
    FieldSpec("default", .anything, phase: .load, "Its value where none is given."),
    FieldSpec("enum", .list(.anything), phase: .load, "The values that it may have."),
    note,
  ]

  /// The keys of a listed environment variable.
  public static let environment: [FieldSpec] = [
    FieldSpec("name", .string, phase: .load, required: true, "Its name."),
    FieldSpec("default", .string, phase: .load, "Its value where it is not set."),
  ]

  /// The keys of a secret.
  public static let secret: [FieldSpec] = [
    FieldSpec("file", .string, phase: .load, "The file that holds it; the environment unless named.")
  ]

  /// The keys of the top level that are no lists of entries.
  public static let top: [FieldSpec] = [
    FieldSpec("imgflow", .integer(1...1), phase: .load, required: true, "The version of the format."),
    FieldSpec("name", .string, phase: .load, "The name of the run; the file's name unless given."),
    FieldSpec("vars", .map(.anything), phase: .load, "Values that the command line can change."),
    FieldSpec(
      "env", .list(.either([.string, .object(environment)])), phase: .load, "The environment variables that are read."),
    FieldSpec("secrets", .map(.object(secret)), phase: .load, "Texts that are never written anywhere."),
    FieldSpec("extends", .list(.string), phase: .load, "Manifests that this one is laid over."),
    FieldSpec("output", .object(output), phase: .load, "Where files go."),
    FieldSpec("plugins", .list(.string), phase: .load, "Folders of plugins."),
    FieldSpec("limits", .object(limits), phase: .load, "What the run may use."),
    FieldSpec("hosts", .map(.object(host)), phase: .load, "How to treat each host."),
    FieldSpec(
      "offline", .choice(["fail", "pause"]), phase: .load, default: "fail", "What happens when the network is gone."),
    FieldSpec("fail_if", .condition, "Judged once, at the end: whether the run has failed."),
    FieldSpec("stop_if", .condition, "Judged as results come in: whether the run is stopped."),
    FieldSpec("state", .object(state), phase: .load, "What is remembered between runs."),
    FieldSpec("profiles", .map(.anything), phase: .load, "Layers that `--profile` lays over the manifest."),
    sample,
    take,
  ]

  private static let id = FieldSpec("id", .string, phase: .load, "Its name, `[a-z][a-z0-9_]*`; the op's unless given.")
  private static let note = FieldSpec("note", .string, phase: .load, "A remark for readers.")
  private static let sample = FieldSpec(
    "sample", .string, phase: .load, "`20` items or `2%` of them, the same in every run.")
  private static let take = FieldSpec("take", .integer(0...Int.max), phase: .load, "The first so many items.")
  static let matrix = FieldType.map(.anything)
}
