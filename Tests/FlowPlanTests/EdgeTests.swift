import FlowBase
import FlowManifest
import FlowParts
import FlowPlan
import Testing

@Suite struct EdgeTests {
  private func plan(_ stages: String, _ rest: String = "", _ change: (inout PlanInputs) -> Void = { _ in }) throws
    -> Plan
  {
    let reading = Reading(
      "imgflow: 1\nsources: [https://example.com/a.jpg]\n\(rest)\nstages:\n\(stages)\n", change: change)
    return try #require(reading.plan, "\(reading.text)")
  }

  private func axes(_ plan: Plan, _ id: String) -> [String] {
    plan.nodes.filter { plan.stages[$0.stage].id == id }
      .map { $0.axes.map { "\($0.0)=\($0.1.text)" }.joined(separator: " ") }
  }

  @Test func `Stages come after all that they need or follow, whatever the order in the manifest`() throws {
    let plan = try plan(
      """
        - id: last
          store:
          needs: middle
        - id: first
          fetch:
          needs: []
        - id: middle
          probe:
          needs: first
          after: first
      """)
    #expect(plan.stages.map(\.id) == ["first", "middle", "last"])
    #expect(plan.stages.map(\.needs) == [[], [0], [1]])
    #expect(plan.stages.map(\.after) == [[], [0], []])
  }

  @Test func `Legs are inherited along plain edges and multiplied by a matrix of one's own`() throws {
    let plan = try plan(
      """
        - fetch
        - id: a
          resize: { width: "${matrix.w}" }
          matrix: { w: [1, 2] }
        - id: b
          resize: { quality: "${matrix.q}" }
          matrix: { q: 80..90 step 10 }
        - store: "${item.key}-${matrix.w}-${matrix.q}"
      """)
    #expect(axes(plan, "a") == ["w=1", "w=2"])
    #expect(axes(plan, "b") == ["w=1 q=80", "w=1 q=90", "w=2 q=80", "w=2 q=90"])
    #expect(axes(plan, "store") == axes(plan, "b"))
    #expect(plan.nodes.first { $0.axes["w"] == 2 }?.config.int("width") == 2)
    #expect(plan.warnings == [])
  }

  @Test func `A join meets on shared axes, and what has no axes is given to every leg`() throws {
    let plan = try plan(
      """
        - fetch
        - id: plain
          probe:
        - id: a
          resize: { width: "${matrix.w}" }
          matrix: { w: [1, 2] }
          needs: fetch
        - id: b
          resize: { width: "${matrix.w}", format: "${matrix.f}" }
          matrix: { w: [2, 3], f: [png, webp] }
          needs: fetch
        - store: "${item.key}-${matrix.w}-${matrix.f}"
          needs: [a, b, plain]
      """)
    #expect(axes(plan, "store") == ["w=2 f=png", "w=2 f=webp"])
    let inputs = plan.nodes.filter { plan.stages[$0.stage].id == "store" }
      .map { $0.inputs.map { plan.stages[plan.nodes[$0].stage].id } }
    #expect(inputs == [["a", "b", "plain"], ["a", "b", "plain"]])
  }

  @Test func `Per item takes all legs, per group and run take all nodes`() throws {
    let plan = try plan(
      """
        - fetch
        - resize: { width: "${matrix.w}" }
          matrix: { w: [1, 2, 3] }
        - id: all
          exec: [x]
          per: item
        - report: index.csv
          needs: resize
      """)
    let all = try #require(plan.nodes.first { plan.stages[$0.stage].id == "all" })
    #expect(all.inputs.count == 3 && all.axes.isEmpty)
    #expect(plan.nodes.first { plan.stages[$0.stage].id == "report" }?.inputs.count == 3)
    #expect(plan.stages.first { $0.id == "report" }?.scope == .run)
  }

  @Test func `A plain edge below a group or a run inherits its per`() throws {
    let plan = try plan(
      """
        - fetch
        - montage: { path: "${group}.jpg" }
          per: { group: row.category }
        - exec: [echo, "${group}"]
        - id: all
          report: all.csv
        - id: last
          exec: [echo, "${run.ok}"]
      """)
    let scopes = plan.stages.map(\.scope)
    #expect(scopes[1] == scopes[2])
    #expect(scopes[3] == .run && scopes[4] == .run)
  }

  @Test func `An empty matrix is no leg, and no mistake`() throws {
    let plan = try plan(
      """
        - fetch
        - resize: { width: "${matrix.w}" }
          matrix: { w: [] }
        - store: "${matrix.w}.jpg"
        - report: index.csv
      """)
    #expect(axes(plan, "resize") == [] && axes(plan, "store") == [])
    #expect(plan.nodes.last?.inputs == [])
  }

  @Test func `A list in a variable makes an axis, zip walks side by side, include adds`() throws {
    let plan = try plan(
      """
        - fetch
        - resize: { width: "${matrix.w}", format: "${matrix.f}" }
          matrix: { w: "${vars.sizes}", f: [png, webp], zip: true, include: [{ w: 9, f: jpeg }] }
      """, "vars: { sizes: [1, 2] }")
    #expect(axes(plan, "resize") == ["w=1 f=png", "w=2 f=webp", "w=9 f=jpeg"])
  }

  @Test func `Several legs on one path are warned of, with the axis that is missing`() throws {
    let plan = try plan(
      """
        - fetch
        - resize: { width: "${matrix.w}" }
          matrix: { w: [1, 2] }
        - store: "${item.key}.jpg"
      """)
    #expect(plan.warnings.map(\.code) == ["W0301"])
    #expect(plan.warnings.first?.hint == "put `${matrix.w}` into it")
  }

  @Test func `Many stages that join one another many times are planned at once`() throws {
    var stages = "  - fetch\n"
    for level in 0..<12 {
      let above = level == 0 ? "fetch" : "[a\(level - 1), b\(level - 1)]"
      for side in ["a", "b"] { stages += "  - id: \(side)\(level)\n    probe:\n    needs: \(above)\n" }
    }
    #expect(try plan(stages).nodes.count == 25)
  }
}

@Suite struct InputTests {
  private let text = """
    imgflow: 1
    vars: { n: { type: integer, default: 3 }, tags: { type: list, default: [] } }
    env: [{ name: REGION, default: eu }]
    secrets: { TOKEN: {} }
    output: { dir: "out/${env.REGION}" }
    hosts: { a.example: { auth: { bearer: "${secret.TOKEN}" }, headers: { X-Key: "k ${secret.TOKEN}" } } }
    sources: ["https://a.example/${vars.n}.jpg"]
    stages:
      - fetch:
        concurrency: "${vars.n}"
        timeout: 90s
      - store
    """

  @Test func `Values of the load are put in, typed, and secrets are known for redaction`() throws {
    let reading = Reading(
      text, overlays: Overlays(variables: [.init(path: "n", value: "5"), .init(path: "tags", value: "[a, b]")])
    ) { $0.environment = ["TOKEN": "t0k"] }
    let plan = try #require(reading.plan, "\(reading.text)")
    #expect(plan.stages[0].concurrency == 5)
    #expect(plan.stages[0].timeout == .seconds(90))
    #expect(plan.settings.outputFolder == "/site/out/eu")
    #expect(plan.settings.hosts.rules[0].bearer == "t0k")
    #expect(plan.settings.hosts.rules[0].headers == [Header("X-Key", "k t0k")])
    #expect(plan.secrets == ["t0k"])
    #expect(plan.environment == ["REGION"])
    #expect(plan.sources[0].config.texts("list") == ["https://a.example/5.jpg"])
  }

  @Test func `The command line stands in for the manifest`() throws {
    let reading = Reading(text) { inputs in
      inputs.environment = ["TOKEN": "t"]
      inputs.outputFolder = "/else"
      inputs.stateFolder = "/state"
      inputs.connections = 2
      inputs.take = 9
      inputs.allowsPrivate = true
    }
    let plan = try #require(reading.plan, "\(reading.text)")
    #expect(plan.settings.outputFolder == "/else")
    #expect(plan.state.folder == "/state")
    #expect(plan.settings.connections == 2)
    #expect(plan.take == 9)
    #expect(plan.settings.allowsPrivate)
  }

  @Test func `A secret that nobody reads may be missing`() throws {
    let reading = Reading("imgflow: 1\nsecrets: { TOKEN: {} }\nsources: [https://a.example/b]\nstages: [fetch]\n")
    #expect(reading.text == "")
    #expect(reading.plan?.secrets == [])
  }

  @Test func `An unknown source of --only is told with those that there are`() {
    let reading = Reading("imgflow: 1\nsources: [https://a.example/b]\nstages: [fetch]\n") { $0.onlySources = ["url"] }
    #expect(reading.diagnostics.map(\.hint) == ["did you mean `urls`?"])
  }

  @Test func `Literal addresses with a port are allowed for that port, in every place where addresses stand`() throws {
    let reading = Reading(
      """
      imgflow: 1
      sources:
        - http://127.0.0.1:8001/a.jpg
        - urls: [{ url: "http://localhost:8002/b", mirrors: ["http://[::1]:8003/c"] }]
          id: more
        - template: { url: "http://10.0.0.7:8004/${for.n}", for: { n: 1..3 } }
        - file: { path: list.csv, url: "http://${row.host}:8005/${row.x}" }
      stages: [fetch]
      sinks:
        - webhook: http://192.168.1.5:8006/hook
      """)
    let plan = try #require(reading.plan, "\(reading.text)")
    #expect(
      plan.settings.literalHosts == [
        "127.0.0.1:8001", "localhost:8002", "[::1]:8003", "10.0.0.7:8004", "192.168.1.5:8006",
      ])
  }

  @Test(arguments: [
    ("169.254.169.254: { allow: true }", true), ("169.254.0.0/16: { allow: true }", true),
    ("\"*\": { allow: true }", false), ("10.0.0.0/8: { allow: true }", false), ("\"*\": {}", false),
  ])
  func `A metadata address needs a permission of its own`(hosts: String, isAllowed: Bool) {
    let reading = Reading(
      "imgflow: 1\nhosts: { \(hosts) }\nsources: [\"http://169.254.169.254:80/x\"]\nstages: [fetch]\n"
    ) { $0.allowsPrivate = true }
    #expect((reading.plan != nil) == isAllowed, "\(reading.text)")
    #expect(reading.diagnostics.map(\.code) == (isAllowed ? [] : ["url.blocked"]))
  }

  @Test func `Texts keep what they look like, and what has no type follows the core schema`() throws {
    let reading = Reading(
      """
      imgflow: 1
      vars: { version: { type: string, default: 1.10 }, plain: 1.10, no: NO, hex: 0x1F, time: 12:30:45, yes: true }
      sources: [https://a.example/b]
      stages:
        - set: { v: "${vars.version}", p: "${vars.plain}", n: "${vars.no}", h: "${vars.hex}", t: "${vars.time}", y: "${vars.yes}" }
        - store: { path: 010, mode: 0644 }
      """)
    let plan = try #require(reading.plan, "\(reading.text)")
    #expect(
      plan.nodes[0].config.value("fields") == [
        "v": "1.10", "p": 1.1, "n": "NO", "h": 31, "t": "12:30:45", "y": true,
      ])
    #expect(plan.nodes[1].config.text("path") == "010")
    #expect(plan.nodes[1].config.text("mode") == "0644")
  }
}
