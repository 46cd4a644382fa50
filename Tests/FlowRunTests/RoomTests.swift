import FlowEvents
import FlowRun
import FlowTesting
import Testing

/// `limits.temp`: room for temporary files.
@Suite struct RoomTests {
  @Test func `Bytes that wait before a gate count, and beyond the limit the run drains and says so`() async throws {
    let scene = try Scene { _ in .ok([UInt8](repeating: 1, count: 50_000)) }
    let manifest = """
      limits: { temp: 120kB, connections: 1 }
      sources: [{ urls: \(String.addresses(20)) }]
      stages:
        - fetch
        - store: "${item.key}"
          after: fetch
      """
    let trial = try await scene.run(manifest)
    #expect(trial.exit == .disk)
    #expect(trial.outcome.end.errors.contains { $0.code == "disk.budget" })
    #expect((3..<20).contains(scene.server.requests.count))
    // With room enough the same goes through, and what had come is not asked for again.
    let before = scene.server.requests.count
    let next = try await scene.run(manifest.replacing("120kB", with: "10MB"))
    #expect(next.exit == .done)
    #expect(scene.outputs.count == 20)
    #expect(scene.server.requests.count < before + 20)
  }

  @Test func `Where files go on at once, a small room is enough for many`() async throws {
    let scene = try Scene { _ in .ok([UInt8](repeating: 1, count: 50_000)) }
    let trial = try await scene.run(
      """
      limits: { temp: 500kB, connections: 2 }
      sources: [{ urls: \(String.addresses(40)) }]
      stages: [fetch, { store: "${item.key}" }]
      """)
    #expect(trial.exit == .done)
    #expect(scene.outputs.count == 40)
  }
}
