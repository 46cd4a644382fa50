internal import FlowBase

/// Where a stream's events wait: in memory with a spool of this process, or in files that outlive it.
struct Waiting {
  private var backlog: Backlog
  private let spool: EventSpool?

  init(_ listener: Listener, limits: StreamLimits) {
    backlog = Backlog(limits: limits)
    spool = listener.courier?.spool
  }

  var isEmpty: Bool { spool.map { $0.count == 0 } ?? backlog.isEmpty }
  var isRelaxed: Bool { spool?.isRelaxed ?? backlog.isRelaxed }

  mutating func firstWaiting() -> Int? { spool.map { $0.firstWaiting() } ?? backlog.firstWaiting() }

  mutating func add(_ event: Event, _ bytes: [UInt8], force: Bool = false) -> Backlog.Outcome {
    spool?.add(event, bytes, force: force) ?? backlog.add(event, bytes, force: force)
  }

  mutating func take(into chunk: inout [UInt8], limit: Int) throws(Fault) -> (first: Int, count: Int)? {
    try backlog.take(into: &chunk, limit: limit)
  }
}
