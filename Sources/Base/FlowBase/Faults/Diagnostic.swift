/// What is wrong with what the user wrote, where, and what to do about it.
public struct Diagnostic: Sendable, Hashable, Error {
  /// How bad it is.
  public enum Severity: String, Sendable, Hashable {
    case error
    case warning
  }

  /// How bad it is.
  public var severity: Severity
  /// The stable code, such as `E0103`; warnings begin with `W`.
  public var code: String
  /// What is wrong, in one sentence without a full stop.
  public var message: String
  /// Where; nil for what stands in no file, such as a command's flag.
  public var place: Place?
  /// The remedy, shown beside the caret.
  public var hint: String?
  /// Further lines, shown below with `=`.
  public var notes: [String]

  /// An error, unless another severity is named.
  public init(
    _ code: String, _ message: String, at place: Place?, hint: String? = nil, notes: [String] = [],
    severity: Severity = .error
  ) {
    self.severity = severity
    self.code = code
    self.message = message
    self.place = place
    self.hint = hint
    self.notes = notes
  }
}
