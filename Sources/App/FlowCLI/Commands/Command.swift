/// A command: what is to be said of it, and what it does.
public struct Command: Sendable {
  /// What is to be said of it.
  public var spec: CommandSpec
  /// Does it and gives the exit code; throws a `UsageError`, a `Fault` or diagnostics where it cannot.
  public var body: @Sendable (ParsedArguments, Console) async throws -> Int
  /// Takes part in the report of a usage error of this command, before the words are written.
  public var onUsageError: (@Sendable (UsageError, Console) async -> Void)?

  /// A command.
  public init(
    _ spec: CommandSpec, body: @escaping @Sendable (ParsedArguments, Console) async throws -> Int
  ) {
    self.spec = spec
    self.body = body
  }
}
