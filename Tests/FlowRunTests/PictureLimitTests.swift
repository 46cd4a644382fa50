import FlowBase
import FlowBuiltins
import FlowEvents
import FlowImage
import FlowParts
import FlowTesting
import Testing

/// Makes the run's workers impatient, and has one hang where the item says so.
private struct Trap: Stage {
  static let part = StagePart(
    PartSpec(name: "trap", role: .stage, summary: "Hangs.", fields: [], input: .look, example: "")
  ) { Trap() }

  func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    let workers = try context.services.shared(PictureWorkers.self) {
      var limits = PictureWorkers.Limits()
      limits.time = .seconds(4)
      return PictureWorkers(count: 1, program: Tool.path, limits: limits)
    }
    let mishaps: [String: PictureJob.Mishap] = ["k2": .hang, "k4": .crash]
    if let mishap = mishaps[leg.item.key] {
      _ = try await workers.perform(PictureJob(.bytes([]), wish: .mishap(mishap)))
    }
    return StageResult()
  }
}

/// The limits of the workers themselves, in whole runs.
@Suite struct PictureLimitTests {
  @Test func `A picture that its worker does not come back from is given up by itself, and once`() async throws {
    var catalog = Catalog.builtins
    catalog.add(Trap.part)
    let photo = Painter.photo("one")
    let scene = try Scene(catalog: catalog) { _ in .ok(photo) }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(6)) }]
      stages: [fetch, trap, { resize: { width: 40 } }, { store: "${item.key}.png" }]
      """)
    #expect(trial.exit == .failed && trial.items.ok == 4 && trial.items.failed == 2)
    #expect(scene.outputs == ["k1.png", "k3.png", "k5.png", "k6.png"])
    #expect(trial.end("k2")?.error?.fault.code == "image.timeout" && trial.end("k2")?.attempts == 1)
    #expect(trial.end("k2")?.error?.fault.message.contains("4s") == true)
    #expect(trial.end("k4")?.error?.fault.code == "image.crashed")
  }
}
