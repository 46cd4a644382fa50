import FlowBase
import FlowTesting
import Testing

/// Whose word counts where the manifest and the environment speak of proxies.
@Suite struct ProxyRunTests {
  @Test func `The manifest's proxy is asked whatever no_proxy says`() async throws {
    let proxy = try LoopbackServer { _ in .ok("through") }
    var work = try Workplace()
    work.tool.environment["no_proxy"] = "*"
    try work.manifest(["/small/a"], "hosts: { \"127.0.0.1\": { proxy: \"\(proxy.url)\" } }")
    let end = try await work.tool.run("run", "m.yaml")
    expectEnd(end, 0)
    #expect(work.server.requests.isEmpty && proxy.requests.map(\.target) == [work.server.url + "/small/a"])
  }
}
