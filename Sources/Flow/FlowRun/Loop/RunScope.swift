import FlowBase
import FlowExpressions
import FlowParts

/// The run's own figures, as conditions and barriers see them.
struct RunScope: Scope {
  var counts: RunCounts
  var bytesIn: Int
  var elapsed: Interval
  var id: String
  var name: String

  func value(of reference: Reference) -> Value? {
    guard reference.namespace == .run else { return nil }
    switch reference.path.first {
    case "items": return .int(counts.ended)
    case "ok": return .int(counts.ok)
    case "failed": return .int(counts.failed)
    case "filtered": return .int(counts.filtered)
    case "cancelled": return .int(counts.cancelled)
    case "cached": return .int(counts.cached)
    case "failed_ratio": return .double(counts.failedRatio)
    case "bytes_in": return .int(bytesIn)
    case "elapsed": return .double(elapsed.seconds)
    case "id": return .string(id)
    case "name": return .string(name)
    default: return .null
    }
  }
}

/// How many items have come to what.
struct RunCounts: Sendable, Hashable {
  var ok = 0
  /// Within `ok`: done by an earlier run.
  var cached = 0
  var filtered = 0
  var failed = 0
  var cancelled = 0

  var ended: Int { ok + filtered + failed + cancelled }
  /// failed / (ok + failed); 0 when nothing has ended.
  var failedRatio: Double { ok + failed == 0 ? 0 : Double(failed) / Double(ok + failed) }
}

/// One scope laid over another.
struct ScopePair<First: Scope, Second: Scope>: Scope {
  var first: First
  var second: Second

  func value(of reference: Reference) -> Value? { first.value(of: reference) ?? second.value(of: reference) }
}

/// A scope that leaves `item.path` open, for the stage to fill in.
struct WithoutPath<Inner: Scope>: Scope {
  var scope: Inner

  func value(of reference: Reference) -> Value? {
    reference.namespace == .item && reference.path == ["path"] ? nil : scope.value(of: reference)
  }
}

/// The value of the group that a stage works on.
struct GroupScope: Scope {
  var group: Value?

  func value(of reference: Reference) -> Value? {
    guard reference.namespace == .group, let group else { return nil }
    return group.descend(reference.path[...])
  }
}
