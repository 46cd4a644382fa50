public import FlowBase

extension Courier {
  /// What sending what is left has come to.
  public struct Sent: Sendable, Hashable {
    /// Batches that were delivered.
    public var batches = 0
    /// Events in them.
    public var events = 0
    /// Runs of which something is left that a process which still lives is sending itself.
    public var busy = 0
    /// The last that was given up and put aside.
    public var fault: Fault?

    /// Nothing yet.
    public init() {}
  }

  /// Sends what earlier runs have left for this sink, the oldest first, each batch under the name that it had.
  @discardableResult
  public func sendRemains() async throws -> Sent {
    var sent = Sent()
    guard let folder = spool.folder else { return sent }
    for run in EventSpool.runs(in: folder) where run != spool.run {
      try Task.checkCancellation()
      guard let left = try EventSpool(leftIn: folder, run: run, sink: spool.sink) else {
        sent.busy += 1
        continue
      }
      defer {
        left.close()
        spool.recount()
      }
      while let batch = try left.take(rule) {
        if let fault = try await send(batch) { sent.fault = fault }
        try left.finishBatch()
        sent.batches += 1
        sent.events += batch.events.count
      }
    }
    return sent
  }

  /// How many events earlier runs have left for this sink.
  public func countRemains() throws(Fault) -> Int {
    guard let folder = spool.folder else { return 0 }
    var count = 0
    for run in EventSpool.runs(in: folder) where run != spool.run {
      guard let left = try EventSpool(leftIn: folder, run: run, sink: spool.sink) else { continue }
      count += left.count
      left.close()
    }
    return count
  }
}

extension EventSpool {
  /// The runs of which something is left, in their order.
  static func runs(in folder: String) -> [String] {
    ((try? SmallFiles.names(in: folder)) ?? []).filter { SmallFiles.isFolder("\(folder)/\($0)") }
  }
}

/// Sets what a spool has written to the disk going, twice a second.
final class SpoolSync: Sendable {
  private enum Letter: Sendable { case stop }

  private let letters = Mailbox<Letter>()

  init(_ spool: EventSpool) {
    let letters = letters
    WorkerThread.start("spool-sync") { [weak spool] in
      var batch: [Letter] = []
      while batch.isEmpty {
        letters.take(into: &batch, until: SystemTime().now() + .milliseconds(500))
        spool?.sync()
      }
    }
  }

  func stop() { letters.post(.stop) }
}
