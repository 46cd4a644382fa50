extension Command {
  /// Every command, in the order of the help.
  public static let all: [Command] = [
    .run, .get, .validate, .plan, .graph, .explain, .schema, .config, .initialise, .status, .runs, .ctl, .page, .lock,
    .verify,
    .cache, .flush, .events, .plugin, .completion, .man,
  ]
}
