public import FlowBase

/// A stage that can begin its work at once and say later that it is done, with no task in between.
///
/// Where millions of small operations are done, a task for each costs more than the work.
public protocol PromptStage: Stage {
  /// Begins the work on one leg; nil where only `run` can do it. It must not block.
  ///
  /// `done` is called once, on any thread, and not before this has returned or at any time after: whoever calls this
  /// is ready for both. A fault that is thrown stands for the result, and then `done` is not called.
  func begin(
    _ leg: Leg, in context: StageContext, done: @escaping @Sendable (Result<StageResult, Fault>) -> Void
  ) throws(Fault) -> BegunWork?
}

extension PromptStage {
  /// It begins without a task.
  public var asPromptStage: (any PromptStage)? { self }
}

/// Work that has been begun without a task.
public struct BegunWork: Sendable {
  /// Ends the work soon; it is then done with a fault of the kind `cancelled`, unless it was done before.
  public let cancel: @Sendable () -> Void

  /// Work that can be ended so.
  public init(cancel: @escaping @Sendable () -> Void) { self.cancel = cancel }
}
