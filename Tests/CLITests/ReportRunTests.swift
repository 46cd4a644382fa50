import FlowBase
import FlowParts
import FlowTesting
import Testing

/// Reports of whole runs, read by the programs that they are made for.
@Suite struct ReportRunTests {
  private func workplace(_ sinks: String) throws -> Workplace {
    let work = try Workplace(["/gone": [.status(404)], "/gone too": [.status(404)]])
    try work.manifest((0..<5).map { "/small/\($0)" } + ["/gone"], more: "sinks:\n\(sinks)")
    return work
  }

  @Test(.enabled(if: Python.isThere, "`tools/python-checks` has made no Python environment"))
  func `Prometheus' own parser reads the metrics`() async throws {
    let work = try workplace("  - metrics: m.prom")
    _ = try await work.tool.run("run", "m.yaml")
    let read = try await Python.run("verify_metrics.py", input: "m.prom", in: work)
    #expect(read.code == 0, "\(read.errors)")
    let values = try #require(try JSONReader.read(Array(read.output.utf8)).asMap)
    #expect(values["imgflow_items_total{code=,status=ok}"]?.asDouble == 5)
    #expect(values["imgflow_items_total{code=http.404,status=failed}"]?.asDouble == 1)
    #expect(values["imgflow_run_exit_code{}"]?.asDouble == 1)
    #expect(values["imgflow_stage_seconds_bucket{le=+Inf,stage=fetch}"]?.asDouble == 6)
  }

  @Test(.enabled(if: Python.isThere, "`tools/python-checks` has made no Python environment"))
  func `an XML parser reads the test cases`() async throws {
    let work = try workplace("  - junit: r.xml")
    _ = try await work.tool.run("run", "m.yaml")
    let read = try await Python.run("verify_junit.py", input: "r.xml", in: work)
    #expect(read.code == 0, "\(read.errors)")
    #expect(read.output.contains("6 cases, 1 failed, 0 skipped"))
  }

  @Test func `a step of GitHub Actions gets annotations on its log, a summary, and outputs`() async throws {
    var work = try workplace("  - auto: {}")
    work.tool.environment["GITHUB_ACTIONS"] = "true"
    work.tool.environment["GITHUB_STEP_SUMMARY"] = work.place.file("summary.md")
    work.tool.environment["GITHUB_OUTPUT"] = work.place.file("output")
    work.tool.environment["GITHUB_WORKSPACE"] = work.place.path
    let end = try await work.tool.run("run", "m.yaml", "-q")
    expectEnd(end, 1)
    let annotations = end.errors.split(separator: "\n").filter { $0.hasPrefix("::") }
    #expect(annotations.count == 1)
    #expect(annotations.first?.hasPrefix("::error file=m.yaml,line=13,col=5,") == true, "\(annotations)")
    #expect(try work.read("summary.md").contains("| 1 | http.404 |"))
    #expect(try work.read("output").contains("\nfailed=1\n"))
  }

  @Test func `outside of GitHub Actions auto is silent`() async throws {
    let work = try workplace("  - auto: {}")
    let end = try await work.tool.run("run", "m.yaml", "-q")
    #expect(!end.errors.contains("::"))
  }

  @Test func `the page stands beside the files when the run has ended`() async throws {
    let work = try workplace("  - html: out/report.html")
    _ = try await work.tool.run("run", "m.yaml")
    let page = try work.read("out/report.html")
    #expect(page.hasPrefix("<!doctype html>") && page.hasSuffix("</html>\n"))
    #expect(page.contains("<code>http.404</code>"))
  }
}
