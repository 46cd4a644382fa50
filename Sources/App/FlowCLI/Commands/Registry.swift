extension Command {
  /// Every command, in the order of the help.
  public static let all: [Command] = [
    .run, .plan, .status, .runs, .ctl, .explain, .completion, .man,
  ]
}
