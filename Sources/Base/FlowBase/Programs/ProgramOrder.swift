/// A program that is to be started, in a session and process group of its own.
public struct ProgramOrder: Sendable, Hashable {
  /// The program and its arguments; never a line for a shell.
  public var words: [String]
  /// All of its environment.
  public var environment: [String: String]
  /// The folder that it starts in.
  public var folder: String

  /// An order.
  public init(_ words: [String], environment: [String: String], folder: String) {
    self.words = words
    self.environment = environment
    self.folder = folder
  }

  /// What programs get of our environment unless they are given more: `PATH HOME LANG TMPDIR`.
  public static var plainEnvironment: [String: String] {
    var variables: [String: String] = [:]
    for name in ["PATH", "HOME", "LANG", "TMPDIR"] {
      if let value = Environment.value(of: name) { variables[name] = value }
    }
    variables["PATH"] = variables["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    return variables
  }
}

/// How a program ended.
public enum ProgramEnd: Sendable, Hashable {
  /// By itself, with its exit code.
  case exited(Int)
  /// By a signal.
  case signalled(Int)
  /// It could not be started.
  case unstartable(Errno)

  /// Whether all went well.
  public var isSuccess: Bool { self == .exited(0) }

  /// The end in words: `exited with 3`, `was ended by signal 9`.
  public var words: String {
    switch self {
    case .exited(let code): "exited with \(code)"
    case .signalled(let number): "was ended by signal \(number)\(ProgramEnd.names[number].map { " (\($0))" } ?? "")"
    case .unstartable(let reason): "could not be started: \(reason.words)"
    }
  }

  private static let names = [
    1: "SIGHUP", 2: "SIGINT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV",
    13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
  ]
}

/// What is heard of a running program.
public enum ProgramNews: Sendable {
  /// It runs, under this number.
  case started(Int)
  /// It has written to its standard output.
  case output([UInt8])
  /// It has written to its standard error.
  case errors([UInt8])
  /// It has ended; nothing more is heard of it, and nothing of its process group is left.
  case ended(ProgramEnd)
}
