internal import FlowBase
internal import FlowParts

/// A process of a plugin to which lines are written by hand, and whose answers are taken one by one.
final class PluginConversation: Sendable {
  /// What is heard.
  enum Heard: Sendable {
    case message(PluginMessage)
    case noise(String)
    case ended(ProgramEnd)
  }

  private struct State {
    var reader = LineReader()
    var errors = Tail(limit: 8192)
    var queue: [Heard] = []
    var waiter: (number: Int, continuation: CheckedContinuation<Heard?, Never>)?
    var waits = 0
  }

  private let state = Guarded(State())
  private let program: Guarded<RunningProgram?> = Guarded(nil)
  private let loop = ProgramLoop.shared
  let workdir: String

  /// Starts a process with a work directory of its own.
  init(_ plugin: PluginManifest, _ surroundings: PluginSurroundings, folder: String) throws(Fault) {
    workdir = PathText.join(folder, "w-\(Entropy.token(6))")
    try SmallFiles.makeFolder(PathText.join(workdir, "tmp"))
    let state = state
    let started = loop.start(surroundings.order(for: plugin, workdir: workdir)) { news in
      switch news {
      case .started: break
      case .errors(let bytes): state.withLock { $0.errors.append(bytes) }
      case .output(let bytes):
        PluginConversation.add(state.withLock { $0.reader.take(bytes) }.map(Heard.init), to: state)
      case .ended(let end):
        PluginConversation.add(state.withLock { $0.reader.finish() }.map(Heard.init) + [.ended(end)], to: state)
      }
    }
    program.withLock { $0 = started }
  }

  /// The last that it wrote to standard error.
  var lastWords: String { Tail.lines(of: state.withLock { $0.errors.bytes }, 5) }

  func write(_ bytes: [UInt8]) { program.withLock { $0 }?.write(bytes) }
  func closeInput() { program.withLock { $0 }?.closeInput() }
  func kill() { program.withLock { $0 }?.signal(9) }

  /// What is heard next; nil where nothing comes in time.
  func next(within span: Interval) async -> Heard? {
    await withCheckedContinuation { continuation in
      let (ready, number) = state.withLock { state -> (Heard?, Int) in
        if !state.queue.isEmpty { return (state.queue.removeFirst(), 0) }
        state.waits += 1
        state.waiter = (state.waits, continuation)
        return (nil, state.waits)
      }
      if let ready { return continuation.resume(returning: ready) }
      let state = state
      loop.post(at: SystemTime().now() + span) {
        let late = state.withLock { state -> CheckedContinuation<Heard?, Never>? in
          guard state.waiter?.number == number else { return nil }
          defer { state.waiter = nil }
          return state.waiter?.continuation
        }
        late?.resume(returning: nil)
      }
    }
  }

  private static func add(_ heard: [Heard], to state: Guarded<State>) {
    for one in heard {
      let waiter = state.withLock { state -> CheckedContinuation<Heard?, Never>? in
        guard let waiter = state.waiter else {
          state.queue.append(one)
          return nil
        }
        state.waiter = nil
        return waiter.continuation
      }
      waiter?.resume(returning: one)
    }
  }
}

extension PluginConversation.Heard {
  init(_ line: LineReader.Line) {
    switch line {
    case .message(let message): self = .message(message)
    case .noise(let text): self = .noise(text)
    }
  }
}
