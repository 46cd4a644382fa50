import FlowBase
import FlowParts
import FlowPlan
import FlowRun
import FlowTesting
import Testing

/// What is said of a run before it.
@Suite struct ForecastTests {
  @Test func `Online, lengths are known and what is missing is named, and nothing is fetched`() async throws {
    let scene = try Scene { request in
      request.path == "/2" ? .status(404) : .ok("seven b")
    }
    let plan = try scene.plan(
      """
      sources: [{ urls: \(String.addresses(4)) }]
      stages:
        - filter: item.index < 4
        - fetch
        - store
      """)
    let offline = try await Forecaster(plan).forecast()
    #expect(offline.online == nil && offline.unknownSizes == 4 && scene.server.requests.isEmpty)
    let online = try await Forecaster(plan).forecast(online: true)
    #expect(online.online == Forecast.OnlineOutlook(asked: 3, found: 2, failures: ["http.404": 1]))
    #expect(online.knownBytes == 14 && online.unknownSizes == 2)
    #expect(scene.server.requests.map(\.method) == ["HEAD", "HEAD", "HEAD"])
    #expect(!SmallFiles.exists(scene.place.file("out")))
  }

  @Test func `A host that has had enough is asked no more`() async throws {
    let scene = try Scene { _ in .status(429) }
    let plan = try scene.plan(
      """
      hosts: { "*": { connections: 1 } }
      sources: [{ urls: \(String.addresses(20)) }]
      stages: [fetch, store]
      """)
    let forecast = try await Forecaster(plan).forecast(online: true)
    #expect(forecast.online == Forecast.OnlineOutlook(asked: 1, found: 0, failures: ["http.429": 1]))
    #expect(scene.server.requests.count == 1)
  }

  @Test func `Files that would be overwritten are named, those of earlier runs are counted`() async throws {
    let scene = try Scene()
    func manifest(_ quality: Int) -> String {
      """
      sources: [{ urls: \(String.addresses(3)) }]
      stages: [fetch, { write: { path: "${item.key}.txt", text: "q \(quality)" } }]
      """
    }
    try SmallFiles.makeFolder(scene.place.file("out"))
    try SmallFiles.create(scene.place.file("out/k2.txt"), Array("mine".utf8))
    let before = try await Forecaster(try scene.plan(manifest(1))).forecast()
    #expect(before.overwrites == Forecast.OverwriteOutlook(ours: 0, foreign: 1, some: ["k2.txt"]))
    try await scene.run(manifest(1))
    #expect(try await Forecaster(try scene.plan(manifest(1))).forecast().overwrites == Forecast.OverwriteOutlook())
    #expect(try await Forecaster(try scene.plan(manifest(2))).forecast().overwrites.ours == 3)
  }
}
