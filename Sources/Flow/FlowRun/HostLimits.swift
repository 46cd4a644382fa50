import FlowBase
import FlowGraph
import FlowParts

extension HostTable {
  /// What a host, as `name:port`, may be asked at once and how often.
  func limits(of host: String, defaultConnections: Int) -> HostGate.Limits {
    var name = host[...]
    var port = 443
    if let colon = host.lastIndex(of: ":"), let number = Int(host[host.index(after: colon)...]) {
      name = host[..<colon]
      port = number
    }
    let settings = HostSettings.resolve(self, host: String(name), port: port)
    // `auto`, written as 0, lets the height find itself up to what the run as a whole may use.
    let connections = settings.connections.map { $0 == 0 ? 512 : $0 } ?? defaultConnections
    let byRate = settings.rate.map { Interval(seconds: 1 / $0).nanoseconds } ?? 0
    return HostGate.Limits(
      connections: connections, spacing: max(byRate, settings.interval?.nanoseconds ?? 0),
      streams: settings.streams ?? 64)
  }
}
