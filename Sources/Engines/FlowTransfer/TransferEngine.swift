internal import CCurl
public import FlowBase

/// Fetches what addresses name, over connections that are kept and shared.
///
/// It never tries again and never waits for a host: it says what happened, and whoever asked decides.
public final class TransferEngine: Sendable {
  /// What it calls itself where nobody says otherwise.
  public static let userAgent = "imgflow/0.1"

  private let loops: [TransferLoop]
  private let bandwidth = BandwidthShare()
  private let environment: ProxyEnvironment
  private let names = NameVerdicts()

  /// An engine with so many threads, each with a pool of connections of its own.
  public init(loops: Int = 2, idleConnections: Int = 256, readsProxyEnvironment: Bool = true) {
    _ = TransferEngine.library
    environment = readsProxyEnvironment ? .ofProcess : ProxyEnvironment()
    let bandwidth = bandwidth
    self.loops = (0..<max(1, loops)).map { _ in TransferLoop(connections: idleConnections, bandwidth: bandwidth) }
    for (number, loop) in self.loops.enumerated() { WorkerThread.start("transfer-\(number)") { loop.run() } }
  }

  deinit { for loop in loops { loop.close() } }

  /// The most bytes a second over all transfers; nil is no limit.
  public func setBandwidth(_ bytesPerSecond: Int?) { bandwidth.set(limit: bytesPerSecond) }

  /// Does a request, and gives the body's bytes to the sink as they come, on a thread of the engine.
  ///
  /// What the sink has got when this throws is of no use. Cancelling the task ends the transfer at once. Progress is
  /// told at most ten times a second: bytes so far, and how many there will be where that is known.
  public func perform(
    _ request: TransferRequest, into sink: any ByteSink & Sendable,
    progress: @escaping @Sendable (_ bytes: Int, _ size: Int?) -> Void = { _, _ in }
  ) async throws(Fault) -> TransferResult {
    let transfer = try Transfer(request, sink, environment, progress: progress)
    let loop = loop(for: transfer.hop.url)
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        transfer.await(continuation)
        loop.submit(transfer)
      }
    } onCancel: {
      loop.cancel(transfer)
    }
    switch outcome {
    case .success(let result): return result
    case .failure(let fault) where fault.code == "dns.temporary":
      throw await names.refine(fault)
    case .failure(let fault): throw fault
    }
  }

  /// Requests of one host share a loop, and so its connections, unless that host is nearly all there is.
  private func loop(for url: URLParts) -> TransferLoop {
    guard loops.count > 1 else { return loops[0] }
    var hasher = Hasher()
    hasher.combine(url.host)
    hasher.combine(url.port)
    let home = loops[Int(UInt(bitPattern: hasher.finalize()) % UInt(loops.count))]
    guard home.load >= 16, let calm = loops.min(by: { $0.load < $1.load }) else { return home }
    return calm.load * 4 < home.load ? calm : home
  }

  private static let library: Void = {
    curl_global_init(Int(CURL_GLOBAL_ALL))
  }()
}
