internal import FlowBase

/// The program whose processes do picture work.
public enum PictureProgram {
  /// The hidden verb under which it does so.
  public static let verb = "__pictures"
  /// What a worker says first; another version of the program says something else.
  static let greeting = "imgflow pictures 1"

  private static let isOwn = Guarded(false)

  /// Says that the program of this process knows the verb.
  public static func declareOwn() { isOwn.withLock { $0 = true } }

  /// The path of the program; nil where there is none, and picture work then stays in this process.
  ///
  /// `IMGFLOW_BINARY` comes first, then the program of this process where it is imgflow itself, an `imgflow` beside
  /// it, and one of the search path.
  public static func find() -> String? {
    if let named = Environment.value(of: "IMGFLOW_BINARY"), !named.isEmpty {
      return OwnProcess.canRun(named) ? named : nil
    }
    // The link and not what it says, so that a program that was replaced meanwhile is still this one.
    if isOwn.withLock({ $0 }) { return "/proc/self/exe" }
    var folders = (Environment.value(of: "PATH") ?? "").split(separator: ":").map(String.init)
    if let own = OwnProcess.program { folders.insert(PathText.parent(of: own), at: 0) }
    return folders.filter { $0.hasPrefix("/") }.map { $0 + "/imgflow" }.first(where: OwnProcess.canRun)
  }

  /// What a worker needs to know of the surroundings: where libraries, fonts and temporary files are, and no secrets.
  static var environment: [String: String] {
    var environment = ProcessFacts.environment.filter { name, _ in
      ["PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH", "TZ"].contains(name) || name.hasPrefix("LC_")
        || name.hasPrefix("FONTCONFIG_") || name.hasPrefix("XDG_") || name.hasSuffix("SAN_OPTIONS")
    }
    // A worker that dies is replaced at once; drawing up where it died takes a debugger's time.
    environment["SWIFT_BACKTRACE"] = "enable=no"
    return environment
  }
}
