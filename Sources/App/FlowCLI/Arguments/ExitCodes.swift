/// What the exit codes mean, for help, the man page and the reference.
public enum ExitCodes {
  /// The codes in rising order, with their meaning.
  public static let table: [(code: String, words: String)] = [
    ("0", "done, within the policy of fail_if; other commands: yes"),
    ("1", "items failed beyond the policy; other commands: no"),
    ("2", "usage or manifest wrong; nothing was fetched"),
    ("4", "a sink marked required could not deliver"),
    ("5", "items failed, but every failure left is transient or a quota: run again"),
    ("6", "the local disk is full or a permission is missing"),
    ("70", "a bug in imgflow"),
    ("75", "another run holds the state directory"),
    ("124", "the deadline passed"),
    ("129", "ended by SIGHUP, after a clean drain"),
    ("130", "ended by SIGINT or by `imgflow ctl`, after a clean drain"),
    ("143", "ended by SIGTERM, after a clean drain"),
  ]
}
