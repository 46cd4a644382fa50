import FlowBase
import FlowTesting
import FlowTransfer
import Testing

struct `Addresses` {
  private func outcome(_ url: String, _ policy: AddressPolicy) async -> Outcome {
    await perform(request(url) { $0.addresses = policy })
  }

  @Test func `of this machine are refused unless allowed`() async throws {
    let server = try LoopbackServer { _ in .ok("x") }
    let port = server.port
    for url in [
      server.url, "http://localhost:\(port)/", "http://127.1:\(port)/", "http://2130706433:\(port)/",
      "http://0x7f.0.0.1:\(port)/",
    ] {
      let refused = await outcome(url, AddressPolicy())
      #expect(
        refused.code == "url.blocked" && refused.fault?.kind == .permanent, "\(url) \(refused.fault?.message ?? "")")
    }
    #expect(server.requests.isEmpty)
    let allowed: [AddressPolicy] = [
      AddressPolicy(allowsPrivate: true), AddressPolicy(literals: ["127.0.0.1:\(port)"]),
      AddressPolicy(ranges: [try #require(AddressRange(parsing: "127.0.0.0/8"))]),
      AddressPolicy(hosts: ["127.0.0.1"]), AddressPolicy(hosts: ["127.0.0.1:\(port)"]),
    ]
    for policy in allowed { #expect(await outcome(server.url, policy).fault == nil) }
    #expect(await outcome(server.url, AddressPolicy(literals: ["127.0.0.1:1"])).code == "url.blocked")
    #expect(await outcome(server.url, AddressPolicy(hosts: ["127.0.0.1:1"])).code == "url.blocked")
  }

  @Test func `are checked behind a redirect too`() async throws {
    let inside = try LoopbackServer { _ in .ok("secret") }
    let outside = try LoopbackServer { _ in .redirect(to: inside.url) }
    let policy = AddressPolicy(literals: ["127.0.0.1:\(outside.port)"])
    #expect(await outcome(outside.url, policy).code == "url.blocked")
    #expect(inside.requests.isEmpty)
  }

  @Test func `of metadata services need a word of their own`() throws {
    let metadata = try #require(NetworkAddress(parsing: "169.254.169.254"))
    let host = "169.254.169.254"
    #expect(!AddressPolicy(allowsPrivate: true).allows(metadata, host: host, port: 80))
    #expect(!AddressPolicy(literals: ["\(host):80"]).allows(metadata, host: host, port: 80))
    #expect(!AddressPolicy(hosts: ["*"]).allows(metadata, host: host, port: 80))
    #expect(AddressPolicy(hosts: [host]).allows(metadata, host: host, port: 80))
  }

  @Test func `a name that leads inside is not a literal`() throws {
    let inside = try #require(NetworkAddress(parsing: "10.0.0.1"))
    #expect(!AddressPolicy(literals: ["rebind.example:80"]).allows(inside, host: "rebind.example", port: 80))
    #expect(AddressPolicy(hosts: ["*.example"]).allows(inside, host: "rebind.example", port: 80))
    #expect(!AddressPolicy(hosts: ["*.example"]).allows(inside, host: "example", port: 80))
  }

  @Test(arguments: [
    ("8.8.8.8", "global"), ("10.1.2.3", "private"), ("172.31.0.1", "private"), ("172.32.0.1", "global"),
    ("192.168.1.1", "private"), ("127.0.0.2", "loopback"), ("0.0.0.0", "loopback"), ("169.254.1.1", "link-local"),
    ("169.254.169.254", "metadata"), ("100.64.0.1", "carrier-grade"), ("224.0.0.1", "multicast"), ("::1", "loopback"),
    ("fe80::1%eth0", "link-local"), ("fd12::1", "private"), ("fd00:ec2::254", "metadata"), ("2606:4700::1", "global"),
    ("::ffff:10.0.0.1", "private"), ("64:ff9b::7f00:1", "loopback"), ("2002:7f00:1::", "loopback"),
    ("ff02::1", "multicast"), ("255.255.255.255", "reserved"),
  ])
  func `reach as far as their range does`(text: String, reach: String) throws {
    #expect(try #require(NetworkAddress(parsing: text)).reach.rawValue == reach)
  }

  @Test(arguments: [
    "", "1.2.3", "1.2.3.256", "01.2.3.4", "1.2.3.4.5", "+1.2.3.4", "1..2.3", "1.2.3.", ".1.2.3", "1.2.3.4 ", "::1::",
    "1:2:3:4:5:6:7:8:9", "g::1", ":", "1:",
  ])
  func `that are none are not read`(text: String) {
    #expect(NetworkAddress(parsing: text) == nil)
  }
}
