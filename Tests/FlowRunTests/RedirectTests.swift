import FlowBase
import FlowEvents
import FlowTesting
import Testing

/// What is told of an item that redirects led elsewhere.
@Suite struct RedirectTests {
  @Test func `An item's end says where redirects led, in later runs too, and a mere spelling is none`() async throws {
    let scene = try Scene { request in
      switch request.path {
      case "/old": .redirect(to: "/newer")
      case "/newer": .redirect(to: "/new?token=hush", status: 301)
      default: .ok("x")
      }
    }
    let manifest = """
      sources: [{ urls: [{ url: "$URL/old", key: old }, { url: "$URL/a b", key: spelled }] }]
      stages: [fetch, { store: "${item.key}" }]
      state: { durability: process }
      """
    for isFirst in [true, false] {
      let run = try await scene.run(manifest)
      #expect(run.items.ok == 2 && run.items.cached == (isFirst ? 0 : 2))
      #expect(run.ends["urls/old"]?.finalURL == scene.server.url + "/new?token=***")
      #expect(run.ends["urls/spelled"]?.finalURL == .some(nil))
    }
  }
}
