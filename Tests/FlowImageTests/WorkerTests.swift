import FlowBase
import Testing

@testable import FlowImage

/// Workers are processes of the real program, which is built beside the tests.
struct WorkerTests {
  static func workers(_ count: Int = 2, _ change: (inout PictureWorkers.Limits) -> Void = { _ in }) -> PictureWorkers {
    var limits = PictureWorkers.Limits()
    change(&limits)
    return PictureWorkers(count: count, limits: limits)
  }

  static func job() throws -> PictureJob {
    let file = try Pixels.png(try Pixels.painted(64, 64) { x, y in [UInt8(x * 4), UInt8(y * 4), 99] })
    return PictureJob(.bytes(file), wish: .pictures([PictureBranch([.resize(Resize(width: 20, height: nil))])]))
  }

  static func mishap(_ mishap: PictureJob.Mishap) -> PictureJob { PictureJob(.bytes([]), wish: .mishap(mishap)) }

  @Test func `a worker makes what this process would make`() async throws {
    let workers = WorkerTests.workers()
    #expect(workers.isApart)
    let job = try WorkerTests.job()
    #expect(try await workers.perform(job) == PictureEngine.perform(job))
  }

  @Test func `a crash costs its own picture and no other`() async throws {
    let workers = WorkerTests.workers()
    let job = try WorkerTests.job()
    let wanted = PictureEngine.perform(job)
    let crashed = try await withThrowingTaskGroup(of: Fault?.self) { group in
      for number in 0..<24 {
        group.addTask {
          if number % 4 == 0 {
            let fault = await #expect(throws: Fault.self) { try await workers.perform(WorkerTests.mishap(.crash)) }
            return fault
          }
          let reply = try await workers.perform(job)
          #expect(reply == wanted)
          return nil
        }
      }
      return try await group.reduce(into: [Fault]()) { if let fault = $1 { $0.append(fault) } }
    }
    #expect(crashed.count == 6)
    #expect(Set(crashed.map(\.code)) == ["image.crashed"])
    #expect(crashed.allSatisfy { $0.message.contains("SIGABRT") && $0.kind == .permanent })
  }

  @Test func `a picture that takes too long is given up`() async throws {
    let workers = WorkerTests.workers(1) { $0.time = .milliseconds(300) }
    let fault = await #expect(throws: Fault.self) { try await workers.perform(WorkerTests.mishap(.hang)) }
    #expect(fault?.code == "image.timeout")
    let patient = WorkerTests.workers(1)
    #expect(try await patient.perform(try WorkerTests.job()) == PictureEngine.perform(try WorkerTests.job()))
  }

  @Test func `a picture that wants all memory ends its own process`() async throws {
    let workers = WorkerTests.workers(1) { $0.memory = 200 << 20 }
    let fault = await #expect(throws: Fault.self) { try await workers.perform(WorkerTests.mishap(.memory)) }
    #expect(fault?.code == "image.crashed")
    #expect(try await workers.perform(try WorkerTests.job()) == PictureEngine.perform(try WorkerTests.job()))
  }

  @Test func `who is cancelled waits for no worker`() async throws {
    let workers = WorkerTests.workers(1)
    let hanging = Task { try await workers.perform(WorkerTests.mishap(.hang)) }
    let queued = Task { try await workers.perform(WorkerTests.mishap(.hang)) }
    queued.cancel()
    hanging.cancel()
    for task in [hanging, queued] {
      let result = await task.result
      let fault = #expect(throws: Fault.self) { try result.get() }
      #expect(fault?.kind == .cancelled)
    }
    #expect(try await workers.perform(try WorkerTests.job()) == PictureEngine.perform(try WorkerTests.job()))
  }

  @Test func `workers are replaced after so many jobs`() async throws {
    let workers = WorkerTests.workers(1) { $0.jobs = 2 }
    let job = try WorkerTests.job()
    let wanted = PictureEngine.perform(job)
    for _ in 0..<5 { #expect(try await workers.perform(job) == wanted) }
  }

  @Test func `a program that knows nothing of pictures is named`() async throws {
    let workers = PictureWorkers(count: 1, program: "/bin/cat")
    let fault = await #expect(throws: Fault.self) { try await workers.perform(WorkerTests.mishap(.crash)) }
    #expect(fault?.code == "image.unavailable" && fault?.message.contains("/bin/cat") == true)
  }

  @Test func `the same picture gives the same bytes, however many work at once`() async throws {
    let job = try WorkerTests.job()
    let alone = try await WorkerTests.workers(1).perform(job)
    let workers = WorkerTests.workers(4)
    await withTaskGroup(of: PictureReply?.self) { group in
      for _ in 0..<40 { group.addTask { try? await workers.perform(job) } }
      for await reply in group { #expect(reply == alone) }
    }
  }
}
