import FlowBase
import FlowImage
import FlowParts
import FlowTesting
import Testing

@testable import FlowBuiltins

/// Legs of one picture are made in one job.
@Suite struct PictureBatchTests {
  private static let sizes = [32, 64, 128]

  private func config(_ width: Int) -> Config { Config([.init("width", .value(.int(width)))]) }

  private func leg(_ width: Int, _ bytes: [UInt8], _ services: ScratchServices, alone: Bool) async throws -> [UInt8]? {
    var context = StageContext(stage: "thumbs", config: config(width), attempt: 1, services: services)
    let all = Self.sizes.map(config)
    context.siblings = { all }
    if alone { context.attempt = 2 }
    return try await ResizePicture.part.make().run(
      Leg(item: item("https://example.com/a"), content: .bytes(bytes)), in: context
    ).heldBytes
  }

  @Test func `legs that come together cost one job, and are what each is alone`() async throws {
    let services = try ScratchServices()
    let workers = try PictureWorkers.shared(by: services)
    let photo = Painter.photo("alps")
    var alone: [Int: [UInt8]] = [:]
    for width in Self.sizes { alone[width] = try await leg(width, photo, services, alone: true) }
    #expect(workers.jobCount == 3)
    var before = workers.jobCount
    // They need not meet on a machine that is busy; they will, sooner or later.
    for _ in 1...200 {
      before = workers.jobCount
      let together = try await withThrowingTaskGroup(of: (Int, [UInt8]?).self) { group in
        for width in Self.sizes {
          group.addTask { (width, try await self.leg(width, photo, services, alone: false)) }
        }
        return try await group.reduce(into: [Int: [UInt8]]()) { $0[$1.0] = $1.1 }
      }
      #expect(together == alone)
      if workers.jobCount == before + 1 { break }
    }
    #expect(workers.jobCount == before + 1)
  }

  @Test func `a leg that cannot be made fails alone`() async throws {
    let workers = PictureWorkers(count: 1, program: nil)
    let batches = PictureBatches()
    let photo = Painter.photo("alps")
    var impossible = PictureBranch([
      .crop(Crop(.size(width: 1 << 30, height: 1 << 30), origin: Crop.Origin(x: 9, y: 9)))
    ])
    impossible.encoding.format = .webp
    let small = PictureBranch([.resize(Resize(width: 20, height: nil))])
    async let bad = try? batches.make(
      impossible, of: .bytes(photo), named: "photo", ReadOptions(), among: 2, by: workers)
    async let good = try? batches.make(small, of: .bytes(photo), named: "photo", ReadOptions(), among: 2, by: workers)
    #expect(await good?.facts.width == 20)
    _ = await bad
  }

  @Test func `a picture that is broken fails all of its legs with its code`() async throws {
    let workers = PictureWorkers(count: 1, program: nil)
    let batches = PictureBatches()
    let cut = Array(Painter.photo("alps").prefix(2000))
    let branch = PictureBranch([.resize(Resize(width: 20, height: nil))])
    let codes = await withTaskGroup(of: String?.self) { group in
      for _ in 1...3 {
        group.addTask {
          do throws(Fault) {
            _ = try await batches.make(branch, of: .bytes(cut), named: "cut", ReadOptions(), among: 3, by: workers)
            return nil
          } catch {
            return error.code
          }
        }
      }
      return await group.reduce(into: [String?]()) { $0.append($1) }
    }
    #expect(codes == ["image.truncated", "image.truncated", "image.truncated"])
  }

  @Test func `who is cancelled leaves, and the others have their pictures`() async throws {
    let workers = PictureWorkers(count: 1, program: nil)
    let batches = PictureBatches()
    let photo = Painter.photo("alps")
    let branch = PictureBranch([.resize(Resize(width: 20, height: nil))])
    let first = Task {
      try await batches.make(branch, of: .bytes(photo), named: "photo", ReadOptions(), among: 3, by: workers)
    }
    first.cancel()
    let second = try await batches.make(branch, of: .bytes(photo), named: "photo", ReadOptions(), among: 3, by: workers)
    #expect(second.facts.width == 20)
    let end = await first.result
    if case .failure(let error) = end { #expect(Fault(error).kind == .cancelled) }
  }
}
