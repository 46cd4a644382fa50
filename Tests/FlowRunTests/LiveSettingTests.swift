import FlowBase
import FlowGraph
import FlowParts
import Testing

@testable import FlowRun

/// What `ctl set` understands.
@Suite struct LiveSettingTests {
  private func parse(_ text: String, _ scope: ControlScope = .run) throws(LiveSetting.Problem) -> LiveSetting {
    let parts = text.split(separator: "=").map(String.init)
    return try LiveSetting.parse(
      ControlRequest.Setting(parts[0], parts[1]), scope: scope, stages: ["fetch", "resize"])
  }

  @Test(arguments: [
    ("connections=4", ControlScope.run, LiveSetting.connections(4)),
    ("limits.connections=auto", .run, .connections(nil)),
    ("bandwidth=2MB/s", .run, .bandwidth(2_000_000)),
    ("limits.bandwidth=none", .run, .bandwidth(nil)),
    ("concurrency=3", .run, .concurrency(stage: nil, 3)),
    ("concurrency=3", .stage("resize"), .concurrency(stage: 1, 3)),
    ("stages.fetch.concurrency=9", .run, .concurrency(stage: 0, 9)),
    ("interval=2s", .stage("fetch"), .interval(stage: 0, .seconds(2))),
    ("rate=2/s", .stage("fetch"), .interval(stage: 0, .milliseconds(500))),
    ("rate=5/s", .run, .host(pattern: "*", .rate(5))),
    ("rate=5/s", .host("example.com"), .host(pattern: "example.com", .rate(5))),
    ("hosts.example.com.connections=auto", .run, .host(pattern: "example.com", .connections(0))),
    ("hosts.127.0.0.1:80.interval=1s", .run, .host(pattern: "127.0.0.1:80", .interval(.seconds(1)))),
  ])
  func `A key and a value are read for the part of the run that they are meant for`(
    text: String, scope: ControlScope, setting: LiveSetting
  ) throws {
    #expect(try parse(text, scope) == setting)
  }

  @Test(arguments: [
    ("connections=0", ControlScope.run), ("connections=many", .run), ("bandwidth=fast", .run), ("retry=3", .run),
    ("output.dir=x", .run), ("concurrency=2", .stage("crop")), ("bandwidth=1MB/s", .stage("fetch")),
    ("connections=2", .item("urls/a")), ("stages.fetch.concurrency=2", .stage("resize")),
  ])
  func `What cannot be set is refused in words`(text: String, scope: ControlScope) {
    #expect(throws: LiveSetting.Problem.self) { try parse(text, scope) }
  }

  @Test func `A line of the table of hosts is changed, and added where it is missing`() {
    var rule = HostTable.Rule(pattern: "example.com")
    rule.rate = 1
    rule.userAgent = "x"
    let table = HostTable(rules: [rule])
    let slower = table.changing("example.com", .interval(.seconds(3)))
    #expect(slower.rules.count == 1)
    #expect(slower.rules[0].userAgent == "x")
    #expect(slower.limits(of: "example.com:443", defaultConnections: 6).spacing == 3_000_000_000)
    let more = table.changing("*", .connections(9))
    #expect(more.limits(of: "other.org:443", defaultConnections: 6).connections == 9)
  }

  @Test func `What is held back is held back by its own name, by its source and by its host`() {
    var pauses = Pauses()
    let start = Instant(nanoseconds: 0)
    let taken = [pauses.pause(.source("a"), at: start), pauses.pause(.source("a"), at: start)]
    #expect(taken == [true, false])
    #expect(pauses.holds(item: "a/1", of: "a") && !pauses.holds(item: "b/1", of: "b"))
    _ = pauses.pause(.host("example.com"), at: start)
    #expect(pauses.holds(host: "example.com:443") && !pauses.holds(host: "example.com.org:443"))
    let later = start + .seconds(2)
    let lengths = [pauses.resume(.source("a"), at: later), pauses.resume(.source("a"), at: later)]
    #expect(lengths == [.seconds(2), nil])
    #expect(pauses.parts == [.host("example.com")])
  }
}
