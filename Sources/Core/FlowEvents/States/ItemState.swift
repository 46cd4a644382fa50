public import FlowBase

/// What came of an item, or of a stage that waits for many.
public enum ItemStatus: String, Sendable, Hashable, CaseIterable {
  case ok, filtered, failed, cancelled
}

/// Where an item is in its life.
public enum ItemState: String, Sendable, Hashable, CaseIterable {
  /// Known, and nothing has begun.
  case queued
  /// Worked on.
  case running
  /// Between two tries, behind a gate, or for a host that wants to be left alone.
  case waiting
  case ok, filtered, failed, cancelled

  /// What can happen to an item.
  public enum Move: String, Sendable, Hashable, CaseIterable {
    /// An operation begins.
    case run
    /// It has to wait.
    case wait
    case succeed, filter, fail, cancel
  }

  /// The state of an item that has ended.
  public init(_ status: ItemStatus) {
    switch status {
    case .ok: self = .ok
    case .filtered: self = .filtered
    case .failed: self = .failed
    case .cancelled: self = .cancelled
    }
  }

  /// Whether nothing more can happen.
  public var isFinal: Bool {
    switch self {
    case .queued, .running, .waiting: false
    case .ok, .filtered, .failed, .cancelled: true
    }
  }

  /// The state that a move leads to; a move that the table lacks is the fault `control.refused`.
  public func after(_ move: Move) throws(Fault) -> ItemState {
    switch (self, move) {
    case (.queued, .run), (.waiting, .run): return .running
    case (.queued, .wait), (.running, .wait): return .waiting
    case (.running, .succeed), (.queued, .succeed): return .ok
    case (.running, .filter), (.queued, .filter): return .filtered
    case (.queued, .fail), (.running, .fail), (.waiting, .fail): return .failed
    case (.queued, .cancel), (.running, .cancel), (.waiting, .cancel): return .cancelled
    default:
      throw Fault(
        "control.refused", .permanent,
        isFinal
          ? "the item has ended \(rawValue) already"
          : "an item that is \(rawValue) cannot \(move.rawValue)")
    }
  }
}
