internal import FlowBase
internal import FlowTransfer

/// The robots.txt of each origin that wants to be asked, read once a run.
final class RobotsFiles: Sendable {
  private enum Entry {
    case known(RobotsRules)
    case waiting([CheckedContinuation<Void, Never>])
    /// It took too long, and is not asked for again until then.
    case slow(Fault, until: Instant)
  }

  private let entries = Guarded<[String: Entry]>([:])

  /// The most bytes that are read of a robots.txt, as RFC 9309 has it.
  private static let mostBytes = 500 * 1024
  /// How long reading one may take, while all items of its origin wait.
  private static let longest = Interval.seconds(60)

  /// Throws `robots.disallowed` where an order's address is not to be visited.
  func check(_ order: FetchOrder, _ engine: TransferEngine) async throws(Fault) {
    guard let address = try? WebAddress(parsing: order.request.url) else { return }
    let rules = try await rules(of: address.origin, order, engine)
    guard rules.allows(address.pathAndQuery) else {
      throw Fault(
        "robots.disallowed", .permanent, "the robots.txt of \(address.host) does not want this address to be visited",
        host: address.host)
    }
  }

  private func rules(of origin: String, _ order: FetchOrder, _ engine: TransferEngine) async throws(Fault)
    -> RobotsRules
  {
    while true {
      let turn = entries.withLock { entries -> Turn in
        switch entries[origin] {
        case .known(let rules)?: return .knows(rules)
        case .waiting?: return .waits
        case .slow(let fault, let until)? where SystemTime().now() < until: return .fails(fault)
        case .slow?, nil:
          entries[origin] = .waiting([])
          return .reads
        }
      }
      switch turn {
      case .knows(let rules): return rules
      case .reads: return try await read(origin, order, engine)
      case .fails(let fault): throw fault
      case .waits: await wait(for: origin)
      }
    }
  }

  private enum Turn { case knows(RobotsRules), fails(Fault), reads, waits }

  /// Returns when somebody has read the file, or has failed to.
  private func wait(for origin: String) async {
    await withCheckedContinuation { continuation in
      let goesOn = entries.withLock { entries -> Bool in
        guard case .waiting(let others)? = entries[origin] else { return true }
        entries[origin] = .waiting(others + [continuation])
        return false
      }
      if goesOn { continuation.resume() }
    }
  }

  private func read(_ origin: String, _ order: FetchOrder, _ engine: TransferEngine) async throws(Fault) -> RobotsRules
  {
    var request = TransferRequest(
      url: origin + "/robots.txt", addresses: order.request.addresses, way: order.request.way)
    request.credentials = order.request.credentials
    request.limits.connect = order.request.limits.connect
    request.limits.total = RobotsFiles.longest
    let sink = PrefixSink(limit: RobotsFiles.mostBytes)
    var rules: RobotsRules?
    var fault: Fault?
    do throws(Fault) {
      do throws(Fault) { _ = try await engine.perform(request, into: sink) } catch {
        // What stands behind the first bytes does not count, and may have no end.
        guard sink.isFull else { throw error }
      }
      rules = RobotsRules(parsing: String(decoding: sink.bytes, as: UTF8.self), for: order.userAgent)
    } catch {
      // A file that is not there forbids nothing; one that cannot be had forbids everything for now.
      if let status = error.httpStatus, (400...499).contains(status), error.kind != .quota { rules = RobotsRules() }
      fault = error
    }
    let waiting = entries.withLock { entries -> [CheckedContinuation<Void, Never>] in
      defer {
        entries[origin] = rules.map { .known($0) }
        // Or those that wait would ask for it one after the other.
        if let fault, fault.code == "net.timeout.total" {
          entries[origin] = .slow(fault, until: SystemTime().now() + RobotsFiles.longest)
        }
      }
      if case .waiting(let others)? = entries[origin] { return others }
      return []
    }
    for continuation in waiting { continuation.resume() }
    if let rules { return rules }
    throw fault ?? .internal("robots", "no rules were read")
  }
}

/// Keeps the first bytes of a body, and takes no more than these.
final class PrefixSink: ByteSink, Sendable {
  private let kept = Guarded<[UInt8]>([])
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  var bytes: [UInt8] { kept.withLock { $0 } }

  /// Whether it has as many as it takes.
  var isFull: Bool { kept.withLock { $0.count >= limit } }

  func write(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
    kept.withLock { kept in unsafe kept.append(contentsOf: bytes.prefix(max(0, limit - kept.count))) }
    if isFull { throw Fault("body.too_large", .permanent, "the first \(limit) bytes are enough") }
  }
}
