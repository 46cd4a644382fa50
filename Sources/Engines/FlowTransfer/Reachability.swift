internal import CCurl
public import FlowBase

/// What comes of trying to connect to a host.
public enum Reachability: Sendable, Hashable {
  /// It takes connections.
  case open
  /// It is there and takes none.
  case refused
  /// Nothing comes back.
  case silent
  /// There is no way there, or nobody who resolves its name.
  case gone
}

extension TransferEngine {
  /// Tries to connect to a host, `name:port`, or to the proxy on the way there; nothing is asked of it.
  public func reach(_ authority: String, way: HostWay, within limit: Interval = .seconds(3)) async -> Reachability {
    guard let url = try? URLParts(parsing: "http://\(authority)/") else { return .open }
    let proxy = way.proxy ?? environment.proxy(for: url)
    let target =
      proxy.isEmpty ? url : (try? URLParts(parsing: proxy.contains("://") ? proxy : "http://\(proxy)")) ?? url
    let names = names
    return await withCheckedContinuation { continuation in
      WorkerThread.start("reach") {
        continuation.resume(returning: TransferEngine.connect(to: target, names, limit))
      }
    }
  }

  private static func connect(to url: URLParts, _ names: NameResolver, _ limit: Interval) -> Reachability {
    var addresses: [NetworkAddress] = []
    if let literal = NetworkAddress(parsing: url.host) {
      addresses = [literal]
    } else {
      switch names.ask(url.host) {
      case .addresses(let found): addresses = found
      // Somebody has answered.
      case .missing: return .refused
      case .unknown: return .gone
      }
    }
    var worst = Reachability.gone
    for address in addresses.prefix(4) {
      let code = unsafe address.bytes.withUnsafeBufferPointer { bytes in
        unsafe imgflow_try_connect(
          bytes.baseAddress, Int32(bytes.count), Int32(url.port == 0 ? 1080 : url.port), Int32(limit.milliseconds))
      }
      switch code {
      case 0: return .open
      case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EADDRNOTAVAIL, EAFNOSUPPORT: break
      case ETIMEDOUT, EAGAIN: if worst == .gone { worst = .silent }
      default: worst = .refused
      }
    }
    return worst
  }
}
