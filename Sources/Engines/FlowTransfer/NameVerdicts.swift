internal import FlowBase
internal import Glibc

/// Finds out why a name did not resolve: it does not exist, or nobody could say.
///
/// libcurl tells the two not apart. The verdict about a name is remembered for a while, so that a thousand addresses
/// of a dead host cost one question.
final class NameVerdicts: Sendable {
  private let verdicts = Guarded<[String: (isMissing: Bool, until: Instant)]>([:])
  private let clock = SystemTime()
  private static let memory = Interval.seconds(5)

  /// The fault as it is, or `dns.nxdomain` where its host's name does not exist.
  func refine(_ fault: Fault) async -> Fault {
    guard let host = fault.host else { return fault }
    let now = clock.now()
    if let known = verdicts.withLock({ $0[host] }), now < known.until {
      return known.isMissing ? missing(host) : fault
    }
    let isMissing = await withCheckedContinuation { continuation in
      WorkerThread.start("names") { continuation.resume(returning: NameVerdicts.isMissing(host)) }
    }
    let until = clock.now() + NameVerdicts.memory
    verdicts.withLock { verdicts in
      if verdicts.count > 10_000 { verdicts.removeAll() }
      verdicts[host] = (isMissing, until)
    }
    return isMissing ? missing(host) : fault
  }

  private func missing(_ host: String) -> Fault {
    Fault("dns.nxdomain", .permanent, "there is no host of the name \(host)", host: host)
  }

  private static func isMissing(_ host: String) -> Bool {
    var found: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(host, nil, nil, &found)
    if let found = unsafe found { unsafe freeaddrinfo(found) }
    // EAI_NODATA, behind a feature macro: the name exists without any address.
    return code == EAI_NONAME || code == -5
  }
}
