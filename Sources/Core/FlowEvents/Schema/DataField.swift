/// A key of an event's `data`, as the schema and the reference describe it.
public struct DataField: Sendable, Hashable {
  /// What stands under a key.
  public indirect enum Kind: Sendable, Hashable {
    case string, integer, number, boolean
    /// A number from 0 to 1.
    case ratio
    /// One of some words.
    case word([String])
    case list(Kind)
    case object([DataField])
    /// An object with free keys and values of any kind.
    case free
    /// An object with types of events as keys and numbers as values.
    case counts
  }

  /// The key.
  public var name: String
  /// What stands there.
  public var kind: Kind
  /// Whether null may stand there; the key itself is always there.
  public var isNullable: Bool
  /// What it means.
  public var summary: String

  init(_ name: String, _ kind: Kind, nullable: Bool = false, _ summary: String) {
    self.name = name
    self.kind = kind
    self.isNullable = nullable
    self.summary = summary
  }
}

extension DataField {
  /// The keys of a failure.
  static let error: [DataField] = [
    .init("code", .string, "The stable code, such as http.404."),
    .init(
      "class", .word(["transient", "quota", "permanent", "auth", "config", "local", "internal", "cancelled"]),
      "The kind of failure."),
    .init("message", .string, "What happened, for people."),
    .init("retryable", .boolean, "Whether trying again can help."),
    .init("http_status", .integer, nullable: true, "The HTTP status, where there was one."),
    .init("host", .string, nullable: true, "The host that was asked, where there was one."),
    .init("attempt", .integer, nullable: true, "In which try, from 1."),
  ]

  /// The keys of a file.
  static let output: [DataField] = [
    .init("path", .string, "The path below the folder of the results."),
    .init("leg", .free, "The place on the axes of the matrix."),
    .init("group", .string, nullable: true, "The group that it was made for."),
    .init("media", .string, nullable: true, "The media type, where known."),
    .init("bytes", .integer, "The length."),
    .init("sha256", .string, "The SHA-256 in hex."),
    .init("width", .integer, nullable: true, "The picture's width, where known."),
    .init("height", .integer, nullable: true, "The picture's height, where known."),
  ]

  /// The keys of the counts of items.
  static let items: [DataField] = [
    .init("total", .integer, nullable: true, "All items; null while a source has more to give."),
    .init("ok", .integer, "Those that succeeded."),
    .init("cached", .integer, "Those among the successful that an earlier run had done."),
    .init("filtered", .integer, "Those that a stage sorted out."),
    .init("failed", .integer, "Those that failed."),
    .init("cancelled", .integer, "Those that were cancelled."),
  ]

  /// The keys of a barrier.
  static let barrier: [DataField] = [
    .init("stage", .string, "The stage's id."),
    .init("per", .word(["group", "run"]), "What the stage waits for."),
    .init("group", .string, nullable: true, "The group; null for the run."),
    .init("items", .integer, "How many items it stands for."),
  ]

  /// The keys of a diagnostic.
  static let diagnostic: [DataField] = [
    .init("severity", .word(["error", "warning"]), "How bad it is."),
    .init("code", .string, "The stable code, such as E0103."),
    .init("message", .string, "What is wrong."),
    .init("file", .string, nullable: true, "The file, as the user named it."),
    .init("line", .integer, nullable: true, "The line, from 1."),
    .init("column", .integer, nullable: true, "The column, from 1."),
    .init("length", .integer, nullable: true, "How many characters are meant."),
    .init("hint", .string, nullable: true, "The remedy."),
  ]
}
