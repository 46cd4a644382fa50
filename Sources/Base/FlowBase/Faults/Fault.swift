/// The kinds of failure, which decide whether something is tried again and how a run ends.
public enum FaultClass: String, Sendable, Hashable, CaseIterable {
  /// May pass by itself; tried again with back-off.
  case transient
  /// A host asks to be left alone for a while.
  case quota
  /// Will fail again.
  case permanent
  /// Credentials or trust are missing.
  case auth
  /// The configuration is wrong; the run stops.
  case config
  /// This machine's disk or permissions; the run drains.
  case local
  /// A bug in imgflow.
  case `internal`
  /// Somebody or something ended it on purpose.
  case cancelled

  /// Whether trying again can help.
  public var isRetryable: Bool { self == .transient || self == .quota }
}

/// Why an operation failed: a stable code, its class, and words for people.
public struct Fault: Error, Sendable, Hashable {
  /// The stable code, such as `http.404`; it never carries values.
  public var code: String
  /// The kind of failure.
  public var kind: FaultClass
  /// What happened, in one sentence for people.
  public var message: String
  /// The HTTP status, where there was one.
  public var httpStatus: Int?
  /// The host that was asked, where there was one.
  public var host: String?
  /// How long the host asked to be left alone.
  public var retryAfter: Interval?

  /// A fault.
  public init(
    _ code: String, _ kind: FaultClass, _ message: String, httpStatus: Int? = nil, host: String? = nil,
    retryAfter: Interval? = nil
  ) {
    self.code = code
    self.kind = kind
    self.message = message
    self.httpStatus = httpStatus
    self.host = host
    self.retryAfter = retryAfter
  }

  /// Whether it is the bytes that were at fault, so that the same bytes would be again.
  ///
  /// What a program says is its own: its next version, or a graphics card with more room, may take the same bytes.
  public var blamesBytes: Bool {
    kind == .permanent && Fault.areasOfBytes.contains(code.prefix { $0 != "." })
  }

  private static let areasOfBytes: Set<Substring> = [
    "archive", "body", "encoding", "image", "media", "record", "verify",
  ]

  /// A fault of ours: something that cannot happen has happened.
  public static func `internal`(_ what: String, _ message: String) -> Fault {
    Fault("internal.\(what)", .internal, message)
  }

  /// The fault that any error stands for; foreign errors are bugs of ours.
  public init(_ error: any Error) {
    if let fault = error as? Fault {
      self = fault
    } else if error is CancellationError {
      self = Fault("cancelled.user", .cancelled, "cancelled")
    } else {
      self = .internal("error", "\(error)")
    }
  }
}
