internal import Glibc

/// Starts other programs.
public enum Launch {
  /// Starts a program of the search path with these words and variables, hands it our streams, and waits for its end.
  ///
  /// SIGTERM and SIGHUP are handed on to it; SIGINT reaches it from the terminal by itself. The result is its exit
  /// code, 128 and the signal where one ended it, and 127 where it cannot be started. `Signals.block` comes first.
  public static func run(_ words: [String], environment: [String: String]) -> Int {
    var awaited = Signals.set(Signals.endings + [SIGCHLD])
    guard let child = spawn(words, environment) else { return 127 }
    while true {
      var status: Int32 = 0
      let ended = unsafe waitpid(child, &status, WNOHANG)
      if ended == child { return code(of: status) }
      if ended < 0 && errno != EINTR { return 127 }
      var number: Int32 = 0
      if unsafe sigwait(&awaited, &number) == 0, number == SIGTERM || number == SIGHUP { kill(child, number) }
    }
  }

  private static func spawn(_ words: [String], _ environment: [String: String]) -> pid_t? {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    let variables = environment.map { "\($0.key)=\($0.value)" }
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
    var surroundings: [UnsafeMutablePointer<CChar>?] = unsafe variables.map { unsafe strdup($0) } + [nil]
    defer {
      unsafe arguments.forEach { unsafe free($0) }
      unsafe surroundings.forEach { unsafe free($0) }
    }
    var child: pid_t = 0
    guard let program = words.first else { return nil }
    return unsafe posix_spawnp(&child, program, nil, &attributes, &arguments, &surroundings) == 0 ? child : nil
  }

  private static func code(of status: Int32) -> Int {
    let signal = Int(status & 0x7F)
    return signal == 0 ? Int(status >> 8 & 0xFF) : 128 + signal
  }
}

/// The signals that ask a program to end, taken in order and not in the middle of something.
public enum Signals {
  static let endings: [Int32] = [SIGINT, SIGTERM, SIGHUP]

  /// Holds the signals back for all threads that are started from now on; call it before any is.
  public static func block() {
    var signals = set(endings + [SIGCHLD])
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Waits until one of the signals that ask for the end comes.
  public static func waitForEnding() {
    var signals = set(endings)
    var number: Int32 = 0
    _ = unsafe sigwait(&signals, &number)
  }

  static func set(_ signals: [Int32]) -> sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in signals { unsafe sigaddset(&set, signal) }
    return set
  }
}
