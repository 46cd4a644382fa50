import FlowBase
import FlowEvents

/// A clock that stands still unless it is moved.
final class StillTime: TimeSource {
  private let nanoseconds = Guarded(0)

  func now() -> Instant { Instant(nanoseconds: nanoseconds.withLock { $0 }) }
  func wall() -> WallTime { WallTime(microseconds: 1_795_195_800_000_000 + now().nanoseconds / 1000) }
  func advance(by span: Interval) { nanoseconds.withLock { $0 += span.nanoseconds } }
}

/// A gate that listeners wait at until it is opened.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var arrivals: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Guarded(State())

  /// Waits until the gate is open.
  func pass() async {
    await withCheckedContinuation { continuation in
      let (isOpen, arrivals) = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        defer { state.arrivals = [] }
        return (state.isOpen, state.arrivals)
      }
      for arrival in arrivals { arrival.resume() }
      if isOpen { continuation.resume() }
    }
  }

  /// Waits until somebody stands at the gate.
  func reached() async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.waiting.isEmpty { state.arrivals.append(continuation) }
        return !state.waiting.isEmpty
      }
      if isThere { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}

/// A listener that remembers what it was given.
final class Recorder: Sendable {
  private let bytes = Guarded<[UInt8]>([])
  let gate = Gate()

  var lines: [String] {
    String(decoding: bytes.withLock { $0 }, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// A listener that writes here, and waits at the gate before each delivery if it is to hang.
  func listener(
    _ name: String = "probe", filter: EventFilter = .all, isRequired: Bool = false, hangs: Bool = false,
    patience: Interval? = nil
  ) -> Listener {
    Listener(
      name: name, filter: filter, isRequired: isRequired, patience: patience,
      deliver: { chunk in
        if hangs { await self.gate.pass() }
        self.bytes.withLock { $0 += chunk }
      })
  }
}

extension Payload {
  static let start = Payload.streamStart(.init(tool: "0.1.0", manifest: "catalog.yaml"))
  static func note(_ message: String, _ level: LogLine.Level = .info) -> Payload { .log(.init(level, message)) }
  static func progress(_ bytes: Int) -> Payload { .itemProgress(.init(bytes: bytes, size: nil, ratio: nil)) }
}

extension Payload.RunEnd {
  static let success = Payload.RunEnd(result: .success, exit: 0, items: ItemCounts(total: 0), bytesIn: 0)
}
