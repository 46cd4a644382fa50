import FlowBase
import Testing

/// Tasks that are done by the thread that waits for them.
@Suite struct CallingThreadTests {
  private static var thread: String {
    let bytes = (try? FileSystem.read("/proc/thread-self/stat", limit: 64)) ?? []
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
  }

  /// Does it on a thread that may wait, and not on the tests' own.
  private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      WorkerThread.start("caller") { continuation.resume(returning: body()) }
    }
  }

  private static func awaiting(_ helper: BlockingPool) async -> Int {
    await withCheckedContinuation { continuation in
      Task(executorPreference: helper) { continuation.resume(returning: 1) }
    }
  }

  @Test func `What comes before and behind a wait is done by the caller, and by nobody else`() async {
    let helper = BlockingPool(name: "helper", threads: 1)
    defer { helper.close() }
    let threads = await onThread {
      let own = Self.thread
      return CallingThread.run { () -> [String] in
        let before = Self.thread
        _ = await Self.awaiting(helper)
        return [own, before, Self.thread]
      }
    }
    #expect(Set(threads).count == 1)
  }

  @Test func `Children are done there too`() async {
    let sum = await onThread {
      CallingThread.run {
        await withTaskGroup(of: Int.self) { group in
          for number in 1...10 { group.addTask { number } }
          return await group.reduce(0, +)
        }
      }
    }
    #expect(sum == 55)
  }

  /// Whoever brings the last job may still be at it when everything has ended.
  @Test func `An end does not take anything from those who have brought it`() async {
    let helper = BlockingPool(name: "helper", threads: 2)
    defer { helper.close() }
    let count = await onThread {
      (0..<40000).reduce(0) { sum, _ in sum + CallingThread.run { await Self.awaiting(helper) } }
    }
    #expect(count == 40000)
  }
}
