internal import FlowBase
internal import FlowTransfer

/// libcurl on its way into memory, on a thread of its own, while a manifest is read and its journal is opened.
///
/// It takes as long as those do, most runs need it, and none has to wait for it then.
public struct TransfersAhead: Sendable {
  /// As many threads as a run needs in these milliseconds.
  ///
  /// They are for signals, events, the view on a terminal and its clock, a sink of the manifest, and the journal, which is
  /// opened behind all of these. What is left over goes to the run.
  private static let threadsMeanwhile = 6

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
