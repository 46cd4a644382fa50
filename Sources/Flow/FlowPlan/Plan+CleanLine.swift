public import FlowParts

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
    for plugin in plugins {
      parts.append("plugin \(plugin.name) \(plugin.version) (\(plugin.permissions.joined(separator: "; ")))")
    }
    return parts.joined(separator: ", ")
  }

  /// The plugins whose parts take part, each once, by name.
  public var plugins: [PluginNote] {
    let specs = sources.map(\.part.spec) + stages.map(\.part.spec) + sinks.map(\.part.spec)
    return Set(specs.compactMap(\.plugin)).sorted { ($0.name, $0.folder) < ($1.name, $1.folder) }
  }

  private static func count(_ number: Int, _ word: String) -> String {
    "\(number) \(word)\(number == 1 ? "" : "s")"
  }
}
