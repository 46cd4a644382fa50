public import FlowBase

/// A failure as events tell it.
public struct EventError: Sendable, Hashable {
  /// What failed and why.
  public var fault: Fault
  /// In which try, from 1; nil where nothing was tried.
  public var attempt: Int?

  /// A failure.
  public init(_ fault: Fault, attempt: Int? = nil) {
    self.fault = fault
    self.attempt = attempt
  }
}

/// How often a code occurred.
public struct CodeCount: Sendable, Hashable {
  /// The code.
  public var code: String
  /// How often.
  public var count: Int

  /// A count.
  public init(code: String, count: Int) {
    self.code = code
    self.count = count
  }
}
