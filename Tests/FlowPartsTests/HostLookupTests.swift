import FlowBase
import FlowParts
import Testing

struct `Host settings` {
  private func rule(_ pattern: String, _ change: (inout HostTable.Rule) -> Void) -> HostTable.Rule {
    var rule = HostTable.Rule(pattern: pattern)
    change(&rule)
    return rule
  }

  @Test(arguments: [
    ("example.com", 80, 1), ("cdn.example.com", 443, 3), ("cdn.example.com", 8080, 4), ("img.cdn.example.com", 443, 2),
    ("a.example.com", 443, 1), ("CDN.Example.COM", 443, 3), ("10.1.2.3", 80, 6), ("10.2.0.1", 80, 5),
    ("10.1.9.9", 80, 7),
    ("[::1]", 80, 8), ("::1", 81, 8), ("example.org", 80, 0), ("notexample.com", 80, 0),
  ])
  func `come from the most specific entry`(host: String, port: Int, connections: Int) {
    let patterns = [
      "*", "*.example.com", "*.cdn.example.com", "cdn.example.com", "cdn.example.com:8080", "10.0.0.0/8", "10.1.0.0/16",
      "10.1.9.9", "::1",
    ]
    var rules = patterns.enumerated().map { place, pattern in rule(pattern) { $0.connections = place } }
    rules.append(rule("example.com") { $0.connections = 1 })
    // The manifest's order says nothing.
    for table in [HostTable(rules: rules), HostTable(rules: rules.reversed())] {
      #expect(HostSettings.resolve(table, host: host, port: port).connections == connections)
    }
  }

  @Test func `are put together key by key, auth and tls each as one`() {
    let table = HostTable(rules: [
      rule("*") {
        $0.userAgent = "everybody"
        $0.rate = 20
      },
      rule("*.example.com") {
        $0.basic = "me:secret"
        $0.ca = "ca.pem"
        $0.rate = 5
      },
      rule("a.example.com") {
        $0.bearer = "token"
        $0.certificate = "client.pem"
      },
    ])
    let settings = HostSettings.resolve(table, host: "a.example.com", port: 443)
    #expect(settings.userAgent == "everybody" && settings.rate == 5)
    #expect(settings.bearer == "token" && settings.basic == nil)
    #expect(settings.certificate == "client.pem" && settings.ca == nil)
    let other = HostSettings.resolve(table, host: "b.example.com", port: 443)
    #expect(other.basic == "me:secret" && other.ca == "ca.pem")
  }

  @Test func `of an empty table say nothing`() {
    let settings = HostSettings.resolve(HostTable(), host: "example.com", port: 80)
    #expect(settings == HostTable.Rule(pattern: "example.com:80"))
  }
}
