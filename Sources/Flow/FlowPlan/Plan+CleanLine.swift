internal import FlowParts

extension Plan {
  /// What `imgflow validate` says of a manifest without a mistake, in one line.
  public var cleanLine: String {
    let barriers = stages.count { $0.scope.isBarrier }
    var parts = [
      "ok", Plan.count(sources.count, "source"), Plan.count(stages.count, "stage"), Plan.count(barriers, "barrier"),
      Plan.count(sinks.count, "sink"),
    ]
    if !environment.isEmpty { parts.append("env: " + environment.joined(separator: " ")) }
    if !secretNames.isEmpty { parts.append("secrets: " + secretNames.joined(separator: " ")) }
    return parts.joined(separator: ", ")
  }

  private static func count(_ number: Int, _ word: String) -> String {
    "\(number) \(word)\(number == 1 ? "" : "s")"
  }
}
