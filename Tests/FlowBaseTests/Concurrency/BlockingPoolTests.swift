import FlowBase
import Testing

/// Threads for work that blocks.
@Suite struct BlockingPoolTests {
  /// How many threads of a pool there are, by the names that the system knows them by.
  private func threads(of pool: String) throws -> Int {
    try SmallFiles.names(in: "/proc/self/task").filter { task in
      // One that has ended meanwhile is none.
      guard let name = try? SmallFiles.read("/proc/self/task/\(task)/comm") else { return false }
      return String(decoding: name, as: UTF8.self).hasPrefix(pool + "-")
    }.count
  }

  @Test func `A pool starts a thread when there is work for it, and no more than that`() async throws {
    let pool = BlockingPool(name: "calm", threads: 8)
    #expect(try threads(of: "calm") == 0)
    #expect(await Task(executorPreference: pool) { 1 }.value == 1)
    #expect(try threads(of: "calm") == 1)
    pool.close()
  }

  @Test func `Jobs that wait for each other all get a thread`() async throws {
    let pool = BlockingPool(name: "meeting", threads: 6)
    let here = Guarded(0)
    let boxes = (0..<6).map { _ in Mailbox<Int>() }
    await withTaskGroup { group in
      for number in 0..<6 {
        group.addTask(executorPreference: pool) {
          let isLast = here.withLock { count in
            count += 1
            return count == 6
          }
          if isLast { for box in boxes { box.post(number) } }
          var letters: [Int] = []
          boxes[number].take(into: &letters, until: nil)
        }
      }
    }
    #expect(here.withLock { $0 } == 6)
    #expect(try threads(of: "meeting") == 6)
    pool.close()
  }

  @Test func `What comes after a pool was closed is done all the same`() async {
    let pool = BlockingPool(name: "late", threads: 2)
    pool.close()
    #expect(await Task(executorPreference: pool) { 7 }.value == 7)
  }
}
