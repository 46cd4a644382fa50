internal import FlowBase
internal import FlowTransfer

/// libcurl on its way into memory, on a thread of its own, while a manifest is read and its journal is opened.
///
/// It takes as long as those do, most runs need it, and none has to wait for it then.
public struct TransfersAhead: Sendable {
  /// What a run needs threads for in these milliseconds: signals, events, and the journal that is opened.
  private static let threadsMeanwhile = 3

  /// Begins to load it.
  public init() {
    WorkerThread.start("libraries") {
      WorkerThread.makeSpare(TransfersAhead.threadsMeanwhile)
      TransferEngine.prepare()
    }
  }

  /// Waits until it is there: a process must not end while a library is being set up.
  public func wait() { TransferEngine.prepare() }
}
