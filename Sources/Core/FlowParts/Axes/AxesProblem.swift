/// What is wrong with axes, a range, or their exclusions.
public struct AxesProblem: Error, Sendable, Hashable {
  /// What is wrong.
  public var message: String
  /// The remedy.
  public var hint: String?
  /// The axis or key where it is wrong; nil where it is the whole.
  public var key: String?

  /// A problem.
  public init(_ message: String, hint: String? = nil, key: String? = nil) {
    self.message = message
    self.hint = hint
    self.key = key
  }
}
