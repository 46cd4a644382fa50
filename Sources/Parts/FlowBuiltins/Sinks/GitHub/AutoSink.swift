internal import FlowBase
public import FlowParts

/// Tells the surroundings what they understand: inside of GitHub Actions what `github` tells, elsewhere nothing.
public enum AutoSink {
  /// What is to be said of it.
  public static let part = SinkPart(
    PartSpec(
      name: "auto", role: .sink,
      summary: "Tells the surroundings what they understand: in GitHub Actions what `github` tells, elsewhere nothing.",
      fields: [], example: "sinks:\n  - auto: {}\n")
  ) { (_, context) throws(Fault) in
    GitHubSink(context, isOn: GitHubSink.isInActions(ProcessFacts.environment))
  }
}
