/// How the program ends, as a number that scripts can rely on.
public enum ExitCode: Int, Sendable, Hashable, CaseIterable {
  /// Done, within the policy of `fail_if`; for checks: yes.
  case done = 0
  /// Items failed beyond the policy; for checks: no.
  case failed = 1
  /// Usage or manifest wrong; nothing was fetched.
  case usage = 2
  /// The lock was violated.
  case lockViolated = 3
  /// A required sink could not deliver.
  case sinkFailed = 4
  /// As `failed`, but every failure left may pass by itself: run again.
  case tryAgain = 5
  /// Local disk or permission.
  case disk = 6
  /// A bug in imgflow.
  case bug = 70
  /// Another run holds the state directory.
  case held = 75
  /// The run's deadline passed.
  case deadline = 124
  /// SIGHUP, after a clean drain.
  case hungUp = 129
  /// SIGINT, after a clean drain; also a run that was cancelled otherwise.
  case interrupted = 130
  /// SIGTERM, after a clean drain.
  case terminated = 143

  /// What it means, in one line.
  public var meaning: String {
    switch self {
    case .done: "done, within the policy of `fail_if`"
    case .failed: "items failed beyond the policy"
    case .usage: "usage or manifest wrong; nothing was fetched"
    case .lockViolated: "the lock was violated"
    case .sinkFailed: "a sink marked `required` could not deliver"
    case .tryAgain: "as 1, but every failure left is transient or a quota: run again"
    case .disk: "local disk or permission"
    case .bug: "a bug in imgflow"
    case .held: "another run holds the state directory"
    case .deadline: "the run's deadline passed"
    case .hungUp: "ended by SIGHUP, after a clean drain"
    case .interrupted: "ended by SIGINT or cancelled, after a clean drain"
    case .terminated: "ended by SIGTERM, after a clean drain"
    }
  }

  /// From the strongest to the weakest: where several hold, the first of these is the one.
  public static let precedence: [ExitCode] = [
    .bug, .held, .usage, .lockViolated, .disk, .interrupted, .terminated, .hungUp, .deadline, .sinkFailed, .failed,
    .tryAgain, .done,
  ]

  /// The one of several that counts; none is `done`.
  public static func strongest(_ codes: [ExitCode]) -> ExitCode { precedence.first { codes.contains($0) } ?? .done }

  /// The code of a run that a signal ended.
  public init?(signal: Int) {
    switch signal {
    case 1: self = .hungUp
    case 2: self = .interrupted
    case 15: self = .terminated
    default: return nil
    }
  }
}
