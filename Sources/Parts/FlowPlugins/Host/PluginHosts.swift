internal import FlowBase

/// All hosts of this process that have not ended.
public enum PluginHosts {
  static let alive = Guarded<[ObjectIdentifier: PluginHost]>([:])

  /// Waits until every host has ended its processes and removed its folder; before the program ends.
  public static func settle() async {
    for host in alive.withLock({ Array($0.values) }) { await host.close() }
  }
}
