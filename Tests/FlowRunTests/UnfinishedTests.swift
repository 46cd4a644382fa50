import FlowBase
import FlowEvents
import FlowRun
import FlowTesting
import Testing

/// Large files that one run begins and another ends.
@Suite struct UnfinishedTests {
  private static let old = LoopbackServer.pattern(3_000_000)
  private static let new = LoopbackServer.pattern(3_000_000, from: 7)
  private let manifest = """
    sources: [{ urls: ["$URL/large"] }]
    stages: [{ fetch: {}, retry: { attempts: 1 } }, { store: large }]
    """

  /// A server that breaks off its first answer, and then heeds ranges of what it has by then.
  private func scene(etag: String? = "\"1\"", then later: (bytes: [UInt8], etag: String)) throws -> Scene {
    try Scene { request in
      if request.path == "/other" { return .ok("small") }
      let etagNow = request.attempt == 1 ? etag : later.etag
      let bytes = request.attempt == 1 ? Self.old : later.bytes
      var whole = LoopbackServer.Response.ok(bytes)
      if let etagNow { whole = whole.header("ETag", etagNow) }
      if request.attempt == 1 { return whole.ending(.close, after: 2_000_000) }
      guard let range = request.header("Range"), request.header("If-Range") == later.etag,
        let start = Int(range.dropFirst(6).dropLast())
      else { return whole }
      return LoopbackServer.Response(status: 206, body: .bytes(Array(bytes[start...]))).header("ETag", later.etag)
        .header("Content-Range", "bytes \(start)-\(bytes.count - 1)/\(bytes.count)")
    }
  }

  private func stored(_ scene: Scene) throws -> [UInt8] {
    let name = try #require(try SmallFiles.names(in: scene.place.file("out")).first { $0.hasPrefix("large") })
    return try SmallFiles.read(scene.place.file("out/\(name)"))
  }

  @Test func `A later run goes on where an earlier one ended, and leaves nothing behind`() async throws {
    let scene = try scene(then: (Self.old, "\"1\""))
    #expect(try await scene.run(manifest).exit == .tryAgain)
    #expect(scene.temporaryNames.count == 2)
    let second = try await scene.run(manifest)
    #expect(second.exit == .done)
    #expect(try stored(scene) == Self.old)
    let range = try #require(scene.server.requests.last?.header("Range"))
    #expect(range != "bytes=0-" && second.outcome.end.bytesIn < 3_000_000)
    #expect(scene.temporaryNames.isEmpty)
  }

  @Test func `What has changed meanwhile is fetched as a whole`() async throws {
    let scene = try scene(then: (Self.new, "\"2\""))
    try await scene.run(manifest)
    #expect(try await scene.run(manifest).exit == .done)
    #expect(try stored(scene) == Self.new)
    #expect(scene.server.requests.last?.header("If-Range") == "\"1\"")
    #expect(scene.temporaryNames.isEmpty)
  }

  @Test func `What nothing vouches for, or nobody wants, is not kept`() async throws {
    let scene = try scene(etag: nil, then: (Self.old, "\"1\""))
    try await scene.run(manifest)
    #expect(scene.temporaryNames.isEmpty)
    let other = try self.scene(then: (Self.old, "\"1\""))
    try await other.run(manifest)
    #expect(other.temporaryNames.count == 2)
    try await other.run(manifest.replacing("/large", with: "/other"))
    #expect(other.temporaryNames.isEmpty)
  }

  @Test func `A run that begins afresh goes on with nothing`() async throws {
    let scene = try scene(then: (Self.old, "\"1\""))
    try await scene.run(manifest)
    let second = try await scene.run(manifest, options: { $0.fresh = true })
    #expect(second.exit == .done && scene.server.requests.last?.header("Range") == nil)
    #expect(scene.temporaryNames.isEmpty)
  }
}
